use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum number of seeds with which a comparison counts all sign patterns.
const COUNTED: usize = 24;

/// The number of seeds of a comparison, and the moments at which it may be decided. It is fixed before the first
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// N: the planned number of seeds, or the largest number if the comparison continues until it is decided.
    pub seeds: u64,
    /// Whether the comparison may be decided after every seed. Otherwise it is decided once, after all seeds.
    pub until_decided: bool,
}

impl Schedule {
    /// Creates a schedule that decides once, after `seeds` seeds.
    pub const fn fixed(seeds: u64) -> Self {
        Self { seeds, until_decided: false }
    }

    /// Creates a schedule that decides as soon as the seeds show a difference, after `seeds` seeds at the latest.
    pub const fn until_decided(seeds: u64) -> Self {
        Self { seeds, until_decided: true }
    }

    /// Returns f(n): the share of the level that the first `n` seeds may spend. It is 1 after all planned seeds, and
    /// approaches 1.5 as seeds are added.
    pub fn spent(&self, n: u64) -> f64 {
        let share = n as f64 / self.seeds.max(1) as f64;
        match self.until_decided {
            _ if n > self.seeds => 1.0 + 0.5 * (1.0 - 1.0 / share),
            true => share * share,
            false if n == self.seeds => 1.0,
            false => 0.0,
        }
    }

    /// Returns whether N seeds can decide anything at `level`: whether 2^(N − 1) · `level` is at least 1.
    pub fn can_decide(&self, level: f64) -> bool {
        self.seeds >= fewest_seeds(level)
    }

    /// Returns the smallest number of first seeds that may decide *better* or *worse* at `level`; all seeds of a
    /// fixed schedule.
    pub fn first(&self, level: f64) -> u64 {
        let two = |n: &u64| level * self.spent(*n) * 2f64.powi(*n as i32) >= 2.0;
        match self.until_decided {
            true => (1..self.seeds).find(two).unwrap_or(self.seeds),
            false => self.seeds,
        }
    }

    /// Returns whether all 2^N patterns are counted, at the only moment that decides.
    pub(super) fn is_counted(&self) -> bool {
        !self.until_decided && self.seeds as usize <= COUNTED
    }
}

/// Returns the smallest number of seeds that can decide anything at `level`.
pub fn fewest_seeds(level: f64) -> u64 {
    (1..).find(|&n| level * 2f64.powi(n - 1) >= 1.0).map_or(u64::MAX, |n: i32| n as u64)
}

/// Returns b: the number of first seeds of which all sign patterns are stored.
pub(super) fn beginnings(level: f64) -> usize {
    const FEWEST: usize = 14;
    const STRUCK: f64 = 40.0;
    (FEWEST..COUNTED).find(|&b| level * 2f64.powi(b as i32) >= STRUCK).unwrap_or(COUNTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_spent_as_the_schedule_says() {
        let (fixed, open) = (Schedule::fixed(8), Schedule::until_decided(20));
        assert_eq!([4, 7, 8].map(|n| fixed.spent(n)), [0.0, 0.0, 1.0]);
        assert_eq!([5, 10, 20].map(|n| open.spent(n)), [0.0625, 0.25, 1.0]);
        assert_eq!((fixed.spent(16), open.spent(40)), (1.25, 1.25));
        assert!(open.spent(1_000_000) < 1.5);
    }

    #[test]
    fn the_first_seeds_are_those_that_can_decide() {
        let open = Schedule::until_decided(20);
        assert_eq!([0.05, 0.05 / 3.0, 0.05 / 20.0].map(|level| open.first(level)), [8, 10, 12]);
        assert_eq!(
            (Schedule::fixed(20).first(0.05), Schedule::until_decided(6).first(0.05)),
            (20, 6)
        );
    }

    #[test]
    fn few_seeds_decide_few_comparisons() {
        assert_eq!((fewest_seeds(0.05), fewest_seeds(0.05 / 7.0)), (6, 9));
        assert!(
            !Schedule::fixed(8).can_decide(0.05 / 7.0) && Schedule::fixed(9).can_decide(0.05 / 7.0)
        );
        assert!(Schedule::until_decided(6).can_decide(0.05));
    }

    #[test]
    fn finer_levels_keep_more_patterns() {
        assert_eq!([0.05, 0.05 / 20.0, 0.05 / 30.0, 1e-12].map(beginnings), [14, 14, 15, 24]);
    }
}
