use serde::{Deserialize, Serialize};

/// How far the epoch under way has come; a hint for whoever watches, never a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The epoch under way, from 1.
    pub epoch: usize,
    /// What it is doing.
    pub phase: Phase,
    /// Examples done in this phase.
    pub done: usize,
    /// Examples in this phase.
    pub total: usize,
    /// Mean loss of the training batches of this epoch so far.
    pub batch_loss: Option<f64>,
}

impl Progress {
    /// The share of the phase that is done, 0 to 1.
    pub fn share(&self) -> f64 {
        (self.done as f64 / self.total.max(1) as f64).min(1.0)
    }
}

/// The parts of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Training on the shuffled batches.
    Train,
    /// Measuring the splits with dropout off.
    Evaluate,
}
