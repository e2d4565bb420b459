use crate::setting::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What tells one run of a comparison from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// A value for each axis. Results read back from disk may have values that this build does not know.
    pub setting: Setting,
    /// Its seed.
    pub seed: u64,
    /// What the run is for.
    #[serde(default)]
    pub stage: Stage,
}

/// What a run is for, in a comparison that tunes first and then trains anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Both: it is reported, and what is tuned is chosen by it.
    #[default]
    Only,
    /// What is tuned is chosen by it.
    Tuning,
    /// It is reported: trained on all training examples with what was chosen.
    Final,
}

impl Stage {
    /// What it is called beside the other; `None` where there is one stage alone.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Only => None,
            Self::Tuning => Some("tuning"),
            Self::Final => Some("final"),
        }
    }

    /// Whether there is nothing to say about it.
    pub fn is_only(&self) -> bool {
        *self == Self::Only
    }
}

impl fmt::Display for RunKey {
    /// `gelu lr 0.001 dropout 0.5 seed 1`, and `(tuning)` or `(final)` where there are both.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.setting.is_empty() { "" } else { " " };
        write!(f, "{}{space}seed {}", self.setting, self.seed)?;
        match self.stage.word() {
            None => Ok(()),
            Some(word) => write!(f, " ({word})"),
        }
    }
}
