use super::statistics::{Forecast, Pairs, forecast};
use super::verdict::{ALPHA, Ruling, Verdict, fewest_pairs};
use crate::measure::{Criterion, Look, Looks};
use std::collections::BTreeMap;

/// Forecasts go so far beyond the pairs there are.
const FORESEEN: usize = 1000;

/// One arm beside the baseline: what both measured, by seed, wherever both runs are complete.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contrast {
    /// `[arm, baseline]`, as costs, of which lower is better; +∞ where a run diverged.
    pub by_seed: BTreeMap<u64, [f64; 2]>,
}

impl Contrast {
    /// Those of the seeds 1 to `last`.
    fn up_to(&self, last: u64) -> Pairs {
        Pairs::new(self.by_seed.range(1..=last).map(|(_, pair)| *pair).collect())
    }

    /// Whether none of the seeds 1 to `last` is missing.
    fn reaches(&self, last: u64) -> bool {
        self.by_seed.range(1..=last).count() as u64 == last
    }
}

/// What every contrast of a table is held against.
///
/// Every decision (*better*, *worse*, *same*) at every look is made at level α/(m·K) of m comparisons
/// and K planned looks, so that all of them together err in at most a share α of tables, whatever
/// depends on what (Bonferroni). A contrast is looked at when its own pairs are complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// m.
    pub comparisons: usize,
    /// When it is looked at.
    pub looks: Looks,
    /// δ.
    pub negligible: f64,
}

impl Criterion {
    /// What every comparison is held against.
    pub fn rules(&self) -> Rules {
        Rules {
            comparisons: self.comparisons,
            looks: self.looks.clone(),
            negligible: self.negligible,
        }
    }
}

impl Rules {
    /// The level of a look.
    pub fn level(&self, look: Look) -> f64 {
        ALPHA * look.share / self.comparisons.max(1) as f64
    }

    /// What the looks so far have decided. What is once decided stays so, whatever comes after; what
    /// lies beyond the last look counts for nothing.
    pub fn rule(&self, contrast: &Contrast) -> Ruling {
        let mut last: Option<Ruling> = None;
        for look in self.looks.iter() {
            let (level, pairs) = (self.level(look), contrast.up_to(look.seeds));
            if !contrast.reaches(look.seeds) {
                return Ruling::before(look, last.and_then(|ruling| ruling.look), pairs, level);
            }
            let ruling = Ruling::at(look, pairs, level, self.negligible);
            if ruling.verdict != Verdict::Undecided {
                return ruling;
            }
            last = Some(ruling);
        }
        last.expect("there is at least one look")
    }

    /// How many more pairs would probably decide what the last look left undecided, at the level of a
    /// look that is added. `None` where it is decided, or waits for a look, where there is no mean,
    /// and where these pairs do not tell.
    pub fn forecast(&self, ruling: &Ruling) -> Option<Forecast> {
        let mean = ruling.pairs.mean()?;
        let open = ruling.verdict == Verdict::Undecided && ruling.next.is_none();
        let level = self.level(self.looks.added());
        open.then(|| forecast(mean, self.negligible, level, FORESEEN)).flatten()
    }

    /// With how few pairs an added look could tell better from worse.
    pub fn fewest_pairs(&self) -> Option<usize> {
        fewest_pairs(self.level(self.looks.added()))
    }
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

    fn rules(comparisons: usize, looks: &Looks) -> Rules {
        Rules { comparisons, looks: looks.clone(), negligible: 1e-3 }
    }

