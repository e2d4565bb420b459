//! Comparisons without a recipe of gelu-experiments: programs in any language, and your own loops.

mod body;
mod command;
mod contents;
mod dry_run;
mod executable;
mod execution;
mod flags;
mod journal;
mod json;
mod judge;
mod log;
mod loops;
mod main;
mod orphan;
mod output;
mod own;
mod pattern;
mod process;
mod recipe;
mod reported_metrics;
mod reports;
mod run;
mod session;
mod shared;
mod spec;
mod train;
mod transcript;

pub use body::{DeviceNames, ProgramBody, Work, WrapsFunction};
pub(crate) use command::Template;
pub(crate) use contents::Contents;
pub use contents::Files;
pub use executable::note_executable;
pub use judge::Judge;
pub use loops::{Loop, Loops, NoFlags};
pub use main::compare_processes;
pub use own::ProgramOf;
pub(crate) use pattern::Pattern;
pub use process::Processes;
pub use recipe::ProgramRecipe;
pub use run::{BoxError, Epochs, Run};
pub use spec::ProgramSpec;

/// A program around your own training loop; see [`Run`].
pub type Program = ProgramOf<Loop>;

pub(crate) use transcript::has_output;

#[cfg(test)]
pub(crate) use main::command;
#[cfg(test)]
pub(crate) use recipe::example;
