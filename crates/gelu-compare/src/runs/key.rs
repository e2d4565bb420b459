use crate::setting::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The identity of a run within a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// A value for each axis. Results on disk may contain values that this build does not know.
    pub setting: Setting,
    /// The seed.
    pub seed: u64,
    /// The purpose of the run.
    #[serde(default)]
    pub stage: Stage,
}

/// The purpose of a run, in a comparison that tunes first and then trains anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Both: the run is reported, and it helps to choose the tuned values.
    #[default]
    Only,
    /// The run only helps to choose the tuned values.
    Tuning,
    /// The run is reported. It is trained on all training examples with the chosen values.
    Final,
}

impl Stage {
    /// Returns the stage's name, or `None` if the comparison has only one stage.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Only => None,
            Self::Tuning => Some("tuning"),
            Self::Final => Some("final"),
        }
    }

    /// Returns whether the comparison has only one stage.
    pub fn is_only(&self) -> bool {
        *self == Self::Only
    }
}

impl fmt::Display for RunKey {
    /// Writes `gelu lr 0.001 dropout 0.5 seed 1`, with `(tuning)` or `(final)` if there are both stages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.setting.is_empty() { "" } else { " " };
        write!(f, "{}{space}seed {}", self.setting, self.seed)?;
        match self.stage.word() {
            None => Ok(()),
            Some(word) => write!(f, " ({word})"),
        }
    }
}
