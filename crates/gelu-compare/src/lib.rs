#![forbid(unsafe_code)]
// All printing goes through `output`, which escapes control characters.
#![deny(clippy::print_stdout, clippy::print_stderr)]

//! Compares settings of programs over several seeds, with verdicts whose error rate is controlled.
//!
//! A run is one measurement of a setting with one seed. Runs with the same seed are pairs ([`comparison::Scores`]). A
//! [`comparison::Rule`] says how many seeds are planned, and how many comparisons share the 5% of tables that may
//! contain a wrong verdict. A [`comparison::Finding`] is the result of applying the rule to the pairs, with its
//! sentence. [`scores`] does all this for a table of scores.

pub mod cli;
pub mod cluster;
pub mod comparison;
pub mod dashboard;
pub mod error;
pub mod export;
pub mod extension;
pub mod files;
pub mod host;
pub mod measure;
pub mod names;
pub mod network;
pub mod output;
pub mod pack;
mod pipe;
pub mod program;
pub mod report;
pub mod runs;
pub mod scores;
pub mod setting;
pub mod signals;
pub mod suggestion;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod worker;

pub use error::{Error, Result};
pub use program::{Program, Run};

/// The README's code, compiled with the doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
