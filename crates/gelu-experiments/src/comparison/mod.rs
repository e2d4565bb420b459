//! Many runs beside each other, of this program's recipes.

mod label;

pub use gelu_compare::comparison::{
    ALPHA, Difference, DifferenceCurve, Finding, FurtherSeeds, Group, Headings, Rgb, Rule, Scores,
    Verdict, Wording, best_groups, colour, difference_curves, differences, further_seeds, groups,
    has_begun, lighter, noisy_test_error, plan, reported_epoch, statistics,
};
pub use label::label;

/// Reads a comparison's folder again and again.
pub type ComparisonReader = gelu_compare::comparison::ComparisonReader<crate::recipe::Recipe>;

#[cfg(test)]
mod tests;
