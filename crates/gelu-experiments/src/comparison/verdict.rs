use super::statistics::{Mean, Pairs, direction, sign_flip, smallest_p};
use crate::measure::Looks;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// α: the probability of a wrong verdict that a whole table may have.
pub const ALPHA: f64 = 0.05;

/// What a comparison of an activation with the baseline says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The activation is better: lower by the primary measure.
    Better,
    /// It is worse.
    Worse,
    /// The difference is smaller than anybody would care about.
    Same,
    /// Neither is shown.
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Undecided => "undecided",
        })
    }
}

/// The pairs of one comparison with what was decided on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// What it was decided on; all there are where it was not.
    pub pairs: Pairs,
    /// Of the sign-flip test, before Holm; `None` without pairs.
    pub p: Option<f64>,
    /// After Holm, over all comparisons that are tested together.
    pub p_adjusted: Option<f64>,
    /// The level that both p and the interval of *same* are held against.
    pub level: f64,
    /// How many comparisons are tested together.
    pub family: usize,
    /// The verdict.
    pub verdict: Verdict,
}

impl Ruling {
    /// Decides in this order: *same* where two one-sided t tests at `level` find the mean
    /// difference within ±`negligible`; *better* or *worse* where the adjusted p is no larger than
    /// `level`; else *undecided*. A diverged run leaves no mean, but an order.
    pub(super) fn new(
        pairs: Pairs,
        [p, p_adjusted]: [f64; 2],
        level: f64,
        family: usize,
        negligible: f64,
    ) -> Self {
        let differences = pairs.differences();
        let mean = Mean::of(&differences).filter(|_| !pairs.any_diverged());
        let verdict = match direction(&differences) {
            _ if mean.is_some_and(|mean| mean.is_within(negligible, level)) => Verdict::Same,
            ahead if ahead < 0.0 && p_adjusted <= level => Verdict::Better,
            behind if behind > 0.0 && p_adjusted <= level => Verdict::Worse,
            _ => Verdict::Undecided,
        };
        let tested = |p| (!pairs.is_empty()).then_some(p);
        Self { p: tested(p), p_adjusted: tested(p_adjusted), level, family, verdict, pairs }
    }

    /// With how few pairs the smallest possible p, after Holm, can be small enough.
    pub fn fewest_pairs(&self) -> usize {
        let decides = |n: &usize| self.family as f64 * smallest_p(*n) <= self.level;
        (1..=20).find(decides).unwrap_or(21)
    }

    /// The first look at which there are so many.
    pub fn first_deciding_look(&self) -> u64 {
        let fewest = self.fewest_pairs() as u64;
        Looks::FIRST + fewest.saturating_sub(Looks::FIRST).next_multiple_of(Looks::STEP)
    }
}

/// Two-sided p of pairs; 1 without any.
pub(super) fn p_of(pairs: &Pairs) -> f64 {
    sign_flip(&pairs.differences())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruling(differences: &[f64], negligible: f64) -> Ruling {
        let pairs = Pairs::new(differences.iter().map(|&d| [1.0 + d, 1.0]).collect());
        let p = p_of(&pairs);
        Ruling::new(pairs, [p, p], ALPHA, 1, negligible)
    }

    #[test]
    fn same_is_decided_before_better_and_worse() {
        let small = [-0.01, -0.012, -0.011, -0.009, -0.01, -0.013, -0.008, -0.01];
        let same = ruling(&small, 0.1);
        assert_eq!(same.verdict, Verdict::Same);
        assert!(same.p_adjusted <= Some(0.01), "though not zero");
        assert_eq!(ruling(&small, 0.001).verdict, Verdict::Better);
        assert_eq!(ruling(&small.map(|d| -d), 0.001).verdict, Verdict::Worse);
    }

    #[test]
    fn five_pairs_decide_nothing_but_same() {
        let ahead = ruling(&[-1.0, -1.1, -0.9, -1.2, -1.0], 1e-3);
        assert_eq!((ahead.verdict, ahead.p), (Verdict::Undecided, Some(0.0625)));
        assert_eq!((ahead.fewest_pairs(), ahead.first_deciding_look()), (6, 8));
        assert_eq!(ruling(&[1e-5, -1e-5, 0.0, 2e-5, 1e-5], 1e-3).verdict, Verdict::Same);
        assert_eq!(ruling(&[], 1e-3).verdict, Verdict::Undecided);
        assert_eq!(ruling(&[], 1e-3).p, None);
        assert_eq!(ruling(&[0.5], 1.0).verdict, Verdict::Undecided);
    }

    #[test]
    fn diverged_runs_lose_their_pairs_and_are_never_the_same() {
        let lost = Pairs::new([[f64::INFINITY, 1.0]].repeat(8));
        let p = p_of(&lost);
        let ruled = Ruling::new(lost.clone(), [p, p], ALPHA, 1, 1e9);
        assert_eq!(ruled.verdict, Verdict::Worse);
        let both = Pairs::new([[f64::INFINITY; 2]].repeat(8));
        let p = p_of(&both);
        assert_eq!(Ruling::new(both, [p, p], ALPHA, 1, 1e9).verdict, Verdict::Undecided);
    }

    #[test]
    fn more_comparisons_need_more_pairs() {
        let mut of_four = ruling(&[1.0], 0.1);
        of_four.family = 4;
        assert_eq!((of_four.fewest_pairs(), of_four.first_deciding_look()), (8, 8));
        of_four.family = 5;
        assert_eq!((of_four.fewest_pairs(), of_four.first_deciding_look()), (8, 8));
        of_four.family = 8;
        assert_eq!((of_four.fewest_pairs(), of_four.first_deciding_look()), (9, 12));
    }
}
