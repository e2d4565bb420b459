use super::{Metric, Split};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one finished epoch measured.
///
/// Losses are means over the examples of a split (log loss in nats for classifiers, mean squared
/// error for autoencoders); errors are the fraction of examples classified wrongly. `None` where
/// the recipe has no such split or measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EpochMetrics {
    /// From 1.
    pub epoch: usize,
    /// Learning rate of the epoch's last step.
    pub learning_rate: f64,
    /// Mean loss of the epoch's training batches as they were trained on (dropout on).
    pub batch_loss: f64,
    /// Loss on the training set: measured after the epoch with dropout off, or the same as
    /// `batch_loss` where the recipe says so.
    pub train_loss: f64,
    /// Error on the training set, measured like `train_loss`.
    pub train_error: Option<f64>,
    /// Loss on the validation set.
    pub valid_loss: Option<f64>,
    /// Error on the validation set.
    pub valid_error: Option<f64>,
    /// Loss on the test set.
    pub test_loss: Option<f64>,
    /// Error on the test set.
    pub test_error: Option<f64>,
}

impl EpochMetrics {
    /// The value of `metric` on `split`, where it was measured.
    pub fn get(&self, metric: Metric, split: Split) -> Option<f64> {
        match (metric, split) {
            (Metric::Loss, Split::Train) => Some(self.train_loss),
            (Metric::Loss, Split::Valid) => self.valid_loss,
            (Metric::Loss, Split::Test) => self.test_loss,
            (Metric::Error, Split::Train) => self.train_error,
            (Metric::Error, Split::Valid) => self.valid_error,
            (Metric::Error, Split::Test) => self.test_error,
        }
    }
}

/// What a trained network achieves on the test set under noise from Unif[−a, a].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseMetrics {
    /// a.
    pub amplitude: f64,
    /// Mean loss.
    pub test_loss: f64,
    /// Fraction classified wrongly; `None` where nothing is classified.
    pub test_error: Option<f64>,
}
