//! How scores become a finding.

use super::details::details;
use super::finding::{Finding, FindingInterval, Guard, ScoreSummary, Scores};
use super::rule::Rule;
use super::sample::Sample;
use super::sentence::sentence;
use super::statistics::session::Judgement;
use super::statistics::{
    Decision, PairedTest, Pairs, Proportion, Schedule, Unpaired, detectable, forecast,
    nothing_varies, session, step, tested,
};
use super::verdict::Verdict;
use super::wording::Wording;
use crate::extension::WiderInterval;
use std::collections::BTreeMap;

impl Finding {
    /// Judges the scores by `rule` and writes the sentences with `wording`.
    pub fn of(scores: Scores, rule: &Rule, wording: &Wording) -> Self {
        Self::widened(scores, rule, wording, |_, _| None)
    }

    /// Returns the same as [`of`](Self::of), with an interval that holds for more than new seeds. If the test has an
    /// interval, `wider` gets the number of seeds and the α of one comparison, and returns an interval of costs.
    pub fn widened(
        scores: Scores,
        rule: &Rule,
        wording: &Wording,
        wider: impl FnOnce(usize, f64) -> Option<Result<WiderInterval, String>>,
    ) -> Self {
        let (pairs, is_whole) = judged(&scores.by_seed, rule.schedule);
        let list = pairs.list();
        let n = list.len() as u64;
        let coarse = coarse(&pairs, rule.negligible).map(|step| wording.of_measure(step).abs());
        let negligible = if coarse.is_some() { 0.0 } else { rule.negligible };
        let is_constant = scores.sample != Sample::Tasks && nothing_varies(&pairs);
        let judgement = rule.judgement.map(|j| session::judged(j, &pairs));
        let is_tested = is_whole && !is_constant && judgement.is_none();
        let tested = is_tested.then(|| tested(list, rule.schedule, rule.share(), negligible));
        let interval = match (rule.judgement, judgement) {
            (Some(_), Some(Judgement::Open)) => None,
            (Some(_), _) if is_constant => None,
            (Some(j), _) => session::interval(j, &pairs),
            (None, _) => tested.and_then(|tested| tested.interval),
        };
        let mean = pairs.mean();
        let decision = tested.and_then(|tested| tested.standing.decision);
        let no_worse = scores.guard.as_ref().map(|guard| guard.is_kept(rule, pairs.len()));
        let verdict = match (judgement, decision) {
            (Some(Judgement::Improvement(_)), _) => Verdict::Better,
            (Some(_), _) => Verdict::Undecided,
            (None, Some(Decision::Below)) if no_worse != Some(false) => Verdict::Better,
            (None, Some(Decision::Above)) => Verdict::Worse,
            (None, Some(Decision::Same)) => Verdict::Same,
            _ => Verdict::Undecided,
        };
        let of_measure = |cost: f64| wording.of_measure(cost);
        let interval = interval.map(|found| FindingInterval::in_unit(found, wording));
        let better = pairs.better();
        let probability = Proportion::new(better as f64 + 0.5 * pairs.ties() as f64, pairs.len());
        let [diverged, baseline_diverged] = pairs.diverged();
        let summary = |side| {
            let costs: Vec<f64> = list.iter().map(|pair| pair[side]).collect();
            ScoreSummary::of(&costs, wording)
        };
        let is_open = verdict == Verdict::Undecided && tested.is_some() && n >= rule.schedule.seeds;
        let forecast_seeds = mean
            .filter(|_| is_open && negligible > 0.0 && scores.sample != Sample::Tasks)
            .and_then(|mean| forecast(mean, rule.schedule, negligible, rule.share()))
            .map(|total| total.max(rule.fewest_seeds()));
        let has_interval = mean.is_some() && tested.as_ref().is_some_and(|t| t.p.is_some());
        let alpha = rule.share() * rule.schedule.spent(n);
        let wider = has_interval.then(|| wider(pairs.len(), alpha)).flatten();
        let mut finding = Self {
            verdict,
            unpaired_runs: None,
            seeds: pairs.len(),
            planned_seeds: rule.schedule.seeds,
            until_decided: rule.schedule.until_decided,
            decided_after: match judgement {
                Some(Judgement::Improvement(after)) => Some(after),
                Some(_) => None,
                None => tested.and_then(|tested| tested.standing.after),
            },
            lapsed: tested.is_some_and(|tested| tested.standing.has_lapsed()),
            mean: mean.map(|mean| of_measure(mean.mean)),
            interval,
            p: tested
                .and_then(|t| t.p)
                .filter(|_| judgement.is_none())
                .map(|p| (p * rule.comparisons.max(1) as f64).min(1.0)),
            alpha: rule.alpha,
            alpha_spent: rule.alpha * rule.schedule.spent(n).max(1.0),
            scores: summary(0),
            baseline_scores: summary(1).filter(|_| scores.sample == Sample::Seeds),
            wider_interval: wider.clone().and_then(Result::ok).map(|wider| {
                let [low, high] = wording.ends_of_measure([wider.low, wider.high]);
                WiderInterval { low, high, ..wider }
            }),
            no_wider_interval: wider.and_then(Result::err),
            probability_better: probability.as_ref().map(Proportion::share),
            probability_better_interval: probability.map(|share| share.interval(0.05)),
            detectable: mean.filter(|_| judgement.is_none()).and_then(|mean| {
                Some(mean.deviation * detectable(rule.schedule, rule.share())?).filter(|d| *d > 0.0)
            }),
            variance_ratio: pairs.variance_ratio().filter(|_| scores.sample == Sample::Seeds),
            better,
            ties: pairs.ties(),
            diverged,
            baseline_diverged,
            outstanding: scores.outstanding,
            forecast_seeds,
            no_worse,
            sentence: String::new(),
            details: None,
            over: None,
            arm: scores.arm,
            baseline: scores.baseline,
            judgement,
            rule: Some(rule.clone()),
            coarse,
            is_constant,
            built_differently: scores.built_differently,
            sample: scores.sample,
            pairs,
        };
        finding.sentence = sentence(&finding, wording, scores.guard.as_ref());
        finding.details = details(&finding, wording);
        finding
    }

