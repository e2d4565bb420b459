use super::Interval;
use super::variance::scale;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The maximum number of assignments that are all counted.
const COUNTED: f64 = 1e6;
/// The number of sampled assignments if there are more.
const SAMPLED: usize = 100_000;
/// The seed of the sampled assignments. It is fixed, so that the same scores give the same p.
const SEED: u64 = 0;
/// Steps of every bisection.
const STEPS: usize = 40;
/// Two statistics are equal if they differ by no more than this share.
const ROUNDING: f64 = 1e-12;

/// The test of scores without pairs: a permutation test of Welch's t (Welch 1947; Janssen 1997).
///
/// p is the share of assignments of all scores to two groups of these sizes whose t is at least as large as the
/// observed one. If a run diverged, the midranks of all scores replace the scores.
#[derive(Clone, Debug)]
pub struct Unpaired {
    /// The factor that the scores were multiplied by.
    scale: f64,
    sizes: [f64; 2],
    /// The sums of the first group's scores, and of the second group's.
    totals: [Sums; 2],
    /// All assignments; the first is the observed one.
    assignments: Vec<Assignment>,
    diverged: bool,
}

/// Count, sum and sum of squares.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

/// The scores that an assignment puts into its first group: those that are really in the first group, and the others.
#[derive(Clone, Copy, Debug)]
struct Assignment([Sums; 2]);

