//! Checks the assumptions of the test, and what the test can show.

use super::Pairs;
use super::variance::scale;

/// With this number of pairs or more, equal differences are no coincidence.
const TELLING: usize = 3;

/// Returns whether nothing varies with the seed: there are at least three pairs, and all differences are equal to the
/// last digit.
pub(crate) fn nothing_varies(pairs: &Pairs) -> bool {
    let differences = pairs.differences();
    pairs.len() >= TELLING
        && !pairs.any_diverged()
        && differences.iter().all(|d| *d == differences[0])
}

/// Returns the share of runs that fail with the rarest failure that `count` seeds show with 95% probability: 1 −
/// 0.05^(1/n).
pub(crate) fn rarest_failure(count: usize) -> f64 {
    1.0 - 0.05f64.powf(1.0 / count as f64)
}

/// Returns the seeds, counted from 1, whose two scores are those of an earlier seed. Each comes as `[first, again]`,
/// where `first` is the first seed with these scores.
pub fn repeated(pairs: &[[f64; 2]]) -> Vec<[usize; 2]> {
    let earlier = |(place, pair): (usize, &[f64; 2])| {
        let finite = pair.iter().all(|value| value.is_finite());
        let first = pairs.iter().position(|other| other == pair)?;
        (finite && first < place).then_some([first + 1, place + 1])
    };
    pairs.iter().enumerate().filter_map(earlier).collect()
}

/// Returns whether the skewness of at least 8 values is beyond the two-sided 1% point of normal samples (D'Agostino
/// 1970).
pub(crate) fn is_skewed(values: &[f64]) -> bool {
    /// The two-sided 1% point of the standard normal distribution.
    const POINT: f64 = 2.575_829_303_548_9;
    let n = values.len() as f64;
    if n < 8.0 || !values.iter().all(|value| value.is_finite()) {
        return false;
    }
    let scale = scale(values);
    let mean = values.iter().map(|value| scale * value).sum::<f64>() / n;
    let moment =
        |power| values.iter().map(|value| (scale * value - mean).powi(power)).sum::<f64>() / n;
    let skewness = moment(3) / moment(2).powf(1.5);
    let y = skewness * ((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0))).sqrt();
    let kurtosis = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0)
        / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0));
    let w = (2.0 * (kurtosis - 1.0)).sqrt() - 1.0;
    let (delta, alpha) = (1.0 / (0.5 * w.ln()).sqrt(), (2.0 / (w - 1.0)).sqrt());
    (delta * (y / alpha).asinh()).abs() > POINT
}

/// Returns the largest step of which all differences of these scores are multiples. Returns `None` if there is none,
/// or if the scores take more than 20 different values and have more than three digits.
pub fn step(scores: &[f64]) -> Option<f64> {
    const FEW: usize = 20;
    let mut values: Vec<f64> = scores.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() > FEW && !values.iter().all(|value| digits(*value) <= 3) {
        return None;
    }
    let size = values.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
    let rounding = 8.0 * f64::EPSILON * size;
    let step =
        values.windows(2).map(|two| two[1] - two[0]).reduce(|a, b| divisor(a, b, rounding))?;
    // Without a common step, only rounding is left.
    (step > 1e6 * rounding).then_some(step)
}

/// Returns the greatest common divisor of two rounded sizes.
fn divisor(a: f64, b: f64, rounding: f64) -> f64 {
    let (mut a, mut b) = (a.max(b), a.min(b));
    // The error of a remainder grows with the quotient.
    let mut error = rounding;
    while b > error {
        let times = (a / b).round();
        error += rounding * times;
        (a, b) = (b, (a - times * b).abs());
    }
    a
}

/// Returns the number of significant digits in the shortest form of a number.
fn digits(value: f64) -> usize {
    let text = format!("{value:e}");
    let mantissa = text.split('e').next().unwrap_or_default();
    mantissa.chars().filter(char::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_change_nothing_are_found() {
        let pairs = |pairs: &[[f64; 2]]| Pairs::new(pairs.to_vec());
        assert!(nothing_varies(&pairs(&[[0.3, 0.31]; 8])));
        // Differences that are only rounding are equal. If the scores of both vary in parallel, they are not copies
        // of one run.
        assert!(nothing_varies(&pairs(&[[0.1 + 0.2, 0.3], [0.4, 0.4], [0.5, 0.5]])));
        assert!(!nothing_varies(&pairs(&[[0.3, 0.1], [0.4, 0.2], [0.5, 0.3]])));
        assert!(!nothing_varies(&pairs(&[[0.3, 0.31]; 2])));
        assert!(!nothing_varies(&pairs(&[[0.3, 0.31], [0.3, 0.31], [0.3, 0.311]])));
        assert!(!nothing_varies(&pairs(&[[f64::INFINITY, 0.31]; 8])));
    }

    #[test]
    fn failures_that_are_too_rare_for_so_few_seeds_are_named() {
        assert!((rarest_failure(8) - 0.3123).abs() < 1e-4);
        assert!((rarest_failure(20) - 0.1391).abs() < 1e-4);
    }

    #[test]
    fn pairs_that_stand_twice_are_found() {
        let pairs = [[1.0, 2.0], [1.0, 3.0], [1.0, 2.0], [f64::INFINITY; 2], [f64::INFINITY; 2]];
        assert_eq!(repeated(&pairs), [[1, 3]]);
    }

    #[test]
    fn skewness_is_that_of_scipy() {
        // scipy.stats.skewtest gives p = 0.0059 and 0.0116.
        assert!(is_skewed(&[0.1, 0.2, 0.1, 0.3, 0.2, 0.15, 0.25, 1.0]));
        assert!(!is_skewed(&[0.1, 0.2, 0.1, 0.3, 0.2, 0.15, 0.25, 0.3]));
        assert!(!is_skewed(&[1.0; 8]) && !is_skewed(&[0.0, 0.0, 9.0]));
    }

    #[test]
    fn steps_are_those_that_scores_are_rounded_to() {
        let near = |found: Option<f64>, step: f64| (found.unwrap() / step - 1.0).abs() < 1e-9;
        assert!(near(step(&[0.91, 0.9, 0.93, 0.97]), 0.01));
        assert!(near(step(&[12.5, 13.0, 14.25]), 0.25));
        assert_eq!(step(&[0.3, 0.3]), None);
        let irrational: Vec<f64> = (0..8).map(|k| (0.3 * f64::from(k)).sin()).collect();
        assert_eq!(step(&irrational), None);
        let many: Vec<f64> = (0..30).map(|k| f64::from(k) / 1000.0).collect();
        assert!(near(step(&many), 0.001));
        let fine: Vec<f64> = (0..30).map(|k| 0.5 + f64::from(k) / 1e5).collect();
        assert_eq!(step(&fine), None);
    }
}
