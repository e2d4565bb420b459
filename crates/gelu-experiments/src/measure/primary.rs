use super::{LossKind, Metric};
use gelu_compare::measure::Split;
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
    /// Root mean squared error at the test points where the training points lie, in the formula's standard
    /// deviation.
    TestRmse,
    /// The same at the test points around them, 1 < max |x| ≤ 2. No intervals over new points are kept of it.
    TestOutside,
    /// The share of the variance of a table's numbers that is left unexplained on the test rows: 1 − R². No intervals
    /// over new rows are kept of it.
    TestUnexplained,
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
            Self::TestRmse => (Metric::Rmse, Split::Test),
            Self::TestOutside => (Metric::Outside, Split::Test),
            Self::TestUnexplained => (Metric::Unexplained, Split::Test),
            Self::TrainLoss => (Metric::Loss, Split::Train),
        }
    }

    /// Whether it is a fraction, which is said in points.
    pub fn is_error(self) -> bool {
        matches!(self, Self::TestError | Self::NoisyTestError)
    }

    /// Whether it is measured where a table's numbers are learned.
    pub fn is_of_tables(self) -> bool {
        self == Self::TestUnexplained
    }

    /// Whether it is measured where formulas are learned.
    pub fn is_of_formulas(self) -> bool {
        matches!(self, Self::TestRmse | Self::TestOutside)
    }

    /// As recipes and documents name it: `test-error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TestError => "test-error",
            Self::TestLoss => "test-loss",
            Self::TestRmse => "test-rmse",
            Self::TestOutside => "test-outside",
            Self::TestUnexplained => "test-unexplained",
            Self::TrainLoss => "train-loss",
            Self::NoisyTestError => "noisy-test-error",
        }
    }

    /// As what is compared, where it is none of an epoch's measures.
    pub(crate) fn under_noise(self, loss: LossKind) -> Option<Measure> {
        (self == Self::NoisyTestError).then(|| Measure {
            name: self.name().to_owned(),
            column: "noisy_test_error".to_owned(),
            words: self.words(loss),
            heading: "noisy error".to_owned(),
            quantity: Metric::Error.to_string(),
            split: Some(Split::Test),
            direction: Direction::Lower,
            unit: Unit::points(),
            of_run: true,
        })
    }

    /// In sentences: `test error`, `test loss`, `training MSE`, `test error under noise`.
    pub fn words(self, loss: LossKind) -> String {
        match self {
            Self::TestError => "test error".to_owned(),
            Self::TestLoss => format!("test {}", loss.heading()),
            Self::TestRmse => "test RMSE".to_owned(),
            Self::TestOutside => "test RMSE outside".to_owned(),
            Self::TestUnexplained => "test 1 − R²".to_owned(),
            Self::TrainLoss => format!("training {}", loss.heading()),
            Self::NoisyTestError => "test error under noise".to_owned(),
        }
    }
}
