//! A finished comparison in one file, to attach to a paper or to keep in a repository: a zip of tables, which any
//! program opens.
//!
//! ```text
//! README.txt         what the file is and how to read it
//! comparison.toml    the plan, as in the folder
//! runs.csv           one line per planned run with its scores: the table that `verdict` judges
//! runs.json          one element per run: its folder, its settings, its status, what each session ran on
//! metrics.csv        one line per run and epoch
//! …                  further tables and files of runs, where the program has them
//! ```
//!
//! Trained networks, checkpoints and logs stay behind. Unpacked, the folder has the same settings, scores and verdicts.

mod digits;
mod read;
mod tables;
mod write;

pub use digits::Digits;
pub(crate) use read::is_packed;
pub use read::{Opened, open, scores, unpack};
pub use write::{Packed, pack};

use crate::extension::{ExtraFile, extra_files};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What `runs.json` says of a run.
#[derive(Debug, Serialize, Deserialize)]
struct RunRecord {
    /// The name of its folder.
    run: String,
    /// What `run.toml` holds.
    settings: Value,
    /// What `status.json` holds.
    status: Value,
    /// What `provenance-<session>.json` holds, by the session's number.
    sessions: Vec<(u32, Value)>,
}

const METRICS: &str = "metrics.csv";
/// The table of scores, one line per run.
const SCORES: &str = "runs.csv";

/// Files of which every run has its lines in one table.
fn tables() -> impl Iterator<Item = &'static str> {
    let further = extra_files().filter(|file| file.is_table).map(|file| file.name);
    std::iter::once(METRICS).chain(further)
}

/// The further files that a run has for itself.
fn files() -> impl Iterator<Item = &'static ExtraFile> {
    extra_files().filter(|file| !file.is_table)
}

#[cfg(test)]
mod tests;
