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
    /// Whether seeds are added until the verdicts are in, and how many at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_decided: Option<UntilDecided>,
}

/// How long a comparison that goes on until it is decided may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilDecided {
    /// Seeds at most: 8 or more.
    pub max_seeds: u64,
}

impl UntilDecided {
    /// When it is looked at.
    pub fn looks(self) -> Looks {
        Looks::up_to(self.max_seeds)
    }
}

impl Default for UntilDecided {
    /// 20 seeds, four looks.
    fn default() -> Self {
        Self { max_seeds: 20 }
    }
}
