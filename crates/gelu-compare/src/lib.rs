#![forbid(unsafe_code)]
// All that is printed goes through `output`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

//! Which setting is better, from results over seeds: verdicts whose errors are controlled.

pub mod cli;
pub mod comparison;
pub mod error;
pub mod files;
pub mod host;
pub mod measure;
pub mod names;
pub mod network;
pub mod output;
pub mod report;
pub mod scores;
pub mod signals;

pub use error::{Error, Result};
