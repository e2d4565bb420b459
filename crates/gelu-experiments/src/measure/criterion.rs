use super::{Looks, Primary};
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

/// How long a comparison that goes on until it is decided may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilDecided {
    /// Seeds at most: 10 or more.
    pub max_seeds: u64,
}

impl UntilDecided {
    /// When it is looked at.
    pub fn looks(self) -> Looks {
        Looks::until_decided(self.max_seeds)
    }
}

impl Default for UntilDecided {
    /// 20 seeds, three looks.
    fn default() -> Self {
        Self { max_seeds: 20 }
    }
}
