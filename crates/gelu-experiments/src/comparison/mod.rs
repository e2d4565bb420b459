//! Many runs beside each other, of this program's recipes.

mod label;

pub use label::label;

/// Reads a comparison's folder again and again.
pub type ComparisonReader = gelu_compare::comparison::ComparisonReader<crate::recipe::Recipe>;

#[cfg(test)]
mod tests;
