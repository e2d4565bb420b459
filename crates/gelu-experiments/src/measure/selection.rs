use super::{EpochMetrics, Metric, Split};
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What "best" means when a setting is chosen: the lowest value of this, taken over epochs. Never
/// the test split.
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
    /// The metric and the split it looks at.
    pub fn measure(self) -> (Metric, Split) {
        match self {
            Self::ValidLoss => (Metric::Loss, Split::Valid),
            Self::ValidError => (Metric::Error, Split::Valid),
            Self::TrainLoss => (Metric::Loss, Split::Train),
        }
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

/// Which epoch of a run its results are those of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reported {
    /// The last.
    #[default]
    LastEpoch,
    /// The best by the selection: early stopping.
    BestEpoch,
}

impl Reported {
    /// Which epoch that is, behind `the`: `last epoch`, `epoch that was best by valid-error`.
    pub fn words(self, selection: Selection) -> String {
        match self {
            Self::LastEpoch => "last epoch".to_owned(),
            Self::BestEpoch => format!("epoch that was best by {selection}"),
        }
    }

    /// Of a run's finished epochs, that which its results are those of: the last, or the first
    /// that was best by `selection`. `None` before there is any.
    pub fn epoch_of(self, selection: Selection, epochs: &[EpochMetrics]) -> Option<&EpochMetrics> {
        let (metric, split) = selection.measure();
        match self {
            Self::LastEpoch => epochs.last(),
            Self::BestEpoch => {
                let scored = epochs.iter().filter_map(|e| Some((e.get(metric, split)?, e)));
                scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, epoch)| epoch)
            }
        }
    }
}
