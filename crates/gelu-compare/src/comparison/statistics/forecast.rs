//! A forecast of the seeds that a comparison needs.

use super::Mean;
use super::memory::Memory;
use super::paired::Schedule;
use super::student::critical_value;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// The share of sampled futures in which the forecast number of seeds has to decide. t tests decide sooner than the
/// exact test, and differences that are undecided looked larger than they are. With this share, 70% of simulated
/// forecasts come true.
const ASSURANCE: f64 = 0.85;
/// The number of sampled futures.
const FUTURES: usize = 1000;
/// A forecast reaches at most this many times the planned seeds.
const FURTHEST: u64 = 10;
/// The seed of the sampled futures. It is fixed, so that the same scores give the same forecast.
const SEED: u64 = 0;

static BEFORE: Memory<Option<u64>> = Memory::new();

/// Returns the smallest total number of seeds with which a comparison would be decided with a probability of 70%,
/// given the differences seen so far: an assurance (O'Hagan and others 2005). Returns `None` beyond ten times the
/// planned seeds.
///
/// Each of 1,000 futures samples what n seeds leave open, σ² = s²·(n − 1)/χ²(n − 1) and μ = d̄ + σ/√n·z, then further
/// differences from N(μ, σ²). A future is decided if a t test of all differences is significant, or if both one-sided
/// tests of |μ| < `negligible` are. Their level is the one that is left, `level`·(f − f(n)), because what the seeds
/// so far have spent has struck nothing out.
pub fn forecast(seen: Mean, schedule: Schedule, negligible: f64, level: f64) -> Option<u64> {
    let flag = f64::from(u8::from(schedule.until_decided));
    let asked = [
        seen.mean,
        seen.deviation,
        seen.count as f64,
        schedule.seeds as f64,
        flag,
        negligible,
        level,
    ];
    BEFORE.recall(&asked, || search(seen, schedule, negligible, level))
}

fn search(seen: Mean, schedule: Schedule, negligible: f64, level: f64) -> Option<u64> {
    let furthest = (FURTHEST * schedule.seeds.max(seen.count as u64)) as usize;
    let futures = futures(seen, furthest - seen.count);
    let suffices = |total: usize| {
        let left = schedule.spent(total as u64) - schedule.spent(seen.count as u64);
        let level = level * left;
        let bound = Bound::new(total, level, negligible);
        let decided = futures.iter().filter(|future| future.is_decided(seen, total, &bound));
        decided.count() as f64 >= ASSURANCE * FUTURES as f64
    };
    let (mut fewer, mut step) = (seen.count, 1);
    let mut enough = loop {
        let total = (seen.count + step).min(furthest);
        match suffices(total) {
            true => break total,
            false if total == furthest => return None,
            false => (fewer, step) = (total, 2 * step),
        }
    };
    while enough - fewer > 1 {
        let middle = fewer.midpoint(enough);
        match suffices(middle) {
            true => enough = middle,
            false => fewer = middle,
        }
    }
    Some(enough as u64)
}

/// A future: the sums Σd and Σd² over its first further differences, from none to all of them.
struct Future(Vec<[f64; 2]>);

fn futures(seen: Mean, further: usize) -> Vec<Future> {
    let freedom = seen.count as f64 - 1.0;
    let squares = ChiSquared::new(freedom).expect("a mean is of two numbers or more");
    let normal = Normal::standard();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut open = move || random.random::<f64>().clamp(1e-12, 1.0 - 1e-12);
    let mut future = || {
        let spread = seen.deviation * (freedom / squares.inverse_cdf(open()).max(1e-9)).sqrt();
        let mean = seen.mean + spread / (seen.count as f64).sqrt() * normal.inverse_cdf(open());
        let mut sums = vec![[0.0, 0.0]];
        for index in 0..further {
            let d = mean + spread * normal.inverse_cdf(open());
            let [sum, squares] = sums[index];
            sums.push([sum + d, squares + d * d]);
        }
        Future(sums)
    };
    (0..FUTURES).map(|_| future()).collect()
}

/// The critical values of t tests.
struct Bound {
    two_sided: f64,
    one_sided: f64,
    negligible: f64,
}

impl Bound {
    fn new(total: usize, level: f64, negligible: f64) -> Self {
        Self {
            two_sided: critical_value(total, level),
            one_sided: critical_value(total, 2.0 * level),
            negligible,
        }
    }
}

impl Future {
    fn is_decided(&self, seen: Mean, total: usize, bound: &Bound) -> bool {
        let [sum, squares] = self.0[total - seen.count];
        let (n, before) = (total as f64, seen.count as f64);
        let sum = sum + before * seen.mean;
        let squares =
            squares + (before - 1.0) * seen.deviation.powi(2) + before * seen.mean.powi(2);
        let mean = sum / n;
        let variance = ((squares - n * mean * mean) / (n - 1.0)).max(0.0);
        let error = (variance / n).sqrt();
        mean.abs() > bound.two_sided * error
            || mean.abs() + bound.one_sided * error < bound.negligible
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(mean: f64, count: usize) -> Mean {
        Mean { mean, deviation: 1.0, count }
    }

    #[test]
    fn what_is_nearly_decided_takes_few_seeds_and_what_is_not_takes_many() {
        let schedule = Schedule::fixed(8);
        let near = forecast(seen(0.75, 8), schedule, 0.01, 0.05).unwrap();
        let far = forecast(seen(0.7, 8), schedule, 0.01, 0.05).unwrap();
        assert!((9..60).contains(&near) && near < far && far <= 80, "{near} {far}");
        assert_eq!(forecast(seen(0.01, 8), schedule, 1e-6, 0.05), None);
    }

    #[test]
    fn a_wide_margin_is_decided_as_the_same() {
        let same = forecast(seen(0.0, 8), Schedule::fixed(8), 1.5, 0.05).unwrap();
        assert!(same < 60, "{same}");
    }

    /// σ is s·√(1/χ²) with one degree of freedom, and (μ − d̄)·√2/s is Student's t with one. The median of χ²(1) is
    /// 0.454936 (R's `qchisq(0.5, 1)`), and the quartiles of t(1) are −1 and 1. A future of 2,000 differences shows both.
    #[test]
    fn two_seeds_leave_open_what_one_degree_of_freedom_does() {
        const FURTHER: usize = 2_000;
        let (mut spreads, mut means): (Vec<f64>, Vec<f64>) = futures(seen(5.0, 2), FURTHER)
            .iter()
            .map(|Future(sums)| {
                let [sum, squares] = sums[FURTHER].map(|sum| sum / FURTHER as f64);
                ((squares - sum * sum).sqrt(), (sum - 5.0) * 2f64.sqrt())
            })
            .unzip();
        for numbers in [&mut spreads, &mut means] {
            numbers.sort_by(f64::total_cmp);
        }
        let quantile = |numbers: &[f64], share: f64| numbers[(share * FUTURES as f64) as usize];
        let median = quantile(&spreads, 0.5) / 0.454_936f64.powf(-0.5);
        // Two degrees of freedom would make it 0.81.
        assert!((median - 1.0).abs() < 0.1, "{median}");
        for (share, expected) in [(0.25, -1.0), (0.75, 1.0)] {
            let found = quantile(&means, share);
            assert!((found - expected).abs() < 0.2, "{share}: {found}");
        }
    }

    #[test]
    fn it_is_the_same_each_time() {
        let twice = [0, 1].map(|_| search(seen(0.75, 20), Schedule::until_decided(20), 0.1, 0.05));
        assert!(twice[0].is_some() && twice[0] == twice[1]);
    }
}
