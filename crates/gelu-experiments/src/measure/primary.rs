use super::{LossKind, Metric, Split};
use gelu_compare::measure::{Direction, Measure, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The one measure that a comparison is decided by, at the epoch that the recipe reports. Lower is
/// better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Primary {
    /// Fraction of the test examples classified wrongly.
    TestError,
    /// Loss on the test set.
    TestLoss,
    /// Loss on the training set, as the recipe measures it. Says which network is optimised best, as
    /// the paper's Figure 2 does, not which one to use.
    TrainLoss,
    /// Fraction of the test examples classified wrongly under noise from Unif[−a, a]: the mean over
    /// the recipe's amplitudes a above 0. Measured once, on the network that is kept.
    NoisyTestError,
}

impl Primary {
    /// What every epoch measures of it, on which split: of errors under noise, those without.
    pub fn by_epoch(self) -> (Metric, Split) {
        match self {
            Self::TestError | Self::NoisyTestError => (Metric::Error, Split::Test),
            Self::TestLoss => (Metric::Loss, Split::Test),
            Self::TrainLoss => (Metric::Loss, Split::Train),
        }
    }

    /// Whether it is a fraction, which is said in points.
    pub fn is_error(self) -> bool {
        matches!(self, Self::TestError | Self::NoisyTestError)
    }

    /// As what is compared: errors are said in points.
    pub fn measure(self, loss: LossKind) -> Measure {
        Measure {
            name: self.words(loss),
            direction: Direction::Lower,
            unit: if self.is_error() { Unit::points() } else { Unit::own(4) },
            split: Some(self.by_epoch().1),
        }
    }

    /// In sentences: `test error`, `test loss`, `training MSE`, `test error under noise`.
    pub fn words(self, loss: LossKind) -> String {
        match self {
            Self::TestError => "test error".to_owned(),
            Self::TestLoss => format!("test {}", loss.heading()),
            Self::TrainLoss => format!("training {}", loss.heading()),
            Self::NoisyTestError => "test error under noise".to_owned(),
        }
    }
}
