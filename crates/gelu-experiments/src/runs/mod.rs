//! The runs of the paper's experiments on disk: what one is made from. The folders and files, and who may
//! write to them, are those of any comparison.

mod spec;
#[cfg(test)]
mod tests;

pub use spec::RunSpec;

use crate::recipe::Recipe;

/// What `comparison.toml` holds.
pub type Comparison = gelu_compare::runs::Comparison<Recipe>;
/// The folder of a comparison.
pub type ComparisonFolder = gelu_compare::runs::ComparisonFolder<Recipe>;
/// A run that this process holds.
pub type ClaimedRun = gelu_compare::runs::ClaimedRun<RunSpec>;
