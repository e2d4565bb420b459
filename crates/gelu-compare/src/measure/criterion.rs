use super::Looks;
use crate::setting::Setting;

/// What a comparison is decided by, declared before its first run.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// Name of the measure.
    pub primary: String,
    /// The amplitudes that it is a mean over, where it is measured under noise.
    pub amplitudes: Vec<f64>,
    /// δ: a difference of the measure that nobody would care about, in its own unit (errors as
    /// fractions); 0 where nothing is called the same.
    pub negligible: f64,
    /// The arm that every other one is compared with.
    pub baseline: Setting,
    /// m: how many comparisons are planned, which share α. Every arm beside the baseline, at each
    /// combination of what a verdict is made at each of.
    pub comparisons: usize,
    /// When they are looked at.
    pub looks: Looks,
}
