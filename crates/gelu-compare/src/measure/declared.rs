use super::Split;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measure of runs, as a program declares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// The name in criteria: `test-error`.
    pub name: String,
    /// The column in files: `test_error`.
    pub column: String,
    /// The name in sentences: `test error`, `accuracy`.
    pub words: String,
    /// The heading in tables: `test MSE`.
    pub heading: String,
    /// The quantity, independent of the data it is measured on: `error`.
    pub quantity: String,
    /// The part of the data that the measure is taken on, if it is one part.
    pub split: Option<Split>,
    /// The direction of better values.
    pub direction: Direction,
    /// The unit in which values are shown.
    pub unit: Unit,
    /// Whether the measure has one value per run, provided by an [extension](crate::extension::Extension::value),
    /// instead of one per epoch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_run: bool,
}

/// The direction in which a measure gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Lower values, as for errors and losses.
    Lower,
    /// Higher values, as for accuracies.
    Higher,
}

impl Direction {
    /// Returns the factor that converts a value to a cost, of which lower is better, and back: 1, or −1 if higher is
    /// better.
    pub fn sign(self) -> f64 {
        match self {
            Self::Lower => 1.0,
            Self::Higher => -1.0,
        }
    }

    /// Returns the value of a diverged run: the worst one.
    pub fn worst(self) -> f64 {
        self.sign() * f64::INFINITY
    }
}

/// The unit in which values are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    /// The text after numbers: `points`; may be empty.
    pub name: String,
    /// The text after a value without context: ` %`; may be empty.
    pub sign: String,
    /// The number of these units in one of the measure's own: 100 for a fraction that is shown in points.
    pub factor: f64,
    /// The smallest number of decimals; 0 for as many as a number needs.
    pub decimals: usize,
    /// The number of decimals for a number without an interval, because only an interval shows how many decimals are
    /// meaningful.
    pub decimals_alone: usize,
}

impl Unit {
    /// Returns the unit of hundredths, for fractions: `12.70 points`.
    pub fn points() -> Self {
        Self {
            name: "points".to_owned(),
            sign: " %".to_owned(),
            factor: 100.0,
            decimals: 2,
            decimals_alone: 2,
        }
    }

    /// Returns a unit by its name, which follows numbers unchanged: `0.0412 s`. The names `%` and `points` give the
    /// [`points`](Self::points) of a fraction.
    pub fn named(name: &str) -> Self {
        match name {
            "%" | "points" => Self::points(),
            _ => Self { name: name.to_owned(), sign: format!(" {name}"), ..Self::own(0) },
        }
    }

    /// Returns the measure's own unit, without a name and with at least this number of decimals.
    pub fn own(decimals: usize) -> Self {
        Self {
            name: String::new(),
            sign: String::new(),
            factor: 1.0,
            decimals,
            decimals_alone: decimals.max(4),
        }
    }

    /// Formats a value in this unit, without its sign: `1.53` for 0.0153 in points.
    pub fn number(&self, value: f64) -> String {
        let value = value * self.factor;
        match self.decimals {
            _ if !value.is_finite() => "∞".to_owned(),
            // The value has run away, but not as far as infinity.
            _ if self.sign.is_empty() && value.abs() >= 1e4 => format!("{value:.2e}"),
            0 => significant(value),
            // Values without a sign may be of any size.
            decimals
                if self.sign.is_empty()
                    && value != 0.0
                    && value.abs() < 0.5 * 0.1f64.powi(decimals as i32) =>
            {
                significant(value)
            }
            decimals => format!("{value:.decimals$}"),
        }
    }

    /// Formats a value with its sign: `1.53 %`, `0.0412`.
    pub fn shown(&self, value: f64) -> String {
        match value.is_finite() {
            true => format!("{}{}", self.number(value), self.sign),
            false => "∞".to_owned(),
        }
    }
}

/// Formats a number with four significant digits.
fn significant(value: f64) -> String {
    let places = 3.0 - value.abs().log10().floor();
    match places {
        tiny if tiny.is_finite() && tiny > 9.0 => format!("{value:.3e}"),
        places if places.is_finite() => format!("{value:.*}", places.max(0.0) as usize),
        _ => format!("{value:.0}"),
    }
}

impl Measure {
    /// Creates a measure from its name alone. Lower values are better. A name that begins with a part of the data,
    /// such as `test_error`, is measured on that part.
    pub fn named(name: &str) -> Self {
        let (split, quantity) = Split::of_name(name);
        Self {
            name: name.to_owned(),
            column: name.to_owned(),
            words: name.to_owned(),
            heading: name.replace('_', " "),
            quantity: quantity.to_owned(),
            split,
            direction: Direction::Lower,
            unit: Unit::own(0),
            of_run: false,
        }
    }

    /// Returns the measure with `direction` as the better one.
    #[must_use]
    pub fn towards(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// Returns the measure with higher values as the better ones.
    #[must_use]
    pub fn higher(self) -> Self {
        self.towards(Direction::Higher)
    }

    /// Returns the measure with the unit `unit`.
    #[must_use]
    pub fn in_unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// Returns the measure in points, for fractions.
    #[must_use]
    pub fn points(self) -> Self {
        self.in_unit(Unit::points())
    }

    /// Returns the measure on a part of the data: `test_error` from `error`.
    #[must_use]
    pub fn on(&self, split: Split) -> Self {
        let column = format!("{split}_{}", self.quantity);
        let words = column.replace('_', " ");
        Self {
            name: column.clone(),
            heading: words.clone(),
            words,
            column,
            split: Some(split),
            ..self.clone()
        }
    }

    /// Returns a value as a cost, of which lower is better.
    pub fn cost(&self, value: f64) -> f64 {
        value * self.direction.sign()
    }
}

#[cfg(test)]
impl Measure {
    pub(crate) fn test_error() -> Self {
        let unit = Unit::points();
        Self { words: "test error".to_owned(), unit, ..Self::named("test_error") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_on_which_part_of_the_data_it_is_measured() {
        let of = |name: &str| {
            let measure = Measure::named(name);
            (measure.split, measure.quantity)
        };
        assert_eq!(of("test_error"), (Some(Split::Test), "error".to_owned()));
        assert_eq!(of("valid_log_loss"), (Some(Split::Valid), "log_loss".to_owned()));
        assert_eq!(of("testable"), (None, "testable".to_owned()));
        assert_eq!(of("test_"), (None, "test_".to_owned()));
    }

    #[test]
    fn values_have_the_digits_that_say_something() {
        let own = Unit::own(0);
        let said =
            [0.000_123_46, 0.5, 12.3456, 1234.5, 0.0, -0.25, 123_456.0].map(|v| own.shown(v));
        assert_eq!(said, ["0.0001235", "0.5000", "12.35", "1234", "0", "-0.2500", "1.23e5"]);
        assert_eq!(Unit::named("s").shown(0.041_234), "0.04123 s");
        let tiny = [(own.clone(), 1.25e-9), (Unit::own(4), -1.25e-9), (Unit::own(4), 0.00125)];
        assert_eq!(tiny.map(|(unit, v)| unit.shown(v)), ["1.250e-9", "-1.250e-9", "0.0013"]);
        assert_eq!(
            (Unit::own(4).shown(0.0), Unit::points().shown(1e-9)),
            ("0.0000".into(), "0.00 %".into())
        );
        assert_eq!(Unit::named("%"), Unit::named("points"));
        assert_eq!(Unit::points().shown(0.0153), "1.53 %");
        assert_eq!(
            (Unit::own(4).shown(0.5), own.shown(f64::INFINITY)),
            ("0.5000".into(), "∞".into())
        );
    }
}
