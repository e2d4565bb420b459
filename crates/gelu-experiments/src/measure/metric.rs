use super::{Direction, Measure, Split, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the loss of a comparison is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl Metric {
    /// As what is measured of every epoch on a part of the data; errors are said in points.
    pub fn on(self, split: Split, loss: LossKind) -> Measure {
        let (heading, unit) = match self {
            Self::Loss => (loss.heading(), Unit::own(4)),
            Self::Error => ("error", Unit::points()),
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
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loss => "loss",
            Self::Error => "error",
        })
    }
}
