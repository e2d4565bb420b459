//! Train and compare activation functions on the experiments of the GELU paper.

pub mod error;

pub use error::{Error, Result};
