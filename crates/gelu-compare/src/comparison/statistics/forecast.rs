//! How many more pairs would probably decide a comparison.

use super::memory::Memory;
use super::power::Tests;
use super::{Mean, smallest_p};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// The probability of a decision that a forecast promises.
const ASSURANCE: f64 = 0.7;
/// Truths drawn from what the pairs leave open.
const DRAWN: usize = 256;
/// Steps of each power's integral.
const STEPS: usize = 64;
static BEFORE: Memory<Option<Forecast>> = Memory::new();

/// How many further pairs would probably decide a comparison, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Further pairs: one significant digit, rounded up, for no more is known.
    pub further: usize,
    /// The likeliest decision at so many.
    pub decision: Decision,
}

/// What a comparison can be decided for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A mean below 0.
    Below,
    /// A mean above 0.
    Above,
    /// A mean within ±δ.
    Same,
}

/// The smallest round number of further pairs, at most `furthest`, with which a decision at `level`
/// has a probability of 70 %: an assurance (O'Hagan and others 2005). `None` where so many do not
/// suffice.
///
/// Mean and deviation are not taken for those seen, but drawn from what n pairs leave open:
/// σ² = s² (n − 1) / χ²(n−1), μ = x̄ + σ/√n · z. For each draw it is the larger of two powers, that
/// of the sign (noncentral t, where the sign-flip test can reach the level) and that of *same* (both
/// one-sided tests pass).
pub fn forecast(seen: Mean, negligible: f64, level: f64, furthest: usize) -> Option<Forecast> {
    let asked = [seen.mean, seen.deviation, seen.count as f64, negligible, level, furthest as f64];
    BEFORE.recall(&asked, || search(seen, negligible, level, furthest))
}

fn search(seen: Mean, negligible: f64, level: f64, furthest: usize) -> Option<Forecast> {
    let truths = truths(seen);
    let assured = |further: usize| {
        let chances = Chances::new(&truths, seen.count + further, level, negligible);
        (chances.any >= ASSURANCE).then(|| Forecast { further, decision: chances.likeliest() })
    };
    // Numbers that do not suffice, up to one that does; what suffices does so beyond.
    let (mut low, mut high) = (1, 1);
    let mut found = loop {
        match assured(high) {
            Some(found) => break found,
            None if high == furthest => return None,
            None => (low, high) = (high + 1, (high + high.div_ceil(2)).min(furthest)),
        }
    };
    while low < high {
        let middle = low.midpoint(high);
        match assured(middle) {
            Some(sooner) => (high, found) = (middle, sooner),
            None => low = middle + 1,
        }
    }
    Some(Forecast { further: rounded_up(found.further).min(furthest), ..found })
}

/// To one significant digit.
fn rounded_up(count: usize) -> usize {
    let place = 10usize.pow(count.max(1).ilog10());
    count.div_ceil(place) * place
}

/// Means and deviations that the pairs leave open, equally probable.
fn truths(seen: Mean) -> Vec<[f64; 2]> {
    let freedom = seen.count as f64 - 1.0;
    let squares = ChiSquared::new(freedom).expect("there is at least one degree of freedom");
    let normal = Normal::standard();
    // Points that fill the square evenly: multiples of two powers of the plastic number's inverse
    // (Roberts 2018), so that few draws say what many random ones would.
    let even = |index: usize, step: f64| (0.5 + step * (index + 1) as f64).fract();
    let truth = |index: usize| {
        let chi = squares.inverse_cdf(even(index, 0.754_877_666_246_693)).max(1e-9);
        let z = normal.inverse_cdf(even(index, 0.569_840_290_998_053));
        let deviation = seen.deviation * (freedom / chi).sqrt();
        [seen.mean + deviation / (seen.count as f64).sqrt() * z, deviation]
    };
    (0..DRAWN).map(truth).collect()
}

/// The probabilities of the decisions, averaged over the truths.
#[derive(Clone, Copy, Debug, Default)]
struct Chances {
    any: f64,
    below: f64,
    above: f64,
    same: f64,
}

