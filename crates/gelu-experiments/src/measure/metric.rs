use gelu_compare::measure::{Direction, Measure, Split, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of the loss in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// −ln of the probability that the network gives to the right class, in nats.
    #[default]
    LogLoss,
    /// The mean squared difference between outputs and targets.
    SquaredError,
    /// The mean over points of the squared difference from a formula's value, in units of the formula's variance.
    ScaledSquaredError,
    /// The mean over rows of the squared difference from a table's numbers, in units of the training rows' variance.
    UnexplainedVariance,
}

impl LossKind {
    /// Returns the name in headings: `loss` or `MSE`.
    pub fn heading(self) -> &'static str {
        match self {
            Self::LogLoss => "loss",
            Self::SquaredError | Self::ScaledSquaredError | Self::UnexplainedVariance => "MSE",
        }
    }
}

/// A quantity measured once per epoch; lower is better for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Log loss or mean squared error.
    Loss,
    /// Share of wrongly classified examples.
    Error,
    /// Root mean squared error of a formula's value, in the formula's standard deviation: the root of the loss.
    Rmse,
    /// The same error, only on test points with 1 < max |x| ≤ 2.
    Outside,
    /// The unexplained share of the variance of a table's numbers: 1 − R².
    Unexplained,
}

impl Metric {
    /// Returns the metrics of a split, in the order in which they are shown.
    pub fn of(loss: LossKind, split: Split) -> &'static [Self] {
        match (loss, split) {
            (LossKind::ScaledSquaredError, Split::Test) => &[Self::Loss, Self::Rmse, Self::Outside],
            (LossKind::ScaledSquaredError, _) => &[Self::Loss, Self::Rmse],
            (LossKind::UnexplainedVariance, _) => &[Self::Loss, Self::Unexplained],
            (LossKind::LogLoss | LossKind::SquaredError, _) => &[Self::Loss, Self::Error],
        }
    }
}

impl Metric {
    /// Returns this metric on a split as a measure of every epoch; errors are in percentage points.
    pub fn on(self, split: Split, loss: LossKind) -> Measure {
        let (heading, unit) = match self {
            // Squares of errors with four digits.
            Self::Loss if loss == LossKind::ScaledSquaredError => (loss.heading(), Unit::own(6)),
            Self::Loss => (loss.heading(), Unit::own(4)),
            Self::Error => ("error", Unit::points()),
            Self::Rmse => ("RMSE", Unit::own(4)),
            Self::Outside => ("RMSE outside", Unit::own(4)),
            Self::Unexplained => ("1 − R²", Unit::points()),
        };
        let words = match split {
            Split::Train => format!("training {heading}"),
            _ => format!("{split} {heading}"),
        };
        Measure {
            name: format!("{split}-{self}"),
            column: format!("{split}_{self}"),
            words,
            heading: format!("{split} {heading}"),
            quantity: self.to_string(),
            split: Some(split),
            direction: Direction::Lower,
            unit,
            of_run: false,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loss => "loss",
            Self::Error => "error",
            Self::Rmse => "rmse",
            Self::Outside => "outside",
            Self::Unexplained => "unexplained",
        })
    }
}
