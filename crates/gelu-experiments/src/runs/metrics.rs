use serde::{Deserialize, Serialize};
use std::fmt;

/// What one finished epoch measured.
///
/// Losses are means over the examples of a split (log loss in nats for classifiers, mean squared
/// error for autoencoders); errors are the fraction of examples classified wrongly. `None` where
/// the recipe has no such split or measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseMetrics {
    /// a.
    pub amplitude: f64,
    /// Mean loss.
    pub test_loss: f64,
    /// Fraction classified wrongly; `None` where nothing is classified.
    pub test_error: Option<f64>,
}

/// What the loss of a comparison is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// −ln of the probability given to the right class, in nats.
    #[default]
    LogLoss,
    /// The mean over inputs of the squared difference from what they should be.
    SquaredError,
}

impl LossKind {
    /// In headings: `loss` or `MSE`.
    pub fn heading(self) -> &'static str {
        match self {
            Self::LogLoss => "loss",
            Self::SquaredError => "MSE",
        }
    }
}

/// A quantity measured once an epoch; lower is better for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Log loss or mean squared error.
    Loss,
    /// Fraction of examples classified wrongly.
    Error,
}

impl Metric {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 2] = [Self::Loss, Self::Error];
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loss => "loss",
            Self::Error => "error",
        })
    }
}

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// What the network is trained on.
    Train,
    /// What settings are chosen on.
    Valid,
    /// What is reported and never chosen on.
    Test,
}

impl Split {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Train, Self::Valid, Self::Test];
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
        })
    }
}
