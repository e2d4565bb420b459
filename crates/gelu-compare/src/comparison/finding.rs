use super::details::details;
use super::rule::Rule;
use super::sentence::sentence;
use super::statistics::session::Judgement;
use super::statistics::{
    Decision, Interval, Mean, Pairs, Plan, Proportion, Unpaired, detectable, forecast,
    nothing_varies, session, step, tested,
};
use super::tasks::OverTasks;
use super::verdict::Verdict;
use super::wording::Wording;
use crate::extension::WiderInterval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The scores of a setting and of the baseline, with facts about their runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// The setting's name in sentences.
    pub arm: String,
    /// The baseline's name in sentences.
    pub baseline: String,
    /// `[arm, baseline]` of each seed whose two runs are complete, as costs, of which lower is better; +∞ if a run
    /// diverged.
    pub by_seed: BTreeMap<u64, [f64; 2]>,
    /// The scores of the metric that must not get worse.
    pub guard: Option<Guard>,
    /// Number of planned runs that are not complete.
    pub outstanding: usize,
    /// Whether the networks of the two settings are built differently. Seeds then pair batches and random numbers,
    /// but not initial weights.
    pub built_differently: bool,
    /// The unit that each score belongs to.
    pub sample: Sample,
}

/// The units that the scores of a comparison belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sample {
    /// Seeds, the same for both settings.
    #[default]
    Seeds,
    /// Seeds; the baseline is a number.
    Target,
    /// Tasks; scores are differences, and the baseline is 0.
    Tasks,
}

impl Sample {
    /// Returns the word for one unit: `seed` or `task`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Seeds | Self::Target => "seed",
            Self::Tasks => "task",
        }
    }
}

/// A metric that must not get worse by more than a margin for a setting to be called better.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The wording of the metric's values.
    pub wording: Wording,
    /// The margin, in the metric's unit.
    pub margin: f64,
    /// The metric's scores, in the form of [`Scores::by_seed`].
    pub by_seed: BTreeMap<u64, [f64; 2]>,
}

/// The result of comparing a setting with the baseline, for sentences, images and documents. Numbers are in the
/// metric's unit, errors as fractions; null if there is no such number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The setting's name in sentences.
    #[serde(skip)]
    pub arm: String,
    /// The baseline's name in sentences.
    #[serde(skip)]
    pub baseline: String,
    /// `better`, `worse`, `same` or `undecided`.
    pub verdict: Verdict,
    /// Number of runs of the setting and of the baseline, if no seeds pair them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unpaired_runs: Option<[usize; 2]>,
    /// Number of seeds whose two runs are complete. Once the test may decide, only the seeds from 1 on without a gap
    /// count.
    pub seeds: usize,
    /// N: the planned number of seeds, or the largest number if the comparison continues until it is decided.
    pub planned_seeds: u64,
    /// Whether the test checks after every seed.
    pub until_decided: bool,
    /// Number of seeds after which a verdict was first reached; with `lapsed`, the verdict that later seeds
    /// contradict.
    pub decided_after: Option<usize>,
    /// Whether later seeds contradict a verdict that was reached, so that it no longer counts.
    pub lapsed: bool,
    /// The mean of setting − baseline; null with fewer than two seeds or a diverged run.
    pub mean: Option<f64>,
    /// The differences that the test does not rule out.
    pub interval: Option<FindingInterval>,
    /// The two-sided p, times the number of comparisons, at most 1. The difference is shown if p ≤ α. Null if nothing
    /// is tested.
    pub p: Option<f64>,
    /// α: the maximum probability that any verdict of the table is wrong.
    pub alpha: f64,
    /// α after seeds were added to the planned ones; equal to `alpha` if none were.
    pub alpha_spent: f64,
    /// Mean and standard deviation of the setting's scores.
    pub scores: Option<ScoreSummary>,
    /// Mean and standard deviation of the baseline's scores.
    pub baseline_scores: Option<ScoreSummary>,
    /// An interval that holds for more than new seeds, such as new test examples, if an extension provides one.
    pub wider_interval: Option<WiderInterval>,
    /// The reason why an extension has no such interval although one is expected.
    pub no_wider_interval: Option<String>,
    /// Share of seeds in which the setting is better; ties count half.
    pub probability_better: Option<f64>,
    /// Wilson's 95% interval of that probability.
    pub probability_better_interval: Option<[f64; 2]>,
    /// The difference that the planned seeds detect with 80% power.
    pub detectable: Option<f64>,
    /// Var(d) / (Var A + Var B). Pairing helped if it is below 1.
    pub variance_ratio: Option<f64>,
    /// Number of seeds in which the setting is better.
    pub better: usize,
    /// Number of seeds in which both are equal.
    pub ties: usize,
    /// Number of runs of the setting that diverged.
    pub diverged: usize,
    /// Number of runs of the baseline that diverged.
    pub baseline_diverged: usize,
    /// Number of planned runs of both that are not complete.
    pub outstanding: usize,
    /// Total number of seeds that would decide the comparison with a probability of 70%, if the difference is as
    /// large as it looks. Null if the comparison is decided, if no difference was declared negligible, beyond ten
    /// times the planned seeds, and over tasks, because no tasks can be added.
    pub forecast_seeds: Option<u64>,
    /// Whether the runs show that the metric that must not get worse does not; null if there is no such metric.
    pub no_worse: Option<bool>,
    /// The verdict as a sentence.
    pub sentence: String,
    /// Further details: power, assumptions, reasons for doubt.
    pub details: Option<String>,
    /// The effect at each task, if the verdict is over tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<OverTasks>,
    /// The scores, as costs.
    #[serde(skip)]
    pub pairs: Pairs,
    /// A session's judgement; `None` outside sessions.
    #[serde(skip)]
    pub judgement: Option<Judgement>,
    /// The rule that the scores were judged by.
    #[serde(skip)]
    pub rule: Option<Rule>,
    /// The step of the scores, in the metric's unit, if it is wider than δ. *Same* is then not tested although δ was
    /// declared.
    #[serde(skip)]
    pub coarse: Option<f64>,
    /// Whether nothing varies with the seed.
    #[serde(skip)]
    pub is_constant: bool,
    /// Whether the networks are built differently.
    #[serde(skip)]
    pub built_differently: bool,
    /// The unit that each score belongs to.
    #[serde(skip)]
    pub sample: Sample,
}

