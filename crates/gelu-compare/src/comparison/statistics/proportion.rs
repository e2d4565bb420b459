use statrs::distribution::{ContinuousCDF, Normal};

/// A share of a number of trials. Ties count half, so the number of successes need not be whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportion {
    successes: f64,
    trials: f64,
}

impl Proportion {
    /// Creates the share of `successes` in `trials`; `None` without trials.
    pub fn new(successes: f64, trials: usize) -> Option<Self> {
        (trials > 0).then_some(Self { successes, trials: trials as f64 })
    }

    /// Returns the share.
    pub fn share(&self) -> f64 {
        self.successes / self.trials
    }

    /// Returns Wilson's interval (1927), which covers the probability with 1 − `alpha`.
    pub fn interval(&self, alpha: f64) -> [f64; 2] {
        let z = Normal::standard().inverse_cdf(1.0 - alpha / 2.0);
        let (p, n) = (self.share(), self.trials);
        let centre = p + z * z / (2.0 * n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z * z / n;
        [((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_is_that_of_scipy() {
        // scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
        for (successes, trials, expected) in [
            (15.0, 16, [0.7167126242970107, 0.9888806552353576]),
            (0.0, 8, [0.0, 0.32440756488388023]),
            (4.0, 8, [0.21521606221387757, 0.7847839377861224]),
        ] {
            let found = Proportion::new(successes, trials).unwrap().interval(0.05);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{successes}/{trials}: {found}");
            }
        }
        assert_eq!(Proportion::new(0.0, 0), None);
    }
}
