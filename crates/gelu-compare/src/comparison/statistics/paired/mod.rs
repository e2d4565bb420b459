//! The paired test: which of two settings scores lower, from the differences of their runs seed by seed.
//!
//! Under the hypothesis that the differences are symmetric about 0, every sign pattern of their sizes is as likely as
//! the observed one. The test strikes patterns out, those with the largest sums first, as many as a [`Schedule`] allows.
//! A difference is shown once the observed pattern is struck.

mod counted;
mod improvement;
mod interval;
mod schedule;
mod sequence;
mod strikes;
mod tested;

pub(super) use improvement::Improvement;
pub use interval::Interval;
pub use schedule::{Schedule, fewest_seeds};
pub use tested::{Tested, tested};

use sequence::Sequence;
use strikes::{Patterns, Sides};

/// Steps of every bisection.
const STEPS: usize = 40;

/// A statement that seeds can show about the centre of the differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The centre is below 0.
    Below,
    /// The centre is above 0.
    Above,
    /// The centre is within ±δ.
    Same,
}

/// The current result of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The decision that the seeds have shown; `None` if they have shown nothing, or if the decision has lapsed.
    pub decision: Option<Decision>,
    /// The number of seeds after which something was first shown.
    pub after: Option<usize>,
}

impl Standing {
    /// Returns whether later seeds contradict what was shown, so that it no longer counts.
    pub fn has_lapsed(&self) -> bool {
        self.after.is_some() && self.decision.is_none()
    }
}

/// The paired test of one comparison.
#[derive(Clone, Debug)]
pub struct PairedTest {
    sequence: Sequence,
    patterns: Patterns,
    schedule: Schedule,
    level: f64,
    negligible: f64,
}

impl PairedTest {
    /// Creates a test at `level` of pairs `[a, b]` in the order of their seeds. Lower is better, and +∞ is a run that
    /// diverged. If `negligible` (δ) is 0, nothing is called the same.
    pub fn new(pairs: &[[f64; 2]], schedule: Schedule, level: f64, negligible: f64) -> Self {
        let sequence = Sequence::new(pairs);
        let counts = schedule.is_counted() && pairs.len() as u64 <= schedule.seeds;
        let patterns = Patterns::new(level, if counts { 0 } else { pairs.len() });
        Self { patterns, schedule, level, negligible: negligible * sequence.scale, sequence }
    }

    /// Returns what the pairs show.
    pub fn standing(&self) -> Standing {
        let sequence = &self.sequence;
        let n = sequence.len();
        let different = self.first(sequence, self.level, Sides::Two);
        let same = self.same_after();
        let after = different.into_iter().chain(same).min();
        let decision = match after {
            None => None,
            Some(_) if after == same => {
                self.sames().iter().all(|side| side.sum(n) > 0.0).then_some(Decision::Same)
            }
            Some(k) => match (sequence.sum(k), sequence.sum(n)) {
                (then, now) if then < 0.0 && now < 0.0 => Some(Decision::Below),
                (then, now) if then > 0.0 && now > 0.0 => Some(Decision::Above),
                _ => None,
            },
        };
        Standing { decision, after }
    }

    /// Returns the level at which the observed pattern would just be struck. Returns `None` before the last seed of a
    /// fixed schedule, and if what was shown has lapsed.
    pub fn p(&self) -> Option<f64> {
        let n = self.sequence.len();
        if n == 0 || !self.may_decide() || self.standing().has_lapsed() {
            return None;
        }
        if !self.schedule.until_decided && n as u64 == self.schedule.seeds {
            return Some(match self.schedule.is_counted() {
                true => counted::share(&self.sequence, n, Sides::Two),
                false => {
                    let sums = self.patterns.sums(&self.sequence);
                    counted::share_of(&sums, self.sequence.tolerance(n))
                }
            });
        }
        let struck = |level: f64| self.first(&self.sequence, level, Sides::Two).is_some();
        let (mut low, mut high) = match struck(self.level) {
            true => (0.0, self.level),
            false if struck(1.0) => (self.level, 1.0),
            false => return Some(1.0),
        };
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            match struck(middle) {
                true => high = middle,
                false => low = middle,
            }
        }
        Some(high)
    }

    /// Returns the number of seeds after which the first of the two is shown to be worse by no more than δ. Returns
    /// `None` if this is not shown, or no longer.
    pub fn no_worse_after(&self) -> Option<usize> {
        let [below, _] = self.sames();
        let shown = self.first(&below, self.level, Sides::One)?;
        (below.sum(below.len()) > 0.0).then_some(shown)
    }

    /// Returns whether the seeds so far may decide anything.
    fn may_decide(&self) -> bool {
        self.schedule.spent(self.sequence.len() as u64) > 0.0
    }

    /// Returns δ − d and δ + d. Both have to be shown to be above 0 for *same*.
    fn sames(&self) -> [Sequence; 2] {
        [self.sequence.shifted(self.negligible, -1.0), self.sequence.shifted(-self.negligible, 1.0)]
    }

    /// Returns the number of seeds after which the two are shown to be the same.
    fn same_after(&self) -> Option<usize> {
        if self.negligible <= 0.0 || self.sequence.any_diverged() {
            return None;
        }
        let [below, above] = self.sames();
        let of = |side: &Sequence| self.first(side, self.level, Sides::One);
        Some(of(&below)?.max(of(&above)?))
    }

    /// Returns the number of seeds after which the observed pattern of a sequence is struck at `level`.
    fn first(&self, sequence: &Sequence, level: f64, sides: Sides) -> Option<usize> {
        let (n, planned) = (sequence.len(), self.schedule.seeds as usize);
        let beyond = || self.patterns.struck_after(sequence, self.schedule, level, sides);
        if !self.schedule.is_counted() {
            return beyond();
        }
        match n >= planned && planned > 0 && is_struck(sequence, planned, level, sides) {
            true => Some(planned),
            false if n > planned => beyond().map(|after| after.max(planned + 1)),
            false => None,
        }
    }
}

/// Returns whether the observed pattern is one of the ⌊level · 2^n⌋ patterns that are struck.
fn is_struck(sequence: &Sequence, n: usize, level: f64, sides: Sides) -> bool {
    let all = 2f64.powi(n as i32);
    let observed = sides.size(sequence.sum(n));
    observed > 0.0 && counted::share(sequence, n, sides) * all <= (level * all).floor()
}

/// Returns the two-sided p of a fixed number of differences: the share of sign patterns whose sum is at least as
/// large in size as the observed one.
pub(crate) fn exact_p(differences: &[f64]) -> Option<f64> {
    let pairs: Vec<[f64; 2]> = differences.iter().map(|&d| pair(d)).collect();
    PairedTest::new(&pairs, Schedule::fixed(pairs.len() as u64), 0.05, 0.0).p()
}

/// Returns the two-sided p of the signed ranks of the differences (Wilcoxon 1945).
pub(crate) fn signed_rank_p(differences: &[f64]) -> Option<f64> {
    exact_p(&signed_ranks(differences))
}

/// Returns the signed ranks of differences by size. Equal sizes share their mean rank, and 0 has the rank 0.
pub(crate) fn signed_ranks(differences: &[f64]) -> Vec<f64> {
    sequence::signed_ranks(differences, 0.0)
}

/// Returns a pair of scores that differ by `d`.
fn pair(d: f64) -> [f64; 2] {
    match d {
        f64::NEG_INFINITY => [0.0, f64::INFINITY],
        d => [d, 0.0],
    }
}
