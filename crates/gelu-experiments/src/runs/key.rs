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
}

impl fmt::Display for RunKey {
    /// `gelu lr 0.001 dropout 0.5 seed 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { activation, learning_rate, dropout, seed } = self;
        write!(f, "{activation} lr {learning_rate} dropout {dropout} seed {seed}")
    }
}
