//! Comparisons of many runs of this program's recipes.

mod label;

pub use label::label;

/// Reads a comparison's folder repeatedly.
pub type SnapshotReader = gelu_compare::comparison::SnapshotReader<crate::recipe::Recipe>;

#[cfg(test)]
mod tests;
