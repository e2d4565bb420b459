//! Generated data in the files of real data sets, so that everything except the data is the same.
//!
//! The data of each generator can be learned, but not trivially; example `i` depends only on `i`. Results on them say
//! nothing about the data set whose format they have, and their folder is marked.

pub mod files;
pub mod pictures;
pub mod prose;
pub mod speech;
pub mod tweets;

use crate::{Error, Result};
use gelu_compare::files::{read_text, write_atomically};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::path::Path;

pub use super::mnist::SYNTHETIC_MARK as MARK;

/// The first stream of the test examples, beyond all streams of training examples.
const FIRST_TEST: u64 = 1 << 40;
/// The first stream of the validation examples.
const FIRST_VALIDATION: u64 = 1 << 41;

/// Returns whether a folder is marked as generated.
pub fn is_marked(folder: &Path) -> bool {
    folder.join(MARK).exists()
}

/// Creates a folder and marks it before the first generated file is written. `what` names the set with its sizes. A
/// second set in the folder is an error, because both would be read as one.
///
/// # Errors
///
/// If the folder contains anything but the files of an earlier call with the same `what`, or cannot be written to.
pub fn begin(folder: &Path, what: &str) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    let mut entries = std::fs::read_dir(folder).map_err(Error::io("list", folder))?;
    let own = read_text(&folder.join(MARK))?.is_some_and(|text| text == mark_of(what));
    if !own && entries.next().is_some() {
        return Err(Error::Usage(format!(
            "{} is not empty, and generated files go into a folder of their own: name another one, or remove this \
             one if nothing in it is needed",
            folder.display()
        )));
    }
    mark(folder, what)
}

/// Marks a folder as generated.
///
/// # Errors
///
/// If the folder cannot be written to.
pub fn mark(folder: &Path, what: &str) -> Result<()> {
    write_atomically(&folder.join(MARK), mark_of(what))
}

fn mark_of(what: &str) -> String {
    format!("The files here were generated: `{what}` of this program.\n")
}

/// Returns the generator of example `index` for one kind of data.
pub(super) fn generator(kind: u64, index: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(kind);
    rng.set_stream(index);
    rng
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_go_into_an_empty_folder_or_their_own() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new");
        begin(&folder, "x, 3 and 1").unwrap();
        std::fs::write(folder.join("1"), "generated").unwrap();
        begin(&folder, "x, 3 and 1").unwrap();
        let refused = |folder: &Path| begin(folder, "x, 4 and 1").unwrap_err().to_string();
        assert!(refused(&folder).contains("new is not empty"), "another set lies there");
        let used = parent.path().join("used");
        std::fs::create_dir(&used).unwrap();
        std::fs::write(used.join("thesis.txt"), "mine").unwrap();
        assert!(refused(&used).contains("used is not empty"));
        assert!(!is_marked(&used), "files of somebody's own are not called generated");
    }
}
