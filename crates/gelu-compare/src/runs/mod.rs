//! The files and folders of runs and comparisons.
//!
//! A *run* is one training: one [setting](crate::setting::Setting) and seed. A *plan* says which runs are wanted: a
//! [recipe](Recipe), with its data, its backend and its seeds. A *comparison* is a folder with a plan and its runs. A
//! *snapshot* is what such a folder says at one moment. This module reads and writes the folders and files, and decides
//! which process may write to them; it trains nothing.

mod canonical;
mod checkpoint;
mod claimed_run;
mod comparison;
mod data_source;
mod description;
mod design;
mod environment;
mod folder;
mod foreign;
mod key;
mod lease;
mod plan;
mod progress;
mod progress_sink;
mod provenance;
mod recipe;
mod snapshot;
mod spec;
mod status;
mod tables;
mod widened;
mod widening;

pub use checkpoint::Checkpoint;
pub use claimed_run::ClaimedRun;
#[cfg(test)]
pub(crate) use claimed_run::examples;
pub(crate) use comparison::comparisons_in;
pub use comparison::{Comparison, HasBegun};
pub use data_source::DataSource;
pub use description::Description;
pub use design::{Design, FigureSpec, Panels};
pub use environment::Environment;
pub use folder::RunFolder;
pub(crate) use folder::is_whole;
pub use foreign::Foreign;
pub use key::{RunKey, Stage};
pub use lease::Watch;
pub(crate) use lease::{Claim, Durable};
pub(crate) use lease::{Holder, Lease};
pub(crate) use plan::LONGEST_LEASE;
pub use plan::{AddedSeeds, LaterMeasure, Plan};
pub use progress::{Phase, Progress};
pub use progress_sink::ProgressSink;
pub use provenance::Provenance;
pub(crate) use provenance::{record_name, records};
pub use recipe::{DataAndBackend, Recipe};
pub use snapshot::{Quantity, RunSnapshot, Snapshot};
pub use spec::Spec;
pub use status::RunStatus;
pub(crate) use status::StatusFile;
pub(crate) use tables::columns;

#[cfg(test)]
mod tests;
