//! Generated data in the files of real data sets, so that everything but the data is the same.
//!
//! Each generator makes something that can be learnt but not at a glance; example `i` is a
//! function of `i` alone. None of it says anything about the data set whose format it has, and a
//! folder that holds it is marked.

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

/// Test examples are drawn from other streams than training examples ever reach.
const FIRST_TEST: u64 = 1 << 40;
/// Validation examples, too.
const FIRST_VALIDATION: u64 = 1 << 41;

/// Whether a folder is marked as holding generated data.
pub fn is_marked(folder: &Path) -> bool {
    folder.join(MARK).exists()
}

/// Creates a folder and marks it, before the first generated file lies in it. `what` says which set it is, sizes
/// and all: two sets in one folder would be read as one.
///
/// # Errors
///
/// When it holds anything but what the same call has written before, or cannot be written to.
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

/// Marks a folder as holding generated data.
///
/// # Errors
///
/// When it cannot be written to.
pub fn mark(folder: &Path, what: &str) -> Result<()> {
    write_atomically(&folder.join(MARK), mark_of(what))
}

fn mark_of(what: &str) -> String {
    format!("The files here were generated: `{what}` of this program.\n")
}

/// The generator of example `index` of a kind of data.
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
