use super::Split;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is measured of a run, as whoever measures it declares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// What criteria call it: `test-error`.
    pub name: String,
    /// Its column in files: `test_error`.
    pub column: String,
    /// In sentences: `test error`, `accuracy`.
    pub words: String,
    /// In tables: `test MSE`.
    pub heading: String,
    /// What is measured, wherever: `error`.
    pub quantity: String,
    /// The part of the data that it is measured on, where it is one.
    pub split: Option<Split>,
    /// Which values are better.
    pub direction: Direction,
    /// How its values are said.
    pub unit: Unit,
    /// Whether it is one value of a whole run, which an [extension](crate::extension::Extension::value) knows, and no
    /// epoch's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_run: bool,
}

/// Which values of a measure are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
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

    /// The value of a run that diverged: the worst.
    pub fn worst(self) -> f64 {
        self.sign() * f64::INFINITY
    }
}

/// The unit that values are said in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    /// Behind numbers: `points`; may be empty.
    pub name: String,
    /// Behind a value that stands alone: ` %`; may be empty.
    pub sign: String,
    /// How many of it make one of the measure's own: 100 for a fraction that is said in points.
    pub factor: f64,
    /// Decimals at least; 0 for as many as a number needs.
    pub decimals: usize,
    /// Decimals of a number without an interval, which says how many tell something.
    pub decimals_alone: usize,
}

impl Unit {
    /// Hundredths, for fractions: `12.70 points`.
    pub fn points() -> Self {
        Self {
            name: "points".to_owned(),
            sign: " %".to_owned(),
            factor: 100.0,
            decimals: 2,
            decimals_alone: 2,
        }
    }

    /// One by its name, behind numbers as it is: `0.0412 s`. Percent or points, `%`, `points`, are those of a
    /// fraction.
    pub fn named(name: &str) -> Self {
        match name {
            "%" | "points" => Self::points(),
            _ => Self { name: name.to_owned(), sign: format!(" {name}"), ..Self::own(0) },
        }
    }

    /// The measure's own, without a name and with so many decimals at least.
    pub fn own(decimals: usize) -> Self {
        Self {
            name: String::new(),
            sign: String::new(),
            factor: 1.0,
            decimals,
            decimals_alone: decimals.max(4),
        }
    }

    /// A number in it, without its sign: `1.53` of 0.0153 in points.
    pub fn number(&self, value: f64) -> String {
        let value = value * self.factor;
        match self.decimals {
            _ if !value.is_finite() => "∞".to_owned(),
            // What has run away, but not as far as infinity.
            _ if self.sign.is_empty() && value.abs() >= 1e4 => format!("{value:.2e}"),
            0 => significant(value),
            // One without a sign may be of any size.
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

    /// A value by itself: `1.53 %`, `0.0412`.
    pub fn shown(&self, value: f64) -> String {
        match value.is_finite() {
            true => format!("{}{}", self.number(value), self.sign),
            false => "∞".to_owned(),
        }
    }
}

/// With four digits that say something.
fn significant(value: f64) -> String {
    let places = 3.0 - value.abs().log10().floor();
    match places {
        tiny if tiny.is_finite() && tiny > 9.0 => format!("{value:.3e}"),
        places if places.is_finite() => format!("{value:.*}", places.max(0.0) as usize),
        _ => format!("{value:.0}"),
    }
}

impl Measure {
    /// A measure of which its name alone is known, lower values of it better. A name that begins with a
    /// part of the data, as `test_error` does, is measured on that.
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

    /// The same where higher values are better.
    #[must_use]
    pub fn towards(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// The same where higher values are better.
    #[must_use]
    pub fn higher(self) -> Self {
        self.towards(Direction::Higher)
    }

    /// The same said in another unit.
    #[must_use]
    pub fn in_unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// The same said in points: for fractions.
    #[must_use]
    pub fn points(self) -> Self {
        self.in_unit(Unit::points())
    }

    /// The same on a part of the data: `test_error` of `error`.
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

    /// A value of it as a cost, of which lower is better.
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
