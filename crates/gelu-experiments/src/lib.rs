//! Train and compare activation functions on the experiments of the GELU paper.

pub mod comparison;
pub mod data;
pub mod error;
pub mod randomness;
pub mod recipe;
pub mod runs;
pub mod training;

pub use error::{Error, Result};
