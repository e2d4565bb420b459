//! A row of judgements: is each of several changes an improvement?
//!
//! Judgement j = 1, 2, … has the level 0.05/(j·(j + 1)), so that together they err with a probability of at most
//! 0.05. A new row begins when a change is adopted.

use super::memory::Memory;
use super::paired::{Improvement, Interval, PairedTest, Schedule};
use super::{Pairs, nothing_varies};

/// The maximum probability that a whole row of judgements adopts a change that is no improvement.
pub(crate) const LEVEL: f64 = 0.05;
/// The last judgement of a row.
pub const LAST: u64 = 900;
/// The numbers of pairs after which a judgement may be given up, each with the smallest mean·√n/s at which it
/// continues.
const FUTILITY: [(usize, f64); 4] = [(FIRST, 0.0), (5, 0.0), (8, 0.8), (12, 1.6)];
/// The smallest number of pairs after which a judgement can end.
pub(crate) const FIRST: usize = 3;
/// The smallest number of pairs that a judgement may plan.
const FEWEST: u64 = 20;

/// A judgement of a change from the pairs so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The change is an improvement, which this number of pairs has shown.
    Improvement(usize),
    /// The change is given up after this number of pairs, because they make an improvement unlikely or are all that
    /// were planned.
    GivenUp(usize),
    /// Another pair is needed.
    Open,
}

/// Returns whether a row has a judgement with the number `j`.
pub(crate) fn is_judgement(j: u64) -> bool {
    (1..=LAST).contains(&j)
}

/// Returns the one-sided level of judgement `j`, counted from 1: 0.05/(j·(j + 1)).
pub fn level(j: u64) -> f64 {
    LEVEL / (j as f64 * (j as f64 + 1.0))
}

/// Returns the schedule of judgement `j`: at most N_j = max(20, ⌈log₂(j·(j + 1)/0.05)⌉ + 2) pairs, until it is decided.
pub fn schedule(j: u64) -> Schedule {
    let bits = (1.0 / level(j)).log2().ceil() as u64;
    Schedule::until_decided(FEWEST.max(bits + 2))
}

/// Judges a change as number `j` of its row by the pairs `[change, incumbent]` so far. Lower is better, and +∞ is a
/// run that diverged.
///
/// The test checks after every pair, in their order, and stops at the first pair that decides. Later pairs change
/// nothing.
///
/// # Panics
///
/// Panics if `j` is 0 or beyond [`LAST`], or if a score is NaN or −∞.
pub fn judge(j: u64, pairs: &[[f64; 2]]) -> Judgement {
    assert!(is_judgement(j), "judgement {j}; a row has the judgements 1 to {LAST}");
    let schedule = schedule(j);
    let pairs = &pairs[..pairs.len().min(schedule.seeds as usize)];
    let improvement = Improvement::new(pairs, schedule, level(j));
    let hopeless = FUTILITY.iter().find(|&&(n, least)| {
        n <= pairs.len()
            && improvement.strength(n).is_none_or(|strength| strength < least || strength <= 0.0)
    });
    let last = hopeless.map_or(pairs.len(), |&(n, _)| n);
    match improvement.shown_after(last) {
        Some(after) => Judgement::Improvement(after),
        None if hopeless.is_some() || last as u64 == schedule.seeds => Judgement::GivenUp(last),
        None => Judgement::Open,
    }
}

/// Returns the same as [`judge`]. Stores the results and returns them again for the same numbers, because a dashboard
/// asks once per second.
///
/// If nothing varies with the seed, the runs of a setting are copies of one run, so no improvement is shown.
pub(in super::super) fn judged(j: u64, pairs: &Pairs) -> Judgement {
    static BEFORE: Memory<Judgement> = Memory::new();
    match BEFORE.recall(&numbers(j, pairs), || judge(j, pairs.list())) {
        Judgement::Improvement(after) if nothing_varies(pairs) => Judgement::GivenUp(after),
        judgement => judgement,
    }
}

/// Returns the differences, change − incumbent, that judgement `j` does not rule out. A judgement that shows an
/// improvement rules out 0. Returns `None` with a diverged run, if nothing is ruled out, and with more than 20 pairs,
/// for which it would take minutes.
pub(in super::super) fn interval(j: u64, pairs: &Pairs) -> Option<Interval> {
    const MOST: usize = 20;
    static BEFORE: Memory<Option<Interval>> = Memory::new();
    if pairs.len() > MOST {
        return None;
    }
    BEFORE.recall(&numbers(j, pairs), || {
        PairedTest::new(pairs.list(), schedule(j), level(j), 0.0).one_sided_interval()
    })
}

