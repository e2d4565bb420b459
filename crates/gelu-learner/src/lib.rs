#![forbid(unsafe_code)]
// All that is printed goes through gelu-compare's `output`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

//! Which activation, width or optimiser does *your* network want? Any Burn model with its data, as a
//! program that compares settings over seeds: with verdicts, a dashboard, exact resume, workers on a
//! cluster and a report.
//!
//! A [`Program`] is made around a function that says, for a [`Run`], what is trained and how: a
//! [`Training`]. What is measured is what the network's outputs say, [`Measured`]; Burn's standard outputs
//! do. [`learn()`] is the loop beneath, for programs with runs of another kind.

#[cfg(test)]
extern crate self as gelu_learner;

pub mod activation;
mod checkpoint;
pub mod device;
pub mod environment;
mod epochs;
mod flags;
mod learn;
mod loader;
mod measurement;
mod outputs;
mod probe;
mod program;
pub mod randomness;
mod run;
mod schedule;
mod session;
mod silent;
mod tally;
#[cfg(test)]
mod testing;
mod trainable;
mod training;

pub use checkpoint::numbered;
pub use epochs::{Apart, Clock, Measuring, bits, evaluate};
pub use gelu_compare::measure::{Direction, Measure, Unit};
pub use gelu_compare::{Error, Result};
pub use learn::{Class, Learned, Lesson, Shown, ShownMetrics, learn, log};
pub use loader::Order;
pub use measurement::{Measured, Measurement};
pub use program::{Learning, Program};
pub use run::Run;
pub use schedule::{Rates, Schedule};
pub use session::Plan;
pub use tally::{Score, Tally, unreadable};
pub use trainable::Trainable;
pub use training::{Loader, Training};

/// The code of the README, compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