/// An interval of differences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingInterval {
    /// The probability that the interval covers the difference, such as 0.95.
    pub level: f64,
    /// The lower end; null if no low difference is ruled out.
    pub low: Option<f64>,
    /// The upper end; null if no high difference is ruled out.
    pub high: Option<f64>,
}

impl FindingInterval {
    /// Returns both ends; ±∞ where nothing is ruled out.
    pub fn ends(&self) -> [f64; 2] {
        [self.low.unwrap_or(f64::NEG_INFINITY), self.high.unwrap_or(f64::INFINITY)]
    }

    /// Converts an interval of cost differences to the unit of the metric.
    fn in_unit(found: Interval, wording: &Wording) -> Self {
        Self::of(wording.ends_of_measure([found.low, found.high]), found.level)
    }

    /// Creates an interval from its ends, which may be infinite.
    pub fn of([low, high]: [f64; 2], level: f64) -> Self {
        let finite = |end: f64| end.is_finite().then_some(end);
        Self { level, low: finite(low), high: finite(high) }
    }
}

/// A summary of the scores of one setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreSummary {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation.
    pub deviation: f64,
}

impl ScoreSummary {
    /// Returns the summary of `costs` in the unit of the metric; `None` if they have no mean.
    fn of(costs: &[f64], wording: &Wording) -> Option<Self> {
        let Mean { mean, deviation, .. } = Mean::of(costs)?;
        Some(Self { mean: wording.of_measure(mean), deviation })
    }
}

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
        let (pairs, is_whole) = judged(&scores.by_seed, rule.plan);
        let list = pairs.list();
        let n = list.len() as u64;
        let coarse = coarse(&pairs, rule.negligible).map(|step| wording.of_measure(step).abs());
        let negligible = if coarse.is_some() { 0.0 } else { rule.negligible };
        let is_constant = scores.sample != Sample::Tasks && nothing_varies(&pairs);
        let judgement = rule.judgement.map(|j| session::judged(j, &pairs));
        let is_tested = is_whole && !is_constant && judgement.is_none();
        let tested = is_tested.then(|| tested(list, rule.plan, rule.share(), negligible));
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
        let is_open = verdict == Verdict::Undecided && tested.is_some() && n >= rule.plan.seeds;
        let forecast_seeds = mean
            .filter(|_| is_open && negligible > 0.0 && scores.sample != Sample::Tasks)
            .and_then(|mean| forecast(mean, rule.plan, negligible, rule.share()))
            .map(|total| total.max(rule.fewest_seeds()));
        let has_interval = mean.is_some() && tested.as_ref().is_some_and(|t| t.p.is_some());
        let alpha = rule.share() * rule.plan.spent(n);
        let wider = has_interval.then(|| wider(pairs.len(), alpha)).flatten();
        let mut finding = Self {
            verdict,
            unpaired_runs: None,
            seeds: pairs.len(),
            planned_seeds: rule.plan.seeds,
            until_decided: rule.plan.until_decided,
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
            alpha_spent: rule.alpha * rule.plan.spent(n).max(1.0),
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
                Some(mean.deviation * detectable(rule.plan, rule.share())?).filter(|d| *d > 0.0)
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

    /// Returns whether further seeds can still decide the comparison: it is undecided and not given up.
    pub fn is_open(&self) -> bool {
        self.verdict == Verdict::Undecided && !self.is_given_up()
    }

    /// Returns whether a session has given up the comparison.
    pub fn is_given_up(&self) -> bool {
        matches!(self.judgement, Some(Judgement::GivenUp(_)))
    }

    /// Returns whether there is no mean, because a run diverged or scores are further apart than the largest number.
    pub fn has_no_mean(&self) -> bool {
        self.diverged + self.baseline_diverged > 0 || self.pairs.any_too_far_apart()
    }

    /// Returns the number of runs of the setting and of the baseline.
    pub fn runs(&self) -> [usize; 2] {
        self.unpaired_runs.unwrap_or([self.pairs.len(); 2])
    }

    /// Returns `8 seeds`, or for runs without seeds `10 and 12 runs`.
    pub fn counted(&self) -> String {
        match self.unpaired_runs {
            Some([a, b]) => format!("{a} and {b} runs"),
            None => self.units(self.pairs.len() as u64),
        }
    }

    /// Returns `count` with its unit: `8 seeds`, `1 seed`, `14 tasks`.
    pub fn units(&self, count: u64) -> String {
        let unit = self.sample.unit();
        format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
    }

    /// Returns half the width of the interval, which determines the decimals of numbers; NaN if unknown.
    pub fn resolution(&self) -> f64 {
        let Some(interval) = self.interval else {
            // Before there is an interval, the standard deviation of the differences takes its place.
            let mean = self.pairs.mean().filter(|mean| mean.deviation > 0.0);
            return mean.map_or(f64::NAN, |mean| mean.deviation);
        };
        let [low, high] = interval.ends();
        let mean = self.mean.unwrap_or(0.0);
        match (low.is_finite(), high.is_finite()) {
            (true, true) => (high - low) / 2.0,
            (true, false) => mean - low,
            _ => high - mean,
        }
    }
}

