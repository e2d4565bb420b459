use super::Split;
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is measured of a run, as whoever measures it declares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// In sentences: `test error`, `accuracy`.
    pub name: String,
    /// Which values are better.
    pub direction: Direction,
    /// How its values are said.
    pub unit: Unit,
    /// The part of the data that it is measured on, where it is one.
    pub split: Option<Split>,
}

/// Which values of a measure are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Lower ones: errors, losses.
    Lower,
    /// Higher ones: accuracies.
    Higher,
}

impl Direction {
    /// From a value to a cost, of which lower is better, and back: 1, or −1 where higher is better.
    pub fn sign(self) -> f64 {
        match self {
            Self::Lower => 1.0,
            Self::Higher => -1.0,
        }
    }
}

/// The unit that values are said in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    /// Behind numbers: `points`; may be empty.
    pub name: String,
    /// How many of it make one of the measure's own: 100 for a fraction that is said in points.
    pub factor: f64,
    /// Decimals at least.
    pub decimals: usize,
    /// Decimals of a number without an interval, which says how many tell something.
    pub decimals_alone: usize,
}

impl Unit {
    /// Hundredths, for fractions: `12.70 points`.
    pub fn points() -> Self {
        Self { name: "points".to_owned(), factor: 100.0, decimals: 2, decimals_alone: 2 }
    }

    /// The measure's own, without a name and with so many decimals at least.
    pub fn own(decimals: usize) -> Self {
        Self { name: String::new(), factor: 1.0, decimals, decimals_alone: decimals.max(4) }
    }
}

#[cfg(test)]
impl Measure {
    pub(crate) fn test_error() -> Self {
        Self {
            name: "test error".to_owned(),
            direction: Direction::Lower,
            unit: Unit::points(),
            split: Some(Split::Test),
        }
    }
}
