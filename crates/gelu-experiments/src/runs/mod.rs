//! The runs of the paper's experiments on disk: their specification. Folders, files and leases are those of any
//! comparison.

mod spec;
#[cfg(test)]
mod tests;

pub use spec::RunSpec;

use crate::recipe::Recipe;

/// The content of `comparison.toml`.
pub type Plan = gelu_compare::runs::Plan<Recipe>;
/// The folder of a comparison.
pub type Comparison = gelu_compare::runs::Comparison<Recipe>;
/// A run that this process has claimed.
pub type ClaimedRun = gelu_compare::runs::ClaimedRun<RunSpec>;
