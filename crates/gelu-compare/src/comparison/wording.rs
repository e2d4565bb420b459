//! Writes values of a measure for sentences.

use crate::measure::{Direction, Measure, Scale, Unit};
use crate::runs::Snapshot;

/// Formats values of a measure for sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct Wording {
    measure: Measure,
    /// The unit as it follows a number.
    unit: String,
}

impl Snapshot {
    /// Returns the wording of the primary measure.
    pub fn wording(&self) -> Wording {
        Wording::of(&self.primary())
    }
}

impl Wording {
    /// Creates the wording of a measure.
    pub fn of(measure: &Measure) -> Self {
        let unit = match measure.unit.name.as_str() {
            "" => String::new(),
            name => format!(" {name}"),
        };
        Self { measure: measure.clone(), unit }
    }

    /// Returns the wording of differences on `scale`.
    #[must_use]
    pub fn on_scale(&self, scale: Scale) -> Self {
        let measure = &self.measure;
        match scale {
            Scale::Raw => self.clone(),
            Scale::Ratio => {
                let relative = Self::of(&Measure { unit: Unit::points(), ..measure.clone() });
                Self { unit: "%".to_owned(), ..relative }
            }
            Scale::Ranks => {
                let words = format!("ranks of {}", measure.words);
                Self::of(&Measure { unit: Unit::own(1), words, ..measure.clone() })
            }
        }
    }

    /// Formats a value in the measure's displayed unit, with enough decimals to tell it from values `resolution`
    /// away.
    pub fn number(&self, value: f64, resolution: f64) -> String {
        let unit = &self.measure.unit;
        // If all pairs agree, the resolution is only rounding.
        let resolution = match resolution.is_finite() && resolution != 0.0 {
            true => resolution.abs().max(1e-5 * value.abs()),
            false => resolution,
        };
        let value = self.scaled(value);
        let place = (resolution * unit.factor).abs().log10().floor();
        let size = value.abs().log10().floor();
        let wanted = 1.0 - place;
        if value != 0.0 && (size < -4.0 && wanted > 8.0 || size >= 9.0) {
            let digits = if wanted.is_finite() { 1.0 + size - place } else { 2.0 };
            return in_powers_of_ten(value, digits.clamp(0.0, 8.0) as usize);
        }
        let decimals = match wanted.is_finite() {
            true => wanted.clamp(unit.decimals as f64, 8.0) as usize,
            false => unit.decimals_alone,
        };
        match signed(value, decimals) {
            zero if value != 0.0 && !wanted.is_finite() && is_zero(&zero) => {
                in_powers_of_ten(value, 2)
            }
            // All eight decimals are 0.
            zero if wanted.is_finite() && wanted > 8.0 && is_zero(&zero) => "0".to_owned(),
            said => said,
        }
    }

    /// Formats both ends of an interval: `0.14 to 1.00`, or `0.14 or more` and `1.00 or less` if the other end is
    /// infinite.
    pub fn interval(&self, [low, high]: [f64; 2]) -> String {
        match (low.is_finite(), high.is_finite()) {
            (true, true) => {
                let resolution = (high - low) / 2.0;
                format!("{} to {}", self.number(low, resolution), self.number(high, resolution))
            }
            (true, false) => format!("{} or more", self.number(low, low / 10.0)),
            (false, true) => format!("{} or less", self.number(high, high / 10.0)),
            (false, false) => "unlimited".to_owned(),
        }
    }

    /// Converts a difference of costs to one of the measure, with the sign reversed if higher is better.
    pub fn of_measure(&self, cost: f64) -> f64 {
        cost * self.measure.direction.sign()
    }

    /// Converts both ends of an interval of costs to the measure. The lower end comes first.
    pub fn ends_of_measure(&self, ends: [f64; 2]) -> [f64; 2] {
        let [a, b] = ends.map(|end| self.of_measure(end));
        [a.min(b), a.max(b)]
    }

    /// Returns a value in the measure's displayed unit.
    pub fn scaled(&self, value: f64) -> f64 {
        value * self.measure.unit.factor
    }

    /// Returns whether higher values are better.
    pub fn higher_is_better(&self) -> bool {
        self.measure.direction == Direction::Higher
    }

    /// Returns the unit that follows a number: ` points` for errors, nothing for losses.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Returns the metric's name in sentences: `test error`, `test loss`, `test MSE`.
    pub fn metric(&self) -> &str {
        &self.measure.words
    }

