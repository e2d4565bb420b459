use super::variance::{scale, variance};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean of a sample, with the numbers that its t interval needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean x̄.
    pub mean: f64,
    /// The sample standard deviation s, with n − 1.
    pub deviation: f64,
    /// The number n of values.
    pub count: usize,
}

impl Mean {
    /// Returns the mean of `values`; `None` for fewer than two numbers, or if one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        if !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let scale = scale(values);
        let scaled: Vec<f64> = values.iter().map(|value| scale * value).collect();
        let deviation = variance(&scaled)?.sqrt() / scale;
        let mean = scaled.iter().sum::<f64>() / values.len() as f64 / scale;
        Some(Self { mean, deviation, count: values.len() })
    }

    /// Returns the t interval that covers the mean with probability 1 − `alpha`: x̄ ± t₁₋ₐ⸝₂,ₙ₋₁ · s / √n.
    pub fn interval(&self, alpha: f64) -> [f64; 2] {
        let half = half_width(self.deviation, self.count, alpha);
        [self.mean - half, self.mean + half]
    }
}

/// Returns half the width of the 1 − `alpha` interval of a mean of `count` ≥ 2 numbers with standard deviation
/// `deviation`.
pub(super) fn half_width(deviation: f64, count: usize, alpha: f64) -> f64 {
    critical_value(count, alpha) * deviation / (count as f64).sqrt()
}

/// Returns t₁₋ₐ⸝₂ with `count` − 1 degrees of freedom, `count` ≥ 2.
pub(super) fn critical_value(count: usize, alpha: f64) -> f64 {
    let freedom = count as f64 - 1.0;
    let t = StudentsT::new(0.0, 1.0, freedom).expect("there is at least one degree of freedom");
    t.inverse_cdf(1.0 - alpha / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_tables() {
        // scipy.stats.t.ppf(1 - alpha / 2, n - 1)
        for (count, alpha, expected) in [
            (2, 0.05, 12.706204736174694),
            (3, 0.05, 4.302652729749462),
            (8, 0.05, 2.364624251592784),
            (8, 0.1, 1.8945786050900062),
            (8, 0.025, 2.841244248588211),
            (20, 0.05, 2.0930240544083087),
            (1000, 0.05, 1.9623414611334493),
        ] {
            let found = critical_value(count, alpha);
            assert!((found / expected - 1.0).abs() < 1e-9, "n {count}, α {alpha}: {found}");
        }
    }

    #[test]
    fn interval_of_equal_numbers_is_their_mean() {
        let mean = Mean::of(&[0.25, 0.25, 0.25]).unwrap();
        assert_eq!(mean.interval(0.05), [0.25, 0.25]);
    }

    #[test]
    fn numbers_of_any_size_have_an_interval() {
        // statistics.mean([1, 2, 4]) = 7/3, stdev = 1.527525231651947 (Python), times a power of two.
        for exponent in [-1020, -700, -3, 0, 700, 1020] {
            let size = 2f64.powi(exponent);
            let mean = Mean::of(&[1.0, 2.0, 4.0].map(|value| value * size)).unwrap();
            let close = |found: f64, expected: f64| (found / size / expected - 1.0).abs() < 1e-3;
            assert!(close(mean.mean, 7.0 / 3.0), "2^{exponent}: {mean:?}");
            assert!(close(mean.deviation, 1.527_525_231_651_947), "2^{exponent}: {mean:?}");
        }
    }

    #[test]
    fn one_number_or_an_infinite_one_has_no_interval() {
        assert_eq!(Mean::of(&[1.0]), None);
        assert_eq!(Mean::of(&[1.0, f64::INFINITY]), None);
        assert_eq!(Mean::of(&[]), None);
    }
}
