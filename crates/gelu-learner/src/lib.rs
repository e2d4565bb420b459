#![forbid(unsafe_code)]
// All output goes through gelu-compare's `output`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

//! Which activation, width or optimiser does *your* network want? This crate turns any Burn model and its data into a
//! program that compares settings over seeds, with verdicts, a dashboard, exact resume, workers on a cluster and a
//! report.
//!
//! You write a function that returns the [`Training`] of a [`Run`], and create a [`Program`] from it. The network's
//! output reports the metrics ([`ModelOutput`]); Burn's standard outputs implement it. Afterwards, [`Trained`] loads
//! the network of the best run. [`train_run`] is the training loop underneath, for programs with another kind of run.

#[cfg(test)]
extern crate self as gelu_learner;

pub mod activation;
mod batch_metrics;
mod capture;
mod checkpoint;
mod cohort;
pub mod device;
mod early_stopping;
pub mod environment;
mod epochs;
mod flags;
mod learn;
mod loader;
mod log;
pub mod metrics;
pub mod networks;
mod outputs;
mod probe;
mod program;
pub mod randomness;
mod run;
mod session;
mod silent;
mod split_metrics;
#[cfg(test)]
mod testing;
mod trainable;
mod trained;
mod training;

pub use batch_metrics::{BatchMetrics, ModelOutput};
pub use checkpoint::numbered;
pub use cohort::{Cohort, train_cohort};
pub use early_stopping::EarlyStopping;
pub use epochs::{evaluate, read_bools};
pub use gelu_compare::measure::{Direction, Measure, Unit};
pub use gelu_compare::setting::Setting;
pub use gelu_compare::{Error, Result};
pub use learn::{FinishedRun, RunContext, train_run};
pub use loader::{BatchSource, Loader, Order};
pub use log::log;
pub use networks::Confusion;
pub use program::{BurnTraining, Program};
pub use run::Run;
pub use session::RunOptions;
pub use split_metrics::{SplitMetrics, unreadable};
pub use trainable::Trainable;
pub use trained::{Trained, attached};
pub use training::Training;

/// The code of the README, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
