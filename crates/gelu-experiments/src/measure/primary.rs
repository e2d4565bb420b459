use super::{LossKind, Metric, Split};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The one measure that a comparison is decided by, on the test set, at the epoch that the recipe
/// reports. Lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Primary {
    /// Fraction of the test examples classified wrongly.
    TestError,
    /// Loss on the test set.
    TestLoss,
}

impl Primary {
    /// The metric and the split it looks at.
    pub fn measure(self) -> (Metric, Split) {
        match self {
            Self::TestError => (Metric::Error, Split::Test),
            Self::TestLoss => (Metric::Loss, Split::Test),
        }
    }

    /// In sentences: `test error`, `test loss`, `test MSE`.
    pub fn words(self, loss: LossKind) -> String {
        match self {
            Self::TestError => "test error".to_owned(),
            Self::TestLoss => format!("test {}", loss.heading()),
        }
    }
}
