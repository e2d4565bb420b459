#![forbid(unsafe_code)]
// Without programs, some of what they share with verdicts has no caller.
#![cfg_attr(not(feature = "program"), allow(dead_code, unused_imports))]
// All printing goes through `output`, which escapes control characters.
#![deny(clippy::print_stdout, clippy::print_stderr)]

//! Compares settings of programs over several seeds, with verdicts whose error rate is controlled.
//!
//! A run is one measurement of a setting with one seed. Runs with the same seed are pairs ([`comparison::Scores`]). A
//! [`comparison::Rule`] says how many seeds are planned, and how many comparisons share the 5% of tables that may
//! contain a wrong verdict. A [`comparison::Finding`] is the result of applying the rule to the pairs, with its
//! sentence. [`scores`] does all this for a table of scores.

#[cfg(feature = "program")]
pub mod cli;
#[cfg(feature = "program")]
pub mod cluster;
pub mod comparison;
#[cfg(feature = "dashboard")]
pub mod dashboard;
pub mod error;
#[cfg(feature = "export")]
pub mod export;
pub mod extension;
pub mod files;
pub mod host;
pub mod measure;
pub mod names;
pub mod network;
#[cfg(feature = "program")]
pub mod output;
#[cfg(feature = "program")]
pub mod pack;
#[cfg(feature = "program")]
mod pipe;
#[cfg(feature = "program")]
pub mod program;
pub mod report;
pub mod runs;
pub mod scores;
pub mod setting;
#[cfg(feature = "dashboard")]
pub mod signals;
pub mod suggestion;
#[cfg(any(all(test, feature = "program"), feature = "testing"))]
pub mod testing;
#[cfg(feature = "program")]
pub mod worker;

pub use error::{Error, Result};
#[cfg(feature = "program")]
pub use program::{Program, Run};

/// The README's code, compiled with the doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
