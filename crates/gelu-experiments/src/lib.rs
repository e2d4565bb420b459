#![forbid(unsafe_code)]

//! Train and compare activation functions on the experiments of the GELU paper.

pub mod cli;
pub mod comparison;
pub mod dashboard;
pub mod data;
pub mod device;
pub mod error;
pub mod measure;
pub mod randomness;
pub mod recipe;
pub mod report;
pub mod runs;
pub mod training;

pub use error::{Error, Result};
