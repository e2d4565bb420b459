use super::{LossKind, Metric};
use clap::ValueEnum;
use gelu_compare::measure::{Measure, Split};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The metric that chooses a setting: its lowest value over epochs is the best. Never on the test split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// Lowest validation loss.
    ValidLoss,
    /// Lowest validation error.
    ValidError,
    /// Lowest training loss, for recipes without a validation split.
    TrainLoss,
}

impl Selection {
    /// Returns the metric and its split.
    pub fn measure(self) -> (Metric, Split) {
        match self {
            Self::ValidLoss => (Metric::Loss, Split::Valid),
            Self::ValidError => (Metric::Error, Split::Valid),
            Self::TrainLoss => (Metric::Loss, Split::Train),
        }
    }
}

impl Selection {
    /// Returns the measure of every epoch that chooses.
    pub fn by(self, loss: LossKind) -> Measure {
        let (metric, split) = self.measure();
        metric.on(split, loss)
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ValidLoss => "valid-loss",
            Self::ValidError => "valid-error",
            Self::TrainLoss => "train-loss",
        })
    }
}
