//! What a run leaves on disk, and finding it again.
//!
//! A *run* is one network trained once: one activation, learning rate, dropout rate and seed.
//! A *comparison* is a recipe and its runs, in one folder. This module knows the folders and files,
//! and who may write to them; it trains nothing.

mod canonical;
mod checkpoint;
mod claimed_run;
mod comparison_folder;
mod folder;
mod key;
mod lease;
mod outcomes;
mod progress;
mod provenance;
mod snapshot;
mod spec;
mod status;
mod tables;
#[cfg(test)]
mod tests;
mod widening;

pub use checkpoint::Checkpoint;
pub use claimed_run::ClaimedRun;
pub use comparison_folder::{AddedLook, Comparison, ComparisonFolder, LookedAt};
pub use folder::RunFolder;
pub use key::{RunId, RunKey, Stage};
pub use lease::{Holder, Lease, Watch};
pub use outcomes::{outcomes_to_bytes, parse_outcomes};
pub use progress::{Phase, Progress};
pub use provenance::Provenance;
pub use snapshot::{ComparisonSnapshot, RunSnapshot};
pub use spec::RunSpec;
pub use status::{RunStatus, StatusFile};

/// What a worker says while it works on a run.
const LOG: &str = "worker.log";