    /// Formats a value as short as it was written, with its unit: `0.1 points`.
    pub(crate) fn short(&self, value: f64) -> String {
        // Rounds to twelve digits, so that 0.001 · 100 is 0.1 again.
        let value = self.scaled(value);
        let short: f64 = format!("{value:.11e}").parse().unwrap_or(value);
        format!("{}{}", crate::names::number(short), self.unit)
    }
}

/// Formats a number with a real minus sign, and never as `−0`.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    if value < 0.0 && !is_zero(&text) { format!("−{text}") } else { text }
}

fn is_zero(text: &str) -> bool {
    text.chars().all(|c| c == '0' || c == '.')
}

/// Formats a number as `1.25e-9`.
fn in_powers_of_ten(value: f64, decimals: usize) -> String {
    let minus = if value < 0.0 { "−" } else { "" };
    format!("{minus}{:.decimals$e}", value.abs())
}

/// Formats a p: `0.0003`, `0.0625`, `0.35`, `< 0.0001`.
pub(super) fn p_value(p: f64) -> String {
    if p < 1e-4 {
        return "< 0.0001".to_owned();
    }
    let text = format!("{p:.4}");
    let short = text.trim_end_matches('0');
    // Keep at least two decimals.
    text[..short.len().max(4)].to_owned()
}

/// Formats a small probability with two digits: `0.0083`.
pub(crate) fn two_digits(probability: f64) -> String {
    let decimals = (1.0 - probability.log10().floor()).clamp(0.0, 20.0) as usize;
    format!("{probability:.decimals$}").trim_end_matches('0').to_owned()
}

/// Formats a share as a percentage: `5%`, `7.5%`, `5.83%`.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.2}", 100.0 * share);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wording(name: &str, direction: Direction, unit: Unit) -> Wording {
        Wording::of(&Measure { unit, ..Measure::named(name).towards(direction) })
    }

    #[test]
    fn small_probabilities_have_two_digits() {
        let said = [0.025, 0.05 / 6.0, 0.05 / 12.0, 0.05 / 10_100.0].map(two_digits);
        assert_eq!(said, ["0.025", "0.0083", "0.0042", "0.000005"]);
    }

    #[test]
    fn where_higher_is_better_differences_are_turned_round_and_sizes_stay() {
        let accuracy = wording("accuracy", Direction::Higher, Unit::own(0));
        assert_eq!(
            (accuracy.of_measure(-0.25), accuracy.number(0.25, 0.05)),
            (0.25, "0.250".into())
        );
        assert_eq!(accuracy.ends_of_measure([-0.5, -0.25]), [0.25, 0.5]);
        assert_eq!((accuracy.scaled(0.25), accuracy.short(0.1)), (0.25, "0.1".into()));
        assert_eq!(accuracy.number(12.0, 30.0), "12");
        assert_eq!(accuracy.number(15.0, 1e-15), "15.00000");
        assert_eq!(accuracy.number(15.0, 0.0), accuracy.number(15.0, f64::NAN));
    }

    #[test]
    fn numbers_are_as_fine_as_their_interval() {
        let errors = Wording::of(&Measure::test_error());
        assert_eq!(errors.number(-0.0031, 0.0013), "−0.31");
        assert_eq!(errors.number(-1e-9, 0.0013), "0.00");
        assert_eq!(errors.number(0.00012, 0.00001), "0.0120");
        assert_eq!(errors.short(0.001), "0.1 points");
        let losses = wording("test MSE", Direction::Lower, Unit::own(4));
        assert_eq!(losses.interval([-2e-10, 1.5e-9]), "−2.0e-10 to 1.50e-9");
        assert_eq!(
            (losses.number(0.0, 1e-10), losses.number(-1e-9, f64::NAN)),
            ("0".into(), "−1.00e-9".into())
        );
        assert_eq!(
            (losses.number(2.5e9, 1e7), losses.short(1e-200)),
            ("2.500e9".into(), "1e-200".into())
        );
        assert_eq!(losses.number(0.00012, 0.00001), "0.000120");
        assert_eq!(
            (p_value(0.0625), p_value(0.35), p_value(1e-7)),
            ("0.0625".into(), "0.35".into(), "< 0.0001".into())
        );
        assert_eq!((percent(0.05), percent(0.075)), ("5%".to_owned(), "7.5%".to_owned()));
    }
}
