//! A finished comparison in one file, to attach to a paper or to store in a repository: a zip of tables, which any
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
//! The zip contains no trained networks, checkpoints or logs. After unpacking, the folder has the same settings,
//! scores and verdicts.

mod digits;
mod read;
mod tables;
mod write;

pub use digits::Digits;
pub(crate) use read::is_packed;
pub use read::{OpenComparison, open, scores, unpack};
pub use write::{PackedComparison, pack};

use crate::extension::{ExtraFile, extra_files};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An element of `runs.json`: one run.
#[derive(Debug, Serialize, Deserialize)]
struct RunRecord {
    /// The name of the run's folder.
    run: String,
    /// The content of `run.toml`.
    settings: Value,
    /// The content of `status.json`.
    status: Value,
    /// The session numbers, each with the content of `provenance-<session>.json`.
    sessions: Vec<(u32, Value)>,
}

const METRICS: &str = "metrics.csv";
/// The table of scores, one line per run.
const SCORES: &str = "runs.csv";

/// Returns the names of the tables that join the lines of all runs.
fn tables() -> impl Iterator<Item = &'static str> {
    let further = extra_files().filter(|file| file.is_table).map(|file| file.name);
    std::iter::once(METRICS).chain(further)
}

/// Returns the further files that the zip holds for each run separately.
fn files() -> impl Iterator<Item = &'static ExtraFile> {
    extra_files().filter(|file| !file.is_table)
}

#[cfg(test)]
mod tests;
