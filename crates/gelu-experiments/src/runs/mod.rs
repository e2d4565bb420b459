//! The runs of the paper's experiments on disk: their specification. Folders, files and leases are those of any
//! comparison.

mod spec;
#[cfg(test)]
mod tests;

pub use spec::RunSpec;

use crate::recipe::Recipe;

/// The content of `comparison.toml`.
pub type Comparison = gelu_compare::runs::Comparison<Recipe>;
/// The folder of a comparison.
pub type ComparisonFolder = gelu_compare::runs::ComparisonFolder<Recipe>;
/// A run that this process has claimed.
pub type ClaimedRun = gelu_compare::runs::ClaimedRun<RunSpec>;
