use crate::comparison::statistics::{Decision, NewExamples, Proportion};
use crate::comparison::{ALPHA, Found, Verdict, Wording, details, sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison of two found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundDocument {
    /// Pairs of planned runs with the same seed, both complete: those that the verdict is on, or, where
    /// it waits for a look, those there are so far.
    pub runs: usize,
    /// The mean of arm − baseline.
    pub mean: Option<f64>,
    /// The t interval of the mean that the verdict goes with: of level 1 − α′, a 95 % interval over
    /// all comparisons and looks.
    pub interval: Option<IntervalDocument>,
    /// The 95 % t interval of the mean, as if this comparison and this look were the only ones.
    pub interval_95: Option<IntervalDocument>,
    /// The interval of level 1 − α′ over new seeds and new test examples of the same kind; null where
    /// the runs kept no outcomes, or no interval can be told.
    pub new_examples: Option<NewExamples>,
    /// Why a look has no such interval, where one is due.
    pub no_new_examples: Option<String>,
    /// Two-sided p of the sign-flip test; null between looks, where nothing is tested.
    pub p: Option<f64>,
    /// p times the comparisons and looks that share α, at most 1: what is printed, and held against
    /// 0.05.
    pub p_adjusted: Option<f64>,
    /// α′: what p is held against.
    pub level: f64,
    /// Seeds at the look that decided it, or at the last that was taken; null before the first.
    pub look: Option<u64>,
    /// Seeds at the look that it waits for; null where it is decided or no look is left.
    pub next_look: Option<u64>,
    /// Share of pairs in which the arm is better, ties half.
    pub probability_better: Option<f64>,
    /// Wilson's 95 % interval of that probability.
    pub probability_better_interval: Option<[f64; 2]>,
    /// The difference that so many pairs would show with 80 % power at level α′.
    pub smallest_detectable: Option<f64>,
    /// Var(d) / (Var A + Var B): below 1, pairing helped.
    pub variance_ratio: Option<f64>,
    /// Pairs in which the arm is better.
    pub better: usize,
    /// Pairs in which both are equal.
    pub ties: usize,
    /// Of the pairs, those whose run of the arm diverged.
    pub diverged: usize,
    /// Of the pairs, those whose run of the baseline diverged.
    pub baseline_diverged: usize,
    /// Planned runs of both, up to that look, that are not complete.
    pub outstanding: usize,
    /// `better`, `worse`, `same` or `undecided`.
    pub verdict: Verdict,
    /// What more seeds would probably decide; null where it is decided, waits for a look, or where
    /// these seeds do not tell.
    pub forecast: Option<ForecastDocument>,
    /// The verdict as a sentence.
    pub sentence: String,
    /// What so many pairs can show, and how much pairing helped, as a sentence.
    pub details: Option<String>,
}

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalDocument {
    /// The probability with which it covers what it is of: 0.95.
    pub level: f64,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// How many further seeds decide a comparison with a probability of 70 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForecastDocument {
    /// Further seeds.
    pub seeds: usize,
    /// The verdict that is the likeliest then.
    #[serde(rename = "for")]
    pub verdict: Verdict,
}

impl IntervalDocument {
    fn of([low, high]: [f64; 2], alpha: f64) -> Self {
        Self { level: 1.0 - alpha, low, high }
    }
}

impl FoundDocument {
    /// What a comparison found, in the words of its measure.
    pub fn of(found: &Found, wording: &Wording) -> Self {
        let ruling = &found.ruling;
        let [diverged, baseline_diverged] = ruling.pairs.diverged();
        let better = found.probability_better();
        let interval = |ends, alpha| IntervalDocument::of(wording.ends_of_measure(ends), alpha);
        let forecast = found.forecast().map(|forecast| ForecastDocument {
            seeds: forecast.further,
            verdict: match forecast.decision {
                Decision::Below => Verdict::Better,
                Decision::Above => Verdict::Worse,
                Decision::Same => Verdict::Same,
            },
        });
        Self {
            runs: ruling.pairs.len(),
            mean: found.mean().map(|mean| wording.of_measure(mean.mean)),
            interval: found.interval().map(|ends| interval(ends, ruling.level)),
            interval_95: found.interval_95().map(|ends| interval(ends, ALPHA)),
            new_examples: found.new_examples(),
            no_new_examples: found.no_new_examples(),
            p: ruling.p,
            p_adjusted: ruling.p_adjusted(),
            level: ruling.level,
            look: ruling.look.map(|look| look.seeds),
            next_look: ruling.next.map(|look| look.seeds),
            probability_better: better.as_ref().map(Proportion::share),
            probability_better_interval: better.map(|share| share.interval(ALPHA)),
            smallest_detectable: found.smallest_detectable(),
            variance_ratio: ruling.pairs.variance_ratio(),
            better: ruling.pairs.better(),
            ties: ruling.pairs.ties(),
            diverged,
            baseline_diverged,
            outstanding: found.outstanding,
            verdict: ruling.verdict,
            forecast,
            sentence: sentence(found, wording),
            details: details(found, wording),
        }
    }
}