/// Returns the pairs that are judged, and whether there is no gap between their seeds. These are the seeds from 1 on
/// without a gap. Before a fixed plan may decide, they are all of its seeds that exist, so that a missing run hides
/// no other.
fn judged(by_seed: &BTreeMap<u64, [f64; 2]>, plan: Plan) -> (Pairs, bool) {
    let whole = by_seed.keys().zip(1..).take_while(|(seed, place)| **seed == *place).count();
    let of = |last: u64| {
        let planned = by_seed.iter().filter(|(seed, _)| (1..=last).contains(*seed));
        Pairs::new(planned.map(|(_, pair)| *pair).collect())
    };
    match !plan.until_decided && (whole as u64) < plan.seeds {
        true => {
            let pairs = of(plan.seeds);
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
        let (pairs, is_whole) = judged(&self.by_seed, rule.plan);
        let list = pairs.list();
        is_whole
            && list.len() >= n
            && super::statistics::PairedTest::new(&list[..n], rule.plan, rule.share(), self.margin)
                .no_worse_after()
                .is_some()
    }
}

impl Scores {
    /// Creates scores without outstanding runs.
    pub fn new(arm: &str, baseline: &str, by_seed: BTreeMap<u64, [f64; 2]>) -> Self {
        Self { arm: arm.to_owned(), baseline: baseline.to_owned(), by_seed, ..Self::default() }
    }
}
