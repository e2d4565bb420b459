use serde::{Deserialize, Serialize};

/// The progress of the current epoch; a hint for observers, never a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The current epoch, from 1.
    pub epoch: usize,
    /// The current phase of the epoch.
    pub phase: Phase,
    /// The number of examples done in this phase.
    pub done: usize,
    /// The number of examples in this phase.
    pub total: usize,
    /// The mean loss of the training batches of this epoch so far.
    pub batch_loss: Option<f64>,
}

impl Progress {
    /// Returns the share of the phase that is done, from 0 to 1.
    pub fn share(&self) -> f64 {
        (self.done as f64 / self.total.max(1) as f64).min(1.0)
    }
}

/// The phases of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Training on the shuffled batches.
    Train,
    /// Measuring the splits with dropout off.
    Evaluate,
}
