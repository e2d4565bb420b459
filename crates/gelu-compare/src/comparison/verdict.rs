use super::statistics::{Pairs, direction, sign_flip, smallest_p};
use crate::measure::Look;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// α: the probability of a wrong verdict that a whole table may have.
pub const ALPHA: f64 = 0.05;

/// What a comparison of an arm with the baseline says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The arm is better by the primary measure.
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

/// The pairs of one comparison with what a look decided on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// What it was decided on; where it was not, all there are up to the next look or the last.
    pub pairs: Pairs,
    /// The level of the look, α/(m·K) or what is left of it: what p is held against, and what the
    /// intervals of the sentence and of *same* are made of.
    pub level: f64,
    /// The look at which it was decided, or the last one that was taken without a decision.
    pub look: Option<Look>,
    /// The look that it waits for; `None` where it is decided, or no look is left.
    pub next: Option<Look>,
    /// Two-sided, of the sign-flip test; `None` between looks, where nothing is tested.
    pub p: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Ruling {
    /// What a look decides, in this order: *same* where two one-sided t tests at `level` find the
    /// mean difference within ±`negligible`, where that is not 0; *better* or *worse* where p is no larger than `level`;
    /// else *undecided*. A diverged run leaves no mean, but an order.
    pub(super) fn at(look: Look, pairs: Pairs, level: f64, negligible: f64) -> Self {
        let differences = pairs.differences();
        let tolerance = pairs.tolerance();
        let p = sign_flip(&differences, tolerance);
        let verdict = match direction(&differences, tolerance) {
            _ if negligible > 0.0
                && pairs.mean().is_some_and(|mean| mean.is_within(negligible, level)) =>
            {
                Verdict::Same
            }
            ahead if ahead < 0.0 && p <= level => Verdict::Better,
            behind if behind > 0.0 && p <= level => Verdict::Worse,
            _ => Verdict::Undecided,
        };
        Self { pairs, level, look: Some(look), next: None, p: Some(p), verdict }
    }

    /// Pairs on their way to a look.
    pub(super) fn before(next: Look, look: Option<Look>, pairs: Pairs, level: f64) -> Self {
        let verdict = Verdict::Undecided;
        Self { pairs, level, look, next: Some(next), p: None, verdict }
    }

    /// p times the number of comparisons and looks that share α, at most 1: no larger than α where
    /// p is no larger than the level.
    pub fn p_adjusted(&self) -> Option<f64> {
        Some((self.p? * ALPHA / self.level).min(1.0))
    }

    /// Whether so few pairs cannot tell better from worse, however clear they are.
    pub fn too_few(&self) -> bool {
        smallest_p(self.pairs.len()) > self.level
    }
}

/// With how few pairs the smallest possible p is no larger than `level`; `None` where no number of
/// them is.
pub(super) fn fewest_pairs(level: f64) -> Option<usize> {
    (1..=21).find(|&count| smallest_p(count) <= level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Looks;

    fn ruling(pairs: Vec<[f64; 2]>, negligible: f64) -> Ruling {
        let look = Looks::once(pairs.len() as u64).first();
        Ruling::at(look, Pairs::new(pairs), ALPHA, negligible)
    }

    fn of(differences: &[f64], negligible: f64) -> Ruling {
        ruling(differences.iter().map(|&d| [1.0 + d, 1.0]).collect(), negligible)
    }

    #[test]
    fn same_is_decided_before_better_and_worse() {
        let small = [-0.01, -0.012, -0.011, -0.009, -0.01, -0.013, -0.008, -0.01];
        let same = of(&small, 0.1);
        assert_eq!(same.verdict, Verdict::Same);
        assert!(same.p_adjusted() <= Some(0.01), "though not zero");
        assert_eq!(of(&small, 0.001).verdict, Verdict::Better);
        assert_eq!(of(&small.map(|d| -d), 0.001).verdict, Verdict::Worse);
    }

    #[test]
    fn five_pairs_decide_nothing_but_same() {
        let ahead = of(&[-1.0, -1.1, -0.9, -1.2, -1.0], 1e-3);
        assert_eq!((ahead.verdict, ahead.p), (Verdict::Undecided, Some(0.0625)));
        assert!(ahead.too_few());
        assert_eq!(of(&[1e-5, -1e-5, 0.0, 2e-5, 1e-5], 1e-3).verdict, Verdict::Same);
        assert_eq!(of(&[], 1e-3).verdict, Verdict::Undecided);
        assert_eq!(of(&[0.0; 8], 1e-3).verdict, Verdict::Same);
        assert_eq!(
            of(&[0.0; 8], 0.0).verdict,
            Verdict::Undecided,
            "nobody has said what is negligible"
        );
        assert_eq!(of(&[0.5], 1.0).verdict, Verdict::Undecided);
    }

    #[test]
    fn diverged_runs_lose_their_pairs_and_are_never_the_same() {
        let lost = ruling([[f64::INFINITY, 1.0]].repeat(8), 1e9);
        assert_eq!(lost.verdict, Verdict::Worse);
        let both = ruling([[f64::INFINITY; 2]].repeat(8), 1e9);
        assert_eq!(both.verdict, Verdict::Undecided);
    }

    #[test]
    fn a_stricter_level_needs_more_pairs() {
        assert_eq!(fewest_pairs(ALPHA), Some(6));
        assert_eq!(fewest_pairs(ALPHA / 8.0), Some(9));
        // Eight comparisons and three looks: 2/2^10 is small enough, as the contract counts.
        assert_eq!(fewest_pairs(ALPHA / 24.0), Some(10));
        assert_eq!(fewest_pairs(1e-9), None);
    }
}
