use super::{LossKind, Metric};
use gelu_compare::measure::Split;
use gelu_compare::measure::{Direction, Measure, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The one metric that decides a comparison, at the epoch that the recipe reports. Lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Primary {
    /// Share of wrongly classified test examples.
    TestError,
    /// Loss on the test set.
    TestLoss,
    /// Root mean squared error at the test points in the region of the training points, in the formula's standard
    /// deviation.
    TestRmse,
    /// The same error at the test points around that region, 1 < max |x| ≤ 2. Without intervals over new points.
    TestOutside,
    /// The unexplained share of the variance of a table's numbers on the test rows: 1 − R². Without intervals over
    /// new rows.
    TestUnexplained,
    /// Loss on the training set, as the recipe measures it. Like the paper's Figure 2, it shows which network is
    /// optimised best, not which one to use.
    TrainLoss,
    /// Share of wrongly classified test examples under noise from Unif[−a, a]: the mean over the recipe's amplitudes
    /// a above 0. Measured once, on the saved network.
    NoisyTestError,
}

impl Primary {
    /// Returns the metric of every epoch that corresponds to this one, and its split; for errors under noise, the
    /// error without noise.
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

    /// Returns whether the metric is a fraction, shown in percentage points.
    pub fn is_error(self) -> bool {
        matches!(self, Self::TestError | Self::NoisyTestError)
    }

    /// Returns whether the metric is for learned numbers of a table.
    pub fn is_of_tables(self) -> bool {
        self == Self::TestUnexplained
    }

    /// Returns whether the metric is for learned formulas.
    pub fn is_of_formulas(self) -> bool {
        matches!(self, Self::TestRmse | Self::TestOutside)
    }

    /// Returns the name in recipes and documents: `test-error`.
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

    /// Returns the compared measure if it is not one of an epoch's.
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

    /// Returns the name in sentences: `test error`, `test loss`, `training MSE`, `test error under noise`.
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
