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

use crate::files::write_atomically;
use crate::{Error, Result};
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

/// Creates a folder and marks it, before the first generated file lies in it.
///
/// # Errors
///
/// When it already holds data (`holds_data`) and no mark, or cannot be written to.
pub fn begin(folder: &Path, name: &str, holds_data: bool) -> Result<()> {
    if holds_data && !is_marked(folder) {
        return Err(Error::Usage(format!(
            "{} holds real data; generated files go into a folder of their own",
            folder.display()
        )));
    }
    std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    let text = format!("The files here were generated: `{name}` of this program.\n");
    write_atomically(&folder.join(MARK), text)
}

/// The generator of example `index` of a kind of data.
pub(super) fn generator(kind: u64, index: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(kind);
    rng.set_stream(index);
    rng
}
