//! With what probability a number of pairs decides.

use super::student::critical_value;
use statrs::function::gamma::ln_gamma;

/// The probability with which an effect is to be found.
const POWER: f64 = 0.8;
/// Steps of the integral, whose error they keep below 1e-7.
const STEPS: usize = 1024;

/// The effect that a two-sided paired t test of `count` pairs finds with 80 % power, where the
/// differences have that standard deviation. `None` of fewer than two pairs.
pub fn smallest_detectable(count: usize, deviation: f64, alpha: f64) -> Option<f64> {
    if count < 2 {
        return None;
    }
    let tests = Tests::new(count, alpha, STEPS);
    let (mut low, mut high) = (0.0, 1.0);
    while tests.finds(high) < POWER {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-9 * high {
        let middle = (low + high) / 2.0;
        match tests.finds(middle) < POWER {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(high * deviation)
}

/// The tests that `count` ≥ 2 pairs are put to at one level, with the distribution of the standard
/// deviation they will show.
///
/// In units of the true standard deviation, the deviation seen is S with S² = χ²/ν, ν = n − 1, whose
/// density is f(s) = 2 (ν/2)^(ν/2) / Γ(ν/2) · s^(ν−1) · e^(−νs²/2). What follows for a given s is a
/// normal probability, and what follows for all is its integral over s by Simpson's rule.
pub(super) struct Tests {
    root: f64,
    two_sided: f64,
    one_sided: f64,
    /// s and its weight.
    deviations: Vec<[f64; 2]>,
}

impl Tests {
    /// At level `alpha`, with so many steps of the integral (an even number).
    pub(super) fn new(count: usize, alpha: f64, steps: usize) -> Self {
        Self {
            root: (count as f64).sqrt(),
            two_sided: critical_value(count, alpha),
            one_sided: critical_value(count, 2.0 * alpha),
            deviations: deviations(count as f64 - 1.0, steps),
        }
    }

    /// P(|T| > t₁₋ₐ⸝₂) for a noncentral t with δ = effect · √n: the power of the two-sided test
    /// for a mean of `effect` standard deviations.
    pub(super) fn finds(&self, effect: f64) -> f64 {
        let (t, shift) = (self.two_sided, effect * self.root);
        self.over_deviations(|s| normal(shift - t * s) + normal(-shift - t * s))
    }

    /// The power of two one-sided tests for a mean of `effect` standard deviations to lie within
    /// ±`bound` standard deviations: both pass where |x̄| ≤ bound − t₁₋ₐ · s / √n.
    pub(super) fn bounds(&self, effect: f64, bound: f64) -> f64 {
        let (t, shift) = (self.one_sided, effect * self.root);
        self.over_deviations(|s| {
            let half = bound * self.root - t * s;
            if half <= 0.0 { 0.0 } else { normal(half - shift) - normal(-half - shift) }
        })
    }

    fn over_deviations(&self, value: impl Fn(f64) -> f64) -> f64 {
        self.deviations.iter().map(|&[s, weight]| weight * value(s)).sum()
    }
}

/// All but 10⁻³⁰ of S with `freedom` degrees: s and weight, those of Simpson's rule times f(s).
fn deviations(freedom: f64, steps: usize) -> Vec<[f64; 2]> {
    let half = freedom / 2.0;
    let scale = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    let density = |s: f64| match s > 0.0 {
        true => (scale + (freedom - 1.0) * s.ln() - half * s * s).exp(),
        false if freedom > 1.0 => 0.0,
        false => scale.exp(),
    };
    // S has mean about 1 and standard deviation about 1 / √(2ν).
    let reach = 12.0 / (2.0 * freedom).sqrt();
    let (start, end) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let step = (end - start) / steps as f64;
    let node = |index: usize| {
        let times = match index {
            0 => 1.0,
            last if last == steps => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let s = start + step * index as f64;
        [s, times * step / 3.0 * density(s)]
    };
    (0..=steps).map(node).collect()
}

/// Φ.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_that_of_the_noncentral_t() {
        // t = stats.t.ppf(1 - alpha / 2, n - 1); with d = effect * sqrt(n):
        // stats.nct.sf(t, n - 1, d) + stats.nct.cdf(-t, n - 1, d), by scipy 1.17.
        for (count, effect, alpha, expected) in [
            (2, 1.0, 0.05, 0.09280915505633605),
            (2, 10.0, 0.05, 0.7328195898057123),
            (3, 3.27, 0.05, 0.8011351676348039),
            (8, 0.5, 0.05, 0.2320770046389916),
            (8, 1.16, 0.05, 0.8026263032531893),
            (20, 0.67, 0.0125, 0.5994567971623962),
            (100, 0.1, 0.05, 0.1676995471924708),
            (1000, 0.05, 0.05, 0.352045012645621),
        ] {
            let found = Tests::new(count, alpha, STEPS).finds(effect);
            assert!((found - expected).abs() < 1e-7, "n {count}, {effect} s, α {alpha}: {found}");
        }
    }

    #[test]
    fn two_one_sided_tests_need_as_many_pairs_as_by_scipy() {
        // Of no difference at all, for 80 %, with a deviation of 1, 2 and 4 bounds: the smallest n at
        // which scipy.integrate.quad of chi's density times 2 Φ(√n · bound − t s) − 1 is 0.8.
        for (deviation, expected) in [(1.0, 11), (2.0, 36), (4.0, 139)] {
            let enough =
                |n: &usize| Tests::new(*n, 0.05, STEPS).bounds(0.0, 1.0 / deviation) >= 0.8;
            assert_eq!((2..200).find(enough), Some(expected), "deviation {deviation}");
        }
        // A mean on the bound passes at the level at most, whatever the bound.
        for bound in [0.1, 1.0, 5.0] {
            let found = Tests::new(10, 0.05, STEPS).bounds(bound, bound);
            assert!(found <= 0.05 + 1e-9, "bound {bound}: {found}");
        }
    }

    #[test]
    fn detectable_effects_are_those_of_the_table() {
        // In standard deviations of the differences, rounded up to two places; by scipy 3.26404,
        // 1.68200, 1.15603, 0.99600, 0.66044, 0.52924.
        for (count, expected) in
            [(3, 3.27), (5, 1.69), (8, 1.16), (10, 1.00), (20, 0.67), (30, 0.53)]
        {
            let found = smallest_detectable(count, 1.0, 0.05).unwrap();
            assert_eq!((found * 100.0).ceil() / 100.0, expected, "n {count}: {found}");
        }
        assert_eq!(smallest_detectable(1, 1.0, 0.05), None);
        assert_eq!(smallest_detectable(8, 0.0, 0.05), Some(0.0));
    }
}
