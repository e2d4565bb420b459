//! A finished comparison in one file, to attach to a paper or to keep in a repository: a zip of tables, which any
//! program opens.
//!
//! ```text
//! README.txt         what the file is and how to read it
//! comparison.toml    the plan, as in the folder
//! runs.csv           one line per planned run with its scores: the table that `verdict` judges
//! runs.json          one element per run: its folder, its settings, its status, what each session ran on
//! metrics.csv        one line per run and epoch
//! noise.csv          one line per run and amplitude of noise, if any run has measured that
//! runs/<run>/outcomes.bin  what a run made of the test examples, as in the folder
//! runs/<run>/confusion.csv which classes a run took for which, as in the folder
//! ```
//!
//! Trained networks, checkpoints and logs stay behind. Unpacked, the folder has the same settings, scores and verdicts.

mod digits;
mod read;
mod tables;
mod write;

pub use digits::Digits;
pub use read::{Opened, open, restored, scores, unpack};
pub(crate) use read::is_packed;
pub use write::{Packed, pack};

use crate::measure::Confusion;
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

/// The files that a run has for itself: what it made of the test examples, and which classes it took for which.
const FILES: [&str; 2] = [OUTCOMES, Confusion::FILE];
const OUTCOMES: &str = "outcomes.bin";

/// Files of which every run has its lines in one table.
const TABLES: [&str; 2] = [METRICS, "noise.csv"];
const METRICS: &str = "metrics.csv";

#[cfg(test)]
mod tests;
