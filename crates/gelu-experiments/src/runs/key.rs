use crate::names::number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What tells one run of a comparison from another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunKey {
    /// Canonical name of the activation. A plain string, because results read back from disk may
    /// name an activation that this build does not have (a user's own).
    pub activation: String,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Probability of dropping a hidden unit.
    pub dropout: f64,
    /// Seed of the initial weights, the batch order and the dropout masks.
    pub seed: u64,
    /// What the run is for.
    #[serde(default)]
    pub stage: Stage,
}

/// What a run is for, in a comparison that tunes the learning rate first and then trains anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Both: it is reported, and the learning rate is chosen by it.
    #[default]
    Only,
    /// The learning rate is chosen by it.
    Tuning,
    /// It is reported: trained on the whole training set at the chosen rate.
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

impl RunKey {
    /// The same as a value that can be looked up.
    pub fn id(&self) -> RunId {
        let Self { activation, learning_rate, dropout, seed, stage } = self;
        (activation.clone(), learning_rate.to_bits(), dropout.to_bits(), *seed, *stage)
    }
}

/// A [`RunKey`] with the bits of its numbers.
pub type RunId = (String, u64, u64, u64, Stage);

impl fmt::Display for RunKey {
    /// `gelu lr 0.001 dropout 0.5 seed 1`, a formula by its name alone, and `(tuning)` or `(final)` where there are both.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { activation, learning_rate, dropout, seed, stage } = self;
        let activation = activation.split('=').next().unwrap_or_default();
        let (rate, dropout) = (number(*learning_rate), number(*dropout));
        write!(f, "{activation} lr {rate} dropout {dropout} seed {seed}")?;
        match stage.word() {
            None => Ok(()),
            Some(word) => write!(f, " ({word})"),
        }
    }
}
