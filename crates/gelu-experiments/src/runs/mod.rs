//! What a run leaves on disk, and finding it again.
//!
//! A *run* is one network trained once: one activation, learning rate, dropout rate and seed.
//! A *comparison* is a set of runs. This module knows their folders and files; it trains nothing.

mod comparison_folder;
mod files;
mod folder;
mod key;
mod lock;
mod progress;
mod snapshot;
mod spec;
mod status;
mod tables;

pub use comparison_folder::{ComparisonFolder, Plan};
pub use files::write_atomically;
pub use folder::{Checkpoint, RunFolder, StatusFile};
pub use key::{RunKey, Stage};
pub use lock::RunLock;
pub use progress::{Phase, Progress};
pub use snapshot::{ComparisonSnapshot, RunSnapshot};
pub use spec::RunSpec;
pub use status::RunStatus;
