//! Many runs beside each other: what is wanted, what is there, and summing it up.

mod label;
mod palette;
pub mod plan;
mod reader;
pub mod statistics;
mod summary;

pub use label::label;
pub use palette::{Rgb, colour, lighter};
pub use reader::ComparisonReader;
pub use summary::{Group, best_groups, groups};
