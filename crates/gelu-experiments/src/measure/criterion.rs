use super::{Looks, Primary};
use gelu_compare::comparison::Rules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison is decided by, declared before its first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// The measure.
    pub primary: Primary,
    /// The amplitudes that it is a mean over, where it is measured under noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amplitudes: Vec<f64>,
    /// δ: a difference of the measure that nobody would care about, in its own unit (errors as
    /// fractions).
    pub negligible: f64,
    /// Canonical name of the activation that every other one is compared with.
    pub baseline: String,
    /// m: how many comparisons are planned, which share α. Every activation beside the baseline, at
    /// every dropout rate.
    pub comparisons: usize,
    /// When they are looked at.
    pub looks: Looks,
}

impl Criterion {
    /// What every comparison is held against.
    pub fn rules(&self) -> Rules {
        Rules {
            comparisons: self.comparisons,
            looks: self.looks.clone(),
            negligible: self.negligible,
        }
    }
}
