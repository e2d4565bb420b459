use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// α where no other is asked for: the probability of a wrong verdict that a whole table may have.
pub const ALPHA: f64 = 0.05;

/// What a comparison of a setting with the baseline says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The setting is better by the primary metric.
    Better,
    /// It is worse.
    Worse,
    /// The difference is smaller than what was declared negligible.
    Same,
    /// None of these is shown.
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Undecided => "undecided",
        })
    }
}