impl Chances {
    fn new(truths: &[[f64; 2]], count: usize, level: f64, negligible: f64) -> Self {
        let tests = Tests::new(count, level, STEPS);
        let reachable = smallest_p(count) <= level;
        let mut chances = Self::default();
        for &[mean, deviation] in truths {
            // All pairs alike have no deviation, and a sign that is certain.
            let scale = deviation.max(1e-9 * negligible.max(mean.abs()));
            let (effect, bound) = (mean / scale, negligible / scale);
            let sign = if reachable { tests.finds(effect) } else { 0.0 };
            let same = tests.bounds(effect, bound);
            chances.any += sign.max(same);
            chances.same += same;
            match mean < 0.0 {
                true => chances.below += sign,
                false => chances.above += sign,
            }
        }
        let of = |sum: f64| sum / truths.len() as f64;
        let Self { any, below, above, same } = chances;
        Self { any: of(any), below: of(below), above: of(above), same: of(same) }
    }

    fn likeliest(&self) -> Decision {
        match self.same >= self.below.max(self.above) {
            true => Decision::Same,
            false if self.below > self.above => Decision::Below,
            false => Decision::Above,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mean: f64, deviation: f64, negligible: f64, level: f64) -> Option<Forecast> {
        forecast(Mean { mean, deviation, count: 8 }, negligible, level, 1000)
    }

    #[test]
    fn a_clear_effect_needs_few_more_pairs_and_is_forecast_with_its_sign() {
        let clear = of(-1.0, 1.0, 1e-6, 0.025).unwrap();
        assert_eq!(clear.decision, Decision::Below);
        assert!((4..=20).contains(&clear.further), "{clear:?}");
        assert_eq!(of(1.0, 1.0, 1e-6, 0.025).unwrap().decision, Decision::Above);
        let certain = of(1.0, 0.0, 1e-6, 0.0001).unwrap();
        assert_eq!((certain.decision, certain.further), (Decision::Above, 7), "2 of 2^15");
    }

    #[test]
    fn numbers_are_said_with_one_digit() {
        let said = |count| rounded_up(count);
        assert_eq!(
            [1, 9, 10, 11, 20, 21, 99, 101, 1000].map(said),
            [1, 9, 10, 20, 20, 30, 100, 200, 1000]
        );
    }

    #[test]
    fn no_effect_and_a_wide_margin_end_with_the_same() {
        let same = of(0.0, 1.0, 0.6, 0.025).unwrap();
        assert_eq!(same.decision, Decision::Same);
        let wider = of(0.0, 1.0, 1.2, 0.025).unwrap();
        assert!(wider.further < same.further, "{wider:?}, {same:?}");
    }

    #[test]
    fn what_a_thousand_cannot_decide_is_not_forecast() {
        let seen = Mean { mean: 0.0, deviation: 1.0, count: 40 };
        assert_eq!(forecast(seen, 1e-3, 0.025, 1000), None);
    }

    #[test]
    fn a_stricter_level_needs_more() {
        let further = |level| of(0.7, 1.0, 1e-6, level).unwrap().further;
        assert!(further(0.005) > further(0.05), "{} {}", further(0.005), further(0.05));
    }

    #[test]
    fn the_draws_have_the_moments_of_what_they_stand_for() {
        let seen = Mean { mean: 2.0, deviation: 3.0, count: 12 };
        let truths = truths(seen);
        let mean = truths.iter().map(|t| t[0]).sum::<f64>() / truths.len() as f64;
        let variance = truths.iter().map(|t| t[1] * t[1]).sum::<f64>() / truths.len() as f64;
        // E σ² = s² ν / (ν − 2), E μ = x̄.
        assert!((mean - 2.0).abs() < 0.02, "{mean}");
        assert!((variance / (9.0 * 11.0 / 9.0) - 1.0).abs() < 0.05, "{variance}");
    }
}
