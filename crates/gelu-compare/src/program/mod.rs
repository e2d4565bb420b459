//! What is compared where no recipe of gelu-experiments is: programs in any language, and loops of one's
//! own.

mod command;
mod flags;
mod judge;
mod loops;
mod main;
mod orphan;
mod output;
mod own;
mod pattern;
mod process;
mod run;
mod shared;
mod study;
mod study_run;

pub use command::Template;
pub use judge::Judge;
pub use main::compare_processes;
pub use own::Program;
pub use pattern::Pattern;
pub use process::Processes;
pub use run::{Epochs, Run};
pub use study::Study;
pub use study_run::StudyRun;

/// What anything may go wrong with in a user's own code.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[cfg(test)]
pub(crate) use main::command;
#[cfg(test)]
pub(crate) use study::example;
