use super::rule::Rule;
use super::sample::Sample;
use super::statistics::session::Judgement;
use super::statistics::{Interval, Mean, Pairs};
use super::verdict::Verdict;
use super::wording::Wording;
use crate::extension::WiderInterval;
use crate::measure::Scale;
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
    pub(super) fn in_unit(found: Interval, wording: &Wording) -> Self {
        Self::of(wording.ends_of_measure([found.low, found.high]), found.level)
    }

    /// Creates an interval from its ends, which may be infinite.
    pub fn of([low, high]: [f64; 2], level: f64) -> Self {
        let finite = |end: f64| end.is_finite().then_some(end);
        Self { level, low: finite(low), high: finite(high) }
    }
}

/// The difference between a setting and the baseline at one task. It is not a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskEffect {
    /// The task.
    pub task: String,
    /// Number of seeds of which both runs are complete.
    pub seeds: usize,
    /// The mean of setting − baseline, in the metric's unit; null if a run diverged.
    pub mean: Option<f64>,
    /// The mean on the scale that all tasks share, which the verdict is made from.
    pub on_scale: Option<f64>,
    /// The 95% interval of the mean, as if this task were the only one.
    pub interval: Option<FindingInterval>,
    /// Whether the setting is ahead; null if neither is.
    pub ahead: Option<bool>,
}

/// A setting compared with the baseline over several tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverTasks {
    /// The scale that the differences were brought to.
    pub scale: Scale,
    /// Number of tasks in which the setting is ahead.
    pub ahead: usize,
    /// The p of the signed ranks of the differences, times the number of comparisons, at most 1.
    pub signed_rank_p: Option<f64>,
    /// The effect at each task.
    pub tasks: Vec<TaskEffect>,
    /// Lines of text: the number of tasks in which the setting is ahead, then the effect at each task.
    #[serde(skip)]
    pub words: Vec<String>,
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
    pub(super) fn of(costs: &[f64], wording: &Wording) -> Option<Self> {
        let Mean { mean, deviation, .. } = Mean::of(costs)?;
        Some(Self { mean: wording.of_measure(mean), deviation })
    }
}

impl Finding {
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

impl Scores {
    /// Creates scores without outstanding runs.
    pub fn new(arm: &str, baseline: &str, by_seed: BTreeMap<u64, [f64; 2]>) -> Self {
        Self { arm: arm.to_owned(), baseline: baseline.to_owned(), by_seed, ..Self::default() }
    }
}