/// Returns all numbers that a judgement depends on.
fn numbers(j: u64, pairs: &Pairs) -> Vec<f64> {
    [pairs.list().as_flattened(), &[j as f64]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(gains: &[f64]) -> Vec<[f64; 2]> {
        gains.iter().enumerate().map(|(s, gain)| [s as f64 - gain, s as f64]).collect()
    }

    #[test]
    fn levels_add_up_to_the_whole_and_every_judgement_can_decide() {
        let sum: f64 = (1..=LAST).map(level).sum();
        assert!(sum < LEVEL && sum > 0.998 * LEVEL);
        assert_eq!((schedule(1).seeds, schedule(100).seeds, schedule(900).seeds), (20, 20, 26));
        assert!((1..=LAST).all(|j| schedule(j).can_decide(level(j))));
    }

    #[test]
    fn an_improvement_is_shown_as_soon_as_the_level_allows() {
        // One of 2^7 patterns is more than 0.025 · (7/20)^2, and one of 2^8 is no more than 0.025 · (8/20)^2.
        let ahead: Vec<f64> = (0..12).map(|s| 1.0 + 0.01 * f64::from(s)).collect();
        assert_eq!(judge(1, &pairs(&ahead[..7])), Judgement::Open);
        assert_eq!(judge(1, &pairs(&ahead)), Judgement::Improvement(8));
        assert!(
            matches!(judge(50, &pairs(&[1.0; 20])), Judgement::Improvement(after) if after > 9)
        );
    }

    #[test]
    fn what_does_not_look_like_an_improvement_is_given_up() {
        assert_eq!(judge(1, &pairs(&[-1.0, 0.5, 0.1])), Judgement::GivenUp(3));
        assert_eq!(judge(1, &pairs(&[0.0; 3])), Judgement::GivenUp(3));
        assert_eq!(judge(1, &pairs(&[1.0, 0.5])), Judgement::Open);
        let weak = [1.0, -0.9, 1.0, -0.9, 1.0, -0.9, 1.0, -0.9, 1.0];
        assert_eq!(judge(1, &pairs(&weak)), Judgement::GivenUp(8));
        // The ranks 1 and 2 sum to no more than the 3 of a diverged run; 1, 2 and 3 sum to more than its 4.
        let diverged = [[f64::INFINITY, 1.0], [1.0, 2.0], [1.0, 2.5], [1.0, 3.0]];
        assert_eq!(judge(1, &diverged[..3]), Judgement::GivenUp(3));
        assert_eq!(
            judge(1, &[diverged[1], diverged[2], diverged[3], diverged[0]]),
            Judgement::Open
        );
    }

    #[test]
    fn the_interval_of_an_improvement_is_beyond_0_and_no_other_is() {
        let mut improvements = 0;
        for k in 0..40_u64 {
            let noise = |s: u64| ((s * 7919 + k * 104_729 + s * s * k * 31) % 1000) as f64;
            let all: Vec<[f64; 2]> = (1..=20).map(|s| [noise(s) - 450.0, noise(s + 100)]).collect();
            let (count, is_shown) = match judge(3, &all) {
                Judgement::Improvement(after) => (after, true),
                Judgement::GivenUp(after) => (after, false),
                Judgement::Open => unreachable!("all pairs are there"),
            };
            let high = interval(3, &Pairs::new(all[..count].to_vec())).map_or(1.0, |i| i.high);
            assert_eq!(high < 0.0, is_shown, "{k}: {high}");
            improvements += usize::from(is_shown);
        }
        assert!((5..35).contains(&improvements), "{improvements}");
    }

    #[test]
    fn later_pairs_change_nothing() {
        let mut gains = vec![1.0; 8];
        gains.extend([-100.0; 12]);
        assert_eq!(judge(1, &pairs(&gains)), Judgement::Improvement(8));
        let mut late = vec![-1.0; 3];
        late.extend([100.0; 17]);
        assert_eq!(judge(1, &pairs(&late)), Judgement::GivenUp(3));
    }
}
