//! Comparisons of many runs of this program's recipes.

mod label;

pub use label::label;

/// Reads a comparison's folder repeatedly.
pub type ComparisonReader = gelu_compare::comparison::ComparisonReader<crate::recipe::Recipe>;

#[cfg(test)]
mod tests;