impl Sums {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// Returns the sums with `theta` subtracted from each value.
    fn shifted(self, theta: f64) -> Self {
        let Self { count, sum, squares } = self;
        Self {
            count,
            sum: sum - theta * count,
            squares: squares - 2.0 * theta * sum + theta * theta * count,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    fn without(self, other: Self) -> Self {
        Self {
            count: self.count - other.count,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }

    /// Returns the mean, and the square of its standard error.
    fn mean_and_error(self) -> [f64; 2] {
        let mean = self.sum / self.count;
        let variance = (self.squares - self.count * mean * mean) / (self.count - 1.0);
        // With equal numbers, only rounding is left.
        let rounding = 1e-14 * self.squares / (self.count - 1.0);
        let variance = if variance <= rounding { 0.0 } else { variance };
        [mean, variance / self.count]
    }
}

impl Unpaired {
    /// Creates a test of two groups of costs. Lower is better, and +∞ is a run that diverged. Returns `None` unless
    /// both groups have at least two scores.
    pub fn new(a: &[f64], b: &[f64]) -> Option<Self> {
        if a.len() < 2 || b.len() < 2 {
            return None;
        }
        let all: Vec<f64> = a.iter().chain(b).copied().collect();
        let diverged = !all.iter().all(|value| value.is_finite());
        let scale = if diverged { 1.0 } else { scale(&all) };
        let centre = all.iter().sum::<f64>() / all.len() as f64;
        let values: Vec<f64> = match diverged {
            true => midranks(&all),
            // Values are centred because squares of numbers far from 0 would lose digits.
            false => all.iter().map(|value| scale * (value - centre)).collect(),
        };
        let mut totals = [Sums::default(); 2];
        for (place, value) in values.iter().enumerate() {
            totals[usize::from(place >= a.len())].add(*value);
        }
        Some(Self {
            scale,
            sizes: [a.len() as f64, b.len() as f64],
            totals,
            assignments: assignments(&values, a.len()),
            diverged,
        })
    }

    /// Returns the mean of the first group minus that of the second; `None` if a run diverged.
    pub fn difference(&self) -> Option<f64> {
        (!self.diverged).then(|| self.shift() / self.scale)
    }

    /// Returns which group is ahead: −1 for the first, 1 for the second, 0 for neither.
    pub fn direction(&self) -> f64 {
        let shift = self.shift();
        if shift == 0.0 { 0.0 } else { shift.signum() }
    }

    fn shift(&self) -> f64 {
        let [a, b] = self.totals.map(|sums| sums.sum / sums.count);
        a - b
    }

    /// Returns the two-sided p.
    pub fn p(&self) -> f64 {
        self.p_of(0.0)
    }

    /// Returns the p of the hypothesis that the difference is `theta`.
    fn p_of(&self, theta: f64) -> f64 {
        let statistic = |assignment: &Assignment| {
            let Assignment([own, others]) = *assignment;
            let first = own.shifted(theta).and(others);
            let all = self.totals[0].shifted(theta).and(self.totals[1]);
            let [mean, error] = first.mean_and_error();
            let [other_mean, other_error] = all.without(first).mean_and_error();
            let difference = (mean - other_mean).abs();
            match error + other_error {
                0.0 if difference <= 1e-12 * all.squares.sqrt() => 0.0,
                error => difference / error.sqrt(),
            }
        };
        let observed = statistic(&self.assignments[0]) * (1.0 - ROUNDING);
        let as_large = self.assignments.iter().filter(|other| statistic(other) >= observed);
        as_large.count() as f64 / self.assignments.len() as f64
    }

    /// Returns the differences that the test does not rule out at `level`; `None` if a run diverged, or if there are
    /// too few runs to rule out any.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let start = self.shift();
        if self.diverged {
            return None;
        }
        let spread: f64 =
            self.totals.iter().map(|sums| sums.mean_and_error()[1] * sums.count).sum::<f64>();
        let reach = 4.0 * (spread.sqrt() * (self.sizes[0] + self.sizes[1])).max(start.abs());
        let end = |side: f64| {
            let (mut inside, mut outside) = (start, start + side * reach);
            if self.p_of(outside) > level {
                return side * f64::INFINITY;
            }
            for _ in 0..STEPS {
                let middle = f64::midpoint(inside, outside);
                match self.p_of(middle) > level {
                    true => inside = middle,
                    false => outside = middle,
                }
            }
            inside / self.scale
        };
        let [low, high] = [-1.0, 1.0].map(end);
        (low.is_finite() || high.is_finite()).then_some(Interval { low, high, level: 1.0 - level })
    }
}

/// Returns all assignments of the values to a first group of `size`, or the observed one and sampled ones.
fn assignments(values: &[f64], size: usize) -> Vec<Assignment> {
    let all = values.len();
    let number: f64 = (0..size).map(|k| (all - k) as f64 / (k + 1) as f64).product();
    let of = |chosen: &[usize]| {
        let mut sums = [Sums::default(); 2];
        for &place in chosen {
            sums[usize::from(place >= size)].add(values[place]);
        }
        Assignment(sums)
    };
    let mut chosen: Vec<usize> = (0..size).collect();
    let mut assignments = vec![of(&chosen)];
    if number <= COUNTED {
        while next(&mut chosen, all) {
            assignments.push(of(&chosen));
        }
        return assignments;
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut order: Vec<usize> = (0..all).collect();
    for _ in 0..SAMPLED {
        for place in 0..size {
            order.swap(place, random.random_range(place..all));
        }
        assignments.push(of(&order[..size]));
    }
    assignments
}

/// Advances `chosen` to the next combination of places below `all`, in lexicographic order. Returns `false` after the
/// last one.
fn next(chosen: &mut [usize], all: usize) -> bool {
    let size = chosen.len();
    let Some(place) = (0..size).rev().find(|&place| chosen[place] < all - size + place) else {
        return false;
    };
    chosen[place] += 1;
    for later in place + 1..size {
        chosen[later] = chosen[later - 1] + 1;
    }
    true
}

/// Returns ranks from 1. Equal values share their mean rank.
fn midranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_groups_can_be_counted_by_hand() {
        // Of the 20 assignments of 1 to 6, two differ by as much as the observed one.
        let apart = Unpaired::new(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert_eq!((apart.p(), apart.difference()), (0.1, Some(-3.0)));
        let equal = Unpaired::new(&[1.0, 1.0], &[1.0, 1.0]).unwrap();
        assert_eq!((equal.p(), equal.direction()), (1.0, 0.0));
        assert!(Unpaired::new(&[1.0], &[2.0, 3.0]).is_none());
    }

    #[test]
    fn the_interval_holds_what_the_test_does_not_rule_out() {
        let a = [3.1, 2.9, 3.3, 3.0, 3.2, 2.8, 3.15, 3.05];
        let b: Vec<f64> = a.iter().map(|value| value + 0.4).collect();
        let test = Unpaired::new(&a, &b).unwrap();
        let Interval { low, high, level } = test.interval(0.05).unwrap();
        assert!(test.p() < 0.05 && low < -0.4 && -0.4 < high && high < 0.0, "{low} {high}");
        assert!((level - 0.95).abs() < 1e-12);
        let shifted = |theta: f64| {
            let moved: Vec<f64> = a.iter().map(|value| value - theta).collect();
            Unpaired::new(&moved, &b).unwrap().p()
        };
        assert!(shifted(low + 1e-6) > 0.05 && shifted(low - 1e-6) <= 0.05);
        assert!(shifted(high - 1e-6) > 0.05 && shifted(high + 1e-6) <= 0.05);
    }

    #[test]
    fn a_diverged_run_is_the_worst_of_all() {
        let lost = Unpaired::new(&[1.0, 2.0, f64::INFINITY], &[0.1, 0.2, 0.3]).unwrap();
        assert_eq!((lost.direction(), lost.difference(), lost.interval(0.2)), (1.0, None, None));
        assert_eq!(lost.p(), 0.1);
    }

    #[test]
    fn numbers_of_any_size_and_many_runs_are_tested() {
        for size in [1e-300, 1.0, 1e300] {
            let test = Unpaired::new(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
            let scaled = Unpaired::new(
                &[1.0, 2.0, 3.0].map(|v| v * size),
                &[4.0, 5.0, 6.0].map(|v| v * size),
            );
            assert_eq!(scaled.unwrap().p(), test.p(), "{size}");
        }
        let many: Vec<f64> = (0..20).map(f64::from).collect();
        let more: Vec<f64> = many.iter().map(|value| value + 30.0).collect();
        let sampled = Unpaired::new(&many, &more).unwrap().p();
        assert!(sampled <= 2.0 / 100_001.0, "{sampled}");
    }
}
