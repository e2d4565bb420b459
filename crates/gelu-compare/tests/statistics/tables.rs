//! Simulated tables with a known truth.

use gelu_compare::comparison::statistics::{Decision, PairedTest, Schedule, Standing};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Returns the number of tables to simulate of each kind.
pub(crate) fn tables() -> usize {
    let asked = std::env::var("GELU_SIMULATED_TABLES").ok();
    asked.map_or(100, |text| text.parse().expect("GELU_SIMULATED_TABLES is a number"))
}

/// Returns the largest plausible share of `count` tables for a rate of `rate`: it is exceeded once in thirty thousand
/// times.
pub(crate) fn at_most(rate: f64, count: usize) -> f64 {
    rate + 4.0 * (rate * (1.0 - rate) / count as f64).sqrt()
}

/// Returns a standard normal number, by the Box-Muller method.
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius: f64 = random.random::<f64>();
    (-2.0 * (1.0 - radius).ln()).sqrt() * (TAU * random.random::<f64>()).cos()
}

/// The distribution of scores around their setting's level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spread {
    Normal,
    /// Student's t with three degrees of freedom.
    T3,
    Cauchy,
    /// Normal, rounded to whole standard deviations.
    Steps,
    /// Normal, around 10⁵.
    Offset,
    /// Normal; one in ten diverges, in any setting.
    Diverging,
    /// Normal, with four times the variance in all settings except the baseline.
    Unequal,
    /// In all settings except the baseline, nine in ten are ahead, and one in ten fails without diverging.
    Failing,
    /// Log-normal, with four times the spread in all settings except the baseline, and the same mean.
    Skewed,
}

impl Spread {
    pub(crate) fn score(self, is_baseline: bool, level: f64, random: &mut ChaCha8Rng) -> f64 {
        let z = normal(random);
        let heavy = |freedom: usize, random: &mut ChaCha8Rng| {
            let squares: f64 = (0..freedom).map(|_| normal(random).powi(2)).sum();
            z / (squares / freedom as f64).sqrt()
        };
        level
            + match self {
                Self::Normal => z,
                Self::T3 => heavy(3, random),
                Self::Cauchy => heavy(1, random),
                Self::Steps => z.round(),
                Self::Offset => 1e5 + z,
                Self::Diverging if random.random::<f64>() < 0.1 => f64::INFINITY,
                Self::Diverging => z,
                Self::Unequal => {
                    if is_baseline {
                        z
                    } else {
                        2.0 * z
                    }
                }
                Self::Failing if is_baseline => 0.1 * z,
                // The mean is 0, as for the baseline.
                Self::Failing => 0.1 * z + if random.random::<f64>() < 0.1 { 0.9 } else { -0.1 },
                Self::Skewed => {
                    let log = z.exp() - 0.5f64.exp();
                    if is_baseline { 0.25 * log } else { log }
                }
            }
    }
}

/// Simulates a table, and returns the outcome of each comparison. Settings of these levels are compared with one
/// baseline of level 0, with the seeds 1 to `last`.
pub(crate) fn simulate(
    levels: &[f64],
    spread: Spread,
    schedule: Schedule,
    negligible: f64,
    last: u64,
    random: &mut ChaCha8Rng,
) -> Vec<Standing> {
    let baseline: Vec<f64> = (0..last).map(|_| spread.score(true, 0.0, random)).collect();
    let mut of = |level: &f64| {
        let pair = |base: &f64| [spread.score(false, *level, random), *base];
        let pairs: Vec<[f64; 2]> = baseline.iter().map(pair).collect();
        PairedTest::new(&pairs, schedule, 0.05 / levels.len() as f64, negligible).standing()
    };
    levels.iter().map(&mut of).collect()
}

/// Returns the share of `count` tables in which a verdict is wrong. Uses all cores.
pub(crate) fn wrong(
    levels: &[f64],
    spread: Spread,
    schedule: Schedule,
    negligible: f64,
    last: u64,
    count: usize,
) -> f64 {
    let is_wrong = |table: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(20_261_129 + table as u64);
        let ends = simulate(levels, spread, schedule, negligible, last, &mut random);
        ends.iter().zip(levels).any(|(standing, level)| match standing.decision {
            None => false,
            Some(Decision::Same) => level.abs() >= negligible,
            Some(Decision::Below) => *level >= 0.0,
            Some(Decision::Above) => *level <= 0.0,
        })
    };
    let wrong = (0..count).into_par_iter().filter(|&table| is_wrong(table)).count();
    wrong as f64 / count as f64
}

/// Returns the interval of one comparison.
pub(crate) fn interval(pairs: &[[f64; 2]], schedule: Schedule) -> Option<[f64; 2]> {
    let interval = PairedTest::new(pairs, schedule, 0.05, 0.0).interval()?;
    Some([interval.low, interval.high])
}