    #[test]
    fn alpha_is_shared_by_all_comparisons_and_looks() {
        // All six agree: p = 0.031. Alone that is enough, beside another comparison it is not.
        let (six, once) = (contrast(&around(-1.0, 6)), Looks::once(6));
        assert_eq!(rules(1, &once).rule(&six).verdict, Verdict::Better);
        let of_two = rules(2, &once).rule(&six);
        assert_eq!((of_two.verdict, of_two.level), (Verdict::Undecided, 0.025));
        assert_eq!((of_two.p, of_two.p_adjusted()), (Some(0.03125), Some(0.0625)));
        let looks = Looks::until_decided(20);
        let decided = rules(8, &looks).rule(&contrast(&around(-1.0, 10)));
        assert_eq!(decided.verdict, Verdict::Better, "2/2^10 · 24 is below 0.05");
        let same = contrast(&[1e-4, -1e-4, 0.0, 2e-4, -2e-4, 1e-4]);
        assert_eq!(rules(1, &once).rule(&same).verdict, Verdict::Same);
        let wider = Looks::once(4);
        let few = contrast(&[8e-4, -1e-4, 4e-4, 2e-4]);
        assert_eq!(rules(1, &wider).rule(&few).verdict, Verdict::Same);
        assert_eq!(rules(8, &wider).rule(&few).verdict, Verdict::Undecided, "same has its level");
    }

    #[test]
    fn a_look_waits_for_all_pairs_of_its_comparison_and_for_no_other() {
        let looks = Looks::until_decided(20);
        let rules = rules(2, &looks);
        let nine = rules.rule(&contrast(&around(-1.0, 9)));
        let next = nine.next.map(|look| look.seeds);
        assert_eq!(
            (nine.verdict, nine.pairs.len(), nine.p, next),
            (Verdict::Undecided, 9, None, Some(10))
        );
        let mut missing = contrast(&around(-1.0, 14));
        missing.by_seed.remove(&3);
        assert_eq!(rules.rule(&missing).next.map(|look| look.seeds), Some(10));
        let ten = rules.rule(&contrast(&around(-1.0, 14)));
        assert_eq!((ten.verdict, ten.pairs.len(), ten.next), (Verdict::Better, 10, None));
        let open = rules.rule(&contrast(&around(0.0, 14)));
        assert_eq!(open.look.map(|look| look.seeds), Some(10));
        assert_eq!((open.pairs.len(), open.next.map(|look| look.seeds)), (14, Some(15)));
    }

    #[test]
    fn what_is_decided_stays_as_it_was_decided_and_what_was_not_planned_does_not_count() {
        let looks = Looks::until_decided(20);
        let mut turning = around(-1.0, 10);
        let decided = rules(1, &looks).rule(&contrast(&turning));
        turning.extend(around(9.0, 10));
        assert_eq!(rules(1, &looks).rule(&contrast(&turning)), decided);
        let more = contrast(&[around(0.0, 20), around(-50.0, 30)].concat());
        let more = rules(1, &looks).rule(&more);
        assert_eq!((more.verdict, more.pairs.len(), more.next), (Verdict::Undecided, 20, None));
    }

    #[test]
    fn an_added_look_has_its_price() {
        let looks = Looks::once(8).with_added([20]);
        let twenty = contrast(&[around(0.0, 8), around(-1.0, 12)].concat());
        let rules = rules(2, &looks);
        let ruling = rules.rule(&twenty);
        assert_eq!((ruling.pairs.len(), ruling.level), (20, 0.0125));
        assert!((ruling.p_adjusted().unwrap() - 4.0 * ruling.p.unwrap()).abs() < 1e-12);
        assert_eq!(rules.fewest_pairs(), Some(9), "2/2^9 is below 0.05 / 8");
    }

    #[test]
    fn a_forecast_is_made_once_no_look_is_left() {
        let looks = Looks::until_decided(15);
        let rules = rules(1, &looks);
        let forecast = |contrast: &Contrast| rules.forecast(&rules.rule(contrast));
        let wide: Vec<f64> = around(0.02, 15);
        assert_eq!(forecast(&contrast(&wide[..12])), None, "a look is to come");
        assert!(forecast(&contrast(&wide)).is_some());
        assert_eq!(forecast(&contrast(&around(-1.0, 15))), None, "decided");
        let mut lost = contrast(&wide);
        lost.by_seed.insert(4, [f64::INFINITY, 1.0]);
        assert_eq!(forecast(&lost), None);
    }
}
