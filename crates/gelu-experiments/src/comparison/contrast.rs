use super::statistics::{Pairs, holm};
use super::verdict::{ALPHA, Ruling, Verdict, p_of};
use crate::measure::Looks;
use std::collections::BTreeMap;

/// One activation beside the baseline at one dropout rate: what both measured, by seed, wherever
/// both runs are complete.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contrast {
    /// `[activation, baseline]`; +∞ where a run diverged.
    pub by_seed: BTreeMap<u64, [f64; 2]>,
}

impl Contrast {
    /// All pairs.
    fn all(&self) -> Pairs {
        Pairs::new(self.by_seed.values().copied().collect())
    }

    /// The pairs of the seeds 1 to `last`, once none is missing.
    fn up_to(&self, last: u64) -> Option<Pairs> {
        let pairs: Option<Vec<_>> = (1..=last).map(|s| self.by_seed.get(&s).copied()).collect();
        pairs.map(Pairs::new)
    }
}

/// Verdicts on all pairs there are: one look, Holm over all contrasts.
pub fn rule(contrasts: &[Contrast], negligible: f64) -> Vec<Ruling> {
    let pairs: Vec<Pairs> = contrasts.iter().map(Contrast::all).collect();
    let p: Vec<f64> = pairs.iter().map(p_of).collect();
    let adjusted = holm(&p);
    let family = contrasts.len();
    let ruled = pairs.into_iter().zip(p.into_iter().zip(adjusted));
    ruled
        .map(|(pairs, (p, adjusted))| Ruling::new(pairs, [p, adjusted], ALPHA, family, negligible))
        .collect()
}

/// How far a comparison that goes on until it is decided has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// One a contrast. A decided one is as it was at the look that decided it.
    pub rulings: Vec<Ruling>,
    /// Seeds that the next look waits for; `None` where all is decided or no look is left.
    pub next_look: Option<u64>,
}

/// Verdicts of a comparison that is looked at again and again: every look at its share of α, Holm
/// over the contrasts of a look, and what is once decided stays so.
///
/// A look takes place when every contrast that is still open has all pairs up to it. One found
/// better or worse has left Holm's family; one found the same stays in it, as if its p were 1: it
/// may be a true hypothesis that a later look must not reject too easily.
pub fn follow(contrasts: &[Contrast], looks: Looks, negligible: f64) -> Followed {
    let level = looks.level(ALPHA);
    let mut decided: Vec<Option<Ruling>> = vec![None; contrasts.len()];
    let mut next_look = None;
    for look in looks.pairs() {
        let open: Vec<usize> = (0..contrasts.len()).filter(|&i| decided[i].is_none()).collect();
        if open.is_empty() {
            break;
        }
        let pairs: Option<Vec<Pairs>> = open.iter().map(|&i| contrasts[i].up_to(look)).collect();
        let Some(pairs) = pairs else {
            next_look = Some(look);
            break;
        };
        for (index, ruling) in open.iter().zip(rule_open(pairs, &decided, level, negligible)) {
            decided[*index] = (ruling.verdict != Verdict::Undecided).then_some(ruling);
        }
    }
    let open: Vec<usize> = (0..contrasts.len()).filter(|&i| decided[i].is_none()).collect();
    let pairs = open.iter().map(|&i| contrasts[i].all()).collect();
    for (index, ruling) in open.iter().zip(rule_open(pairs, &decided, level, negligible)) {
        // What more pairs than the last look's say is shown, and decides nothing.
        decided[*index] = Some(Ruling { verdict: Verdict::Undecided, ..ruling });
    }
    Followed { rulings: decided.into_iter().flatten().collect(), next_look }
}

