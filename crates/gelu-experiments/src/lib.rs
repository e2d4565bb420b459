//! Train and compare activation functions on the experiments of the GELU paper.

pub mod comparison;
pub mod error;
pub mod runs;

pub use error::{Error, Result};
