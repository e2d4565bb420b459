use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The default α: the maximum probability that any verdict of a table is wrong.
pub const ALPHA: f64 = 0.05;

/// The outcome of comparing a setting with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The setting is better by the primary metric.
    Better,
    /// The setting is worse by the primary metric.
    Worse,
    /// The difference is smaller than what was declared negligible.
    Same,
    /// The runs show none of these.
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
