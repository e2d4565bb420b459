#![forbid(unsafe_code)]
// All that is printed goes through `output`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

//! Train and compare activation functions on the experiments of the GELU paper.

pub mod activation;
pub mod cli;
pub mod cluster;
pub mod comparison;
pub mod dashboard;
pub mod data;
pub mod device;
pub mod environment;
pub mod error;
pub mod export;
pub mod files;
mod host;
pub mod measure;
pub mod names;
mod network;
pub mod output;
pub mod randomness;
pub mod recipe;
pub mod report;
pub mod runs;
pub mod scores;
pub mod signals;
pub mod training;
pub mod worker;

pub use error::{Error, Result};