    /// Judges two groups of runs that share no seeds. The test is done once.
    pub fn of_unpaired(
        [arm, baseline]: [String; 2],
        costs: [Vec<f64>; 2],
        test: &Unpaired,
        rule: &Rule,
        wording: &Wording,
    ) -> Self {
        let p = (test.p() * rule.comparisons.max(1) as f64).min(1.0);
        let verdict = match test.direction() {
            ahead if ahead < 0.0 && p <= rule.alpha => Verdict::Better,
            behind if behind > 0.0 && p <= rule.alpha => Verdict::Worse,
            _ => Verdict::Undecided,
        };
        let interval = test.interval(rule.share());
        let lost = |costs: &[f64]| costs.iter().filter(|cost| !cost.is_finite()).count();
        let mut finding = Self {
            unpaired_runs: Some([costs[0].len(), costs[1].len()]),
            verdict,
            mean: test.difference().map(|d| wording.of_measure(d)),
            interval: interval.map(|found| FindingInterval::in_unit(found, wording)),
            p: Some(p),
            scores: ScoreSummary::of(&costs[0], wording),
            baseline_scores: ScoreSummary::of(&costs[1], wording),
            diverged: lost(&costs[0]),
            baseline_diverged: lost(&costs[1]),
            ..Self::of(Scores::new(&arm, &baseline, BTreeMap::new()), rule, wording)
        };
        finding.sentence = sentence(&finding, wording, None);
        finding.details = details(&finding, wording);
        finding
    }
}

/// Returns the pairs that are judged, and whether there is no gap between their seeds. These are the seeds from 1 on
/// without a gap. Before a fixed plan may decide, they are all of its seeds that exist, so that a missing run hides
/// no other.
fn judged(by_seed: &BTreeMap<u64, [f64; 2]>, schedule: Schedule) -> (Pairs, bool) {
    let whole = by_seed.keys().zip(1..).take_while(|(seed, place)| **seed == *place).count();
    let of = |last: u64| {
        let planned = by_seed.iter().filter(|(seed, _)| (1..=last).contains(*seed));
        Pairs::new(planned.map(|(_, pair)| *pair).collect())
    };
    match !schedule.until_decided && (whole as u64) < schedule.seeds {
        true => {
            let pairs = of(schedule.seeds);
            let is_whole = pairs.len() == whole;
            (pairs, is_whole)
        }
        false => (of(whole as u64), true),
    }
}

/// Returns the step of the scores if it is wider than δ. With such scores, nothing can be shown to be the same within
/// δ.
fn coarse(pairs: &Pairs, negligible: f64) -> Option<f64> {
    if negligible <= 0.0 || pairs.any_diverged() {
        return None;
    }
    step(pairs.list().as_flattened()).filter(|step| *step > negligible * (1.0 + 1e-9))
}

impl Guard {
    /// Returns whether the first `n` seeds show that the setting is worse by no more than the margin.
    fn is_kept(&self, rule: &Rule, n: usize) -> bool {
        let (pairs, is_whole) = judged(&self.by_seed, rule.schedule);
        let list = pairs.list();
        is_whole
            && list.len() >= n
            && PairedTest::new(&list[..n], rule.schedule, rule.share(), self.margin)
                .no_worse_after()
                .is_some()
    }
}
