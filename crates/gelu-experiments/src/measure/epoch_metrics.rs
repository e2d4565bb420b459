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

    /// The first value that no epoch measures, if there is one: losses and learning rates are finite,
    /// since a run ends where they are not, and errors are shares.
    pub(crate) fn impossible(&self) -> Option<(&'static str, f64)> {
        let losses = [
            ("learning_rate", Some(self.learning_rate)),
            ("batch_loss", Some(self.batch_loss)),
            ("train_loss", Some(self.train_loss)),
            ("valid_loss", self.valid_loss),
            ("test_loss", self.test_loss),
        ];
        let errors = [
            ("train_error", self.train_error),
            ("valid_error", self.valid_error),
            ("test_error", self.test_error),
        ];
        let first = |values: &[(&'static str, Option<f64>)], possible: fn(f64) -> bool| {
            let mut measured = values.iter().filter_map(|&(name, value)| Some((name, value?)));
            measured.find(|&(_, value)| !possible(value))
        };
        first(&losses, f64::is_finite).or_else(|| first(&errors, is_share))
    }
}

fn is_share(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
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

impl NoiseMetrics {
    /// The first value that cannot be, if there is one. A loss may be infinite, but is a number.
    pub(crate) fn impossible(&self) -> Option<(&'static str, f64)> {
        let Self { amplitude, test_loss, test_error } = *self;
        match test_error {
            _ if !(amplitude.is_finite() && amplitude >= 0.0) => Some(("amplitude", amplitude)),
            _ if test_loss.is_nan() => Some(("test_loss", test_loss)),
            Some(error) if !is_share(error) => Some(("test_error", error)),
            _ => None,
        }
    }
}
