#![forbid(unsafe_code)]
// All output goes through `output`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

//! Train and compare activation functions on the experiments of the GELU paper.

pub mod cli;
pub mod comparison;
pub mod data;
pub mod environment;
pub mod measure;
pub mod randomness;
pub mod recipe;
pub mod report;
pub mod runs;
pub mod training;
pub mod worker;

pub use gelu_compare::{Error, Result};