/// The rulings of the contrasts that are open, beside those decided before.
fn rule_open(
    pairs: Vec<Pairs>,
    decided: &[Option<Ruling>],
    level: f64,
    negligible: f64,
) -> Vec<Ruling> {
    let same = decided.iter().flatten().filter(|r| r.verdict == Verdict::Same).count();
    let p: Vec<f64> = pairs.iter().map(p_of).collect();
    let family = p.len() + same;
    let adjusted = holm(&[p.clone(), vec![1.0; same]].concat());
    let ruled = pairs.into_iter().zip(p.into_iter().zip(adjusted));
    ruled
        .map(|(pairs, (p, adjusted))| Ruling::new(pairs, [p, adjusted], level, family, negligible))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences for the seeds 1, 2, ….
    fn contrast(differences: &[f64]) -> Contrast {
        let pair = |(seed, d): (u64, &f64)| (seed, [1.0 + d, 1.0]);
        Contrast { by_seed: (1..).zip(differences).map(pair).collect() }
    }

    /// `count` differences around `mean`, no two alike.
    fn around(mean: f64, count: usize) -> Vec<f64> {
        (0..count).map(|i| mean + 0.1 * f64::sin(1.0 + 2.0 * i as f64)).collect()
    }

    fn verdicts(rulings: &[Ruling]) -> Vec<Verdict> {
        rulings.iter().map(|ruling| ruling.verdict).collect()
    }

    #[test]
    fn holm_is_over_all_contrasts_of_a_table() {
        // All six agree: p = 0.031 each. Alone that is enough, beside another it is not.
        let six = contrast(&around(-1.0, 6));
        assert_eq!(verdicts(&rule(std::slice::from_ref(&six), 1e-3)), [Verdict::Better]);
        let both = rule(&[six.clone(), contrast(&around(0.0, 6))], 1e-3);
        assert_eq!(verdicts(&both), [Verdict::Undecided; 2]);
        assert_eq!((both[0].p, both[0].p_adjusted), (Some(0.03125), Some(0.0625)));
    }

    #[test]
    fn a_look_waits_for_every_open_contrast() {
        let looks = Looks::up_to(20);
        let followed =
            follow(&[contrast(&around(-1.0, 8)), contrast(&around(0.0, 7))], looks, 1e-3);
        assert_eq!(verdicts(&followed.rulings), [Verdict::Undecided; 2]);
        assert_eq!(followed.next_look, Some(8));
        // At the first look 2/256 · 2 is above 0.05 / 4; at the second 2/4096 · 2 is not.
        let followed =
            follow(&[contrast(&around(-1.0, 8)), contrast(&around(0.0, 8))], looks, 1e-3);
        assert_eq!((followed.next_look, followed.rulings[0].level), (Some(12), 0.0125));
        let two = [contrast(&around(-1.0, 12)), contrast(&around(0.0, 12))];
        let followed = follow(&two, looks, 1e-3);
        assert_eq!(verdicts(&followed.rulings), [Verdict::Better, Verdict::Undecided]);
        assert_eq!(followed.next_look, Some(16));
    }

    #[test]
    fn what_is_decided_stays_as_it_was_decided() {
        let looks = Looks::up_to(20);
        let mut turning = around(-1.0, 12);
        let decided = follow(&[contrast(&turning)], looks, 1e-3);
        assert_eq!((decided.next_look, decided.rulings[0].pairs.len()), (None, 8));
        turning.extend(around(9.0, 8));
        assert_eq!(follow(&[contrast(&turning)], looks, 1e-3), decided);
    }

    #[test]
    fn after_the_last_look_nothing_is_wanted() {
        let all = follow(&[contrast(&around(0.0, 12))], Looks::up_to(12), 1e-3);
        assert_eq!((verdicts(&all.rulings), all.next_look), (vec![Verdict::Undecided], None));
        // More pairs than the last look's do not decide either.
        let more = contrast(&[around(0.0, 12), around(-50.0, 30)].concat());
        let more = follow(&[more], Looks::up_to(12), 1e-3);
        assert_eq!((verdicts(&more.rulings), more.next_look), (vec![Verdict::Undecided], None));
        assert_eq!(more.rulings[0].pairs.len(), 42);
    }

    #[test]
    fn one_found_the_same_still_counts_in_holms_family() {
        let same = contrast(&around(0.0, 20).iter().map(|d| d * 1e-6).collect::<Vec<_>>());
        let open = contrast(&around(-0.04, 12));
        let followed = follow(&[same, open], Looks::up_to(20), 1e-3);
        assert_eq!(followed.rulings[0].verdict, Verdict::Same);
        assert_eq!((followed.rulings[1].family, followed.next_look), (2, Some(16)));
    }
}
