//! Many runs beside each other, of this program's recipes.

mod label;

pub use gelu_compare::comparison::{
    ALPHA, Contrast, Difference, DifferenceCurve, Found, FurtherSeeds, Group, Headings, Rgb, Rules,
    Ruling, Verdict, Wording, best_groups, colour, details, difference_curves, differences,
    further_seeds, groups, lighter, looked_at, noisy_test_error, plan, reported_epoch, sentence,
    statistics,
};
pub use label::label;

/// Reads a comparison's folder again and again.
pub type ComparisonReader = gelu_compare::comparison::ComparisonReader<crate::recipe::Recipe>;

#[cfg(test)]
mod tests;
