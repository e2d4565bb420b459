//! Limits of numbers from the command line, a recipe or a results folder. They refuse unreasonable values before the
//! program computes with them.

use crate::{Error, Result};
use gelu_compare::names::number;
use std::ops::RangeInclusive;

/// The most runs per setting.
pub(super) const MOST_SEEDS: u64 = 100_000;
/// The most passes over the training set.
pub(super) const MOST_EPOCHS: u64 = 1_000_000;
/// The most runs of a comparison.
pub(super) const MOST_RUNS: u128 = 1_000_000;
/// The most examples in a batch or a split.
pub(crate) const MOST_EXAMPLES: u64 = 1_000_000_000;
/// The most amplitudes of noise.
pub(super) const MOST_AMPLITUDES: u64 = 10_000;
/// The most threads of a run.
pub(super) const MOST_THREADS: u64 = 10_000;

/// Checks a number of things that must be at least 1.
///
/// # Errors
///
/// [`Error::Usage`] with the allowed values.
pub(crate) fn count(what: &str, value: u64, most: u64) -> Result<()> {
    match value {
        0 => Err(Error::Usage(format!("{what} is 0; it has to be at least 1"))),
        _ => count_or_none(what, value, most),
    }
}

/// Checks a number of things that may be 0.
///
/// # Errors
///
/// [`Error::Usage`] with the allowed values.
pub(crate) fn count_or_none(what: &str, value: u64, most: u64) -> Result<()> {
    match value > most {
        true => Err(Error::Usage(format!("{what} is {value}; it has to be at most {most}"))),
        false => Ok(()),
    }
}

/// Checks a number that is converted to single precision, in which networks are trained.
///
/// # Errors
///
/// [`Error::Usage`] with the allowed values.
pub(super) fn single(what: &str, value: f64, possible: RangeInclusive<f64>) -> Result<()> {
    match possible.contains(&f64::from(value as f32)) {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "{what} is {}; it has to be a number from {} to {}",
            number(value),
            number(*possible.start()),
            number(*possible.end())
        ))),
    }
}

/// Checks a share, which may be 0 but not 1.
///
/// # Errors
///
/// [`Error::Usage`] with the allowed values.
pub(super) fn share(what: &str, value: f64) -> Result<()> {
    match is_share(value) {
        true => Ok(()),
        false => {
            let value = number(value);
            Err(Error::Usage(format!("{what} is {value}; a share is at least 0 and below 1")))
        }
    }
}

/// Returns whether `value` is at least 0 and below 1, also in single precision.
fn is_share(value: f64) -> bool {
    value >= 0.0 && (value as f32) < 1.0
}

/// Checks an initial learning rate. Extreme rates are allowed, for example to see a network diverge or stand still,
/// as long as they are numbers in single precision.
///
/// # Errors
///
/// [`Error::Usage`] with the allowed values.
pub(crate) fn learning_rate(rate: f64) -> Result<()> {
    match (1e-30..=1e30).contains(&rate) {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "learning rate {} cannot be trained with; it has to be from 1e-30 to 1e30",
            number(rate)
        ))),
    }
}

/// Checks a dropout rate: 0, or a probability that has an effect.
///
/// # Errors
///
/// [`Error::Usage`] with the allowed values.
pub(crate) fn dropout(rate: f64) -> Result<()> {
    match is_share(rate) && (rate == 0.0 || rate >= 1e-9) {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "dropout rate {} is not a probability to drop with; it has to be 0, or at least 1e-9 and \
             below 1",
            number(rate)
        ))),
    }
}

/// Checks an amplitude of noise on inputs.
///
/// # Errors
///
/// [`Error::Usage`] with the allowed values.
pub(crate) fn amplitude(amplitude: f64) -> Result<()> {
    match (0.0..=1e6).contains(&amplitude) {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "noise amplitude {} has to be at least 0 and at most 1e6",
            number(amplitude)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_what_single_precision_can_train_with() {
        for rate in [1e-30, 1e-3, 1.0, 1e30] {
            learning_rate(rate).unwrap();
        }
        for rate in [0.0, -0.0, -1e-3, 1e-31, 1e-308, 1e31, 1e308, f64::INFINITY, f64::NAN] {
            let error = learning_rate(rate).unwrap_err().to_string();
            assert!(error.starts_with("learning rate ") && error.len() < 100, "{error}");
        }
        for rate in [0.0, 1e-9, 0.5, 0.999_999] {
            dropout(rate).unwrap();
        }
        // 1 − 2^-53 is 1 in single precision, so nothing would be left to scale up.
        for rate in [-0.1, 1.0, 1.0 - f64::EPSILON / 2.0, 1e-300, f64::INFINITY, f64::NAN] {
            assert!(dropout(rate).unwrap_err().to_string().contains("not a probability"));
        }
    }

    #[test]
    fn numbers_that_vanish_or_overflow_in_single_precision_are_refused() {
        let positive = f64::from(f32::MIN_POSITIVE)..=1.0;
        single("epsilon", 1e-8, positive.clone()).unwrap();
        let error = single("epsilon", 1e-300, positive).unwrap_err().to_string();
        assert!(
            error.starts_with("epsilon is 1e-300; it has to be a number from 1.1754"),
            "{error}"
        );
        assert!(single("noise", 1e300, 0.0..=f64::from(f32::MAX)).is_err());
        assert!(share("beta", 1.0 - 1e-9).is_err() && share("beta", 0.999).is_ok());
    }

    #[test]
    fn counts_are_from_one_to_what_somebody_can_mean() {
        count("the number", 5, 5).unwrap();
        count_or_none("the number", 0, 5).unwrap();
        let problem = |value| count("the number", value, 5).unwrap_err().to_string();
        assert_eq!(problem(0), "the number is 0; it has to be at least 1");
        assert_eq!(
            problem(u64::MAX),
            format!("the number is {}; it has to be at most 5", u64::MAX)
        );
    }
}
