//! How large an effect has to be, or how many pairs there have to be, for the paired t test to find
//! it.

use super::student::{critical_value, half_width};
use statrs::function::gamma::ln_gamma;

/// The probability with which an effect is to be found.
const POWER: f64 = 0.8;
/// Plans go so far.
const MOST_PAIRS: usize = 1000;
/// Steps of the integral, whose error they keep below 1e-7.
const STEPS: usize = 1024;

/// How many further pairs would probably decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// About so many.
    About(usize),
    /// More than so many.
    MoreThan(usize),
}

/// The effect that a two-sided paired t test of `count` pairs finds with 80 % power, where the
/// differences have that standard deviation. `None` of fewer than two pairs.
pub fn smallest_detectable(count: usize, deviation: f64, alpha: f64) -> Option<f64> {
    if count < 2 {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while power(count, high, alpha) < POWER {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-9 * high {
        let middle = (low + high) / 2.0;
        match power(count, middle, alpha) < POWER {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(high * deviation)
}

/// How many pairs beyond `count` would probably decide a comparison whose differences have that
/// mean and standard deviation: the number at which half the 1 − 2·`alpha` interval, which *same*
/// goes by, is narrower than `negligible`, or at which an effect as seen is found with 80 % power,
/// whichever is smaller, and never fewer than `least` in all.
pub fn further_pairs(
    count: usize,
    [mean, deviation]: [f64; 2],
    negligible: f64,
    alpha: f64,
    least: usize,
) -> Further {
    let decides = |n: usize| {
        let effect = mean.abs() / deviation;
        half_width(deviation, n, 2.0 * alpha) < negligible || power(n, effect, alpha) >= POWER
    };
    let first = (count + 1).max(least).max(2);
    let last = count + MOST_PAIRS;
    if deviation == 0.0 {
        return Further::About(first - count);
    }
    // Both grow with n: what decides at n decides beyond.
    if !decides(last) {
        return Further::MoreThan(MOST_PAIRS);
    }
    let (mut low, mut high) = (first, last.max(first));
    while low < high {
        let middle = low.midpoint(high);
        match decides(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Further::About(high - count)
}

/// The power of a two-sided paired t test of `count` ≥ 2 pairs at level `alpha` for a mean of
/// `effect` standard deviations: P(|T| > t₁₋ₐ⸝₂) for a noncentral t with δ = effect · √n.
///
/// T = (Z + δ) / S with S² = χ²/ν, so this is ∫ [Φ(δ − ts) + Φ(−δ − ts)] f(s) ds with S's density
/// f(s) = 2 (ν/2)^(ν/2) / Γ(ν/2) · s^(ν−1) · e^(−νs²/2), by Simpson's rule over all but 10⁻³⁰ of
/// it.
fn power(count: usize, effect: f64, alpha: f64) -> f64 {
    let (t, shift) = (critical_value(count, alpha), effect * (count as f64).sqrt());
    let freedom = count as f64 - 1.0;
    let half = freedom / 2.0;
    let scale = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    let density = |s: f64| match s > 0.0 {
        true => (scale + (freedom - 1.0) * s.ln() - half * s * s).exp(),
        false if freedom > 1.0 => 0.0,
        false => scale.exp(),
    };
    let value = |s: f64| (normal(shift - t * s) + normal(-shift - t * s)) * density(s);
    // S has mean about 1 and standard deviation about 1 / √(2ν).
    let reach = 12.0 / (2.0 * freedom).sqrt();
    let (start, end) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let step = (end - start) / STEPS as f64;
    let weighted = |index: usize| {
        let weight = match index {
            0 | STEPS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * value(start + step * index as f64)
    };
    (0..=STEPS).map(weighted).sum::<f64>() * step / 3.0
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
            let found = power(count, effect, alpha);
            assert!((found - expected).abs() < 1e-7, "n {count}, {effect} s, α {alpha}: {found}");
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

    #[test]
    fn plans_end_where_the_interval_is_narrow_or_the_effect_is_found() {
        // An effect of one standard deviation: 10 pairs have 80 % power.
        assert_eq!(further_pairs(8, [1.0, 1.0], 1e-6, 0.05, 6), Further::About(2));
        // None: the 90 % half width 1.645 · s/√n falls below 0.1 s near n = 272.
        let Further::About(more) = further_pairs(8, [0.0, 1.0], 0.1, 0.05, 6) else { panic!() };
        assert!((255..=275).contains(&more), "{more}");
        assert_eq!(further_pairs(8, [0.0, 1.0], 1e-3, 0.05, 6), Further::MoreThan(1000));
        assert_eq!(further_pairs(3, [5.0, 1.0], 1e-6, 0.05, 6), Further::About(3));
    }
}
