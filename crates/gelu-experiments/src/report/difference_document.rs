use crate::comparison::statistics::{Further, Proportion};
use crate::comparison::{ALPHA, Difference, Verdict, Wording, details, sentence};
use crate::measure::Primary;
use crate::runs::ComparisonSnapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An activation beside the baseline at one dropout rate. Errors are fractions, losses are in their
/// own unit; null where there is no such number: with fewer than two pairs, or where a run diverged,
/// there is no mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceDocument {
    /// Canonical name.
    pub activation: String,
    /// Canonical name of the activation it is compared with.
    pub baseline: String,
    /// Dropout rate of both.
    pub dropout: f64,
    /// The primary measure.
    pub metric: Primary,
    /// Pairs of runs with the same seed, both complete.
    pub runs: usize,
    /// The mean of activation − baseline: below 0, the activation is better.
    pub mean: Option<f64>,
    /// Lower end of the mean's 95 % t interval.
    pub low: Option<f64>,
    /// Upper end of the mean's 95 % t interval.
    pub high: Option<f64>,
    /// Two-sided p of the sign-flip test, before Holm.
    pub p: Option<f64>,
    /// After Holm, over all comparisons of the table.
    pub p_adjusted: Option<f64>,
    /// What `p_adjusted` is held against: 0.05, or its share where seeds are added until decided.
    pub level: f64,
    /// Share of pairs in which the activation is better, ties half.
    pub probability_better: Option<f64>,
    /// Wilson's 95 % interval of that probability.
    pub probability_better_interval: Option<[f64; 2]>,
    /// The difference that so many pairs would show with 80 % power.
    pub smallest_detectable: Option<f64>,
    /// Var(d) / (Var A + Var B): below 1, pairing helped.
    pub variance_ratio: Option<f64>,
    /// Pairs in which the activation is better.
    pub better: usize,
    /// Pairs in which both are equal.
    pub ties: usize,
    /// Of the pairs, those whose run of the activation diverged.
    pub diverged: usize,
    /// Of the pairs, those whose run of the baseline diverged.
    pub baseline_diverged: usize,
    /// Planned runs of both that are not complete.
    pub outstanding: usize,
    /// `better`, `worse`, `same` or `undecided`.
    pub verdict: Verdict,
    /// Further pairs that would probably decide it; null where it is decided or cannot be told.
    pub further_pairs: Option<usize>,
    /// Whether it would take more than `further_pairs`.
    pub further_pairs_at_least: bool,
    /// The verdict as a sentence.
    pub sentence: String,
    /// What so many pairs can show, and how much pairing helped, as a sentence.
    pub details: Option<String>,
}

impl DifferenceDocument {
    /// Those of a comparison.
    pub(super) fn all(snapshot: &ComparisonSnapshot, differences: &[Difference]) -> Vec<Self> {
        differences.iter().map(|difference| Self::of(snapshot, difference)).collect()
    }

    fn of(snapshot: &ComparisonSnapshot, difference: &Difference) -> Self {
        let wording = Wording::new(snapshot.criterion.primary, snapshot.loss);
        let (ruling, interval) = (&difference.ruling, difference.interval());
        let [diverged, baseline_diverged] = ruling.pairs.diverged();
        let (further_pairs, further_pairs_at_least) = match difference.further() {
            Some(Further::About(pairs)) => (Some(pairs), false),
            Some(Further::MoreThan(pairs)) => (Some(pairs), true),
            None => (None, false),
        };
        let better = difference.probability_better();
        Self {
            activation: difference.activation.clone(),
            baseline: difference.baseline.clone(),
            dropout: difference.dropout,
            metric: snapshot.criterion.primary,
            runs: ruling.pairs.len(),
            mean: difference.mean.map(|mean| mean.mean),
            low: interval.map(|[low, _]| low),
            high: interval.map(|[_, high]| high),
            p: ruling.p,
            p_adjusted: ruling.p_adjusted,
            level: ruling.level,
            probability_better: better.as_ref().map(Proportion::share),
            probability_better_interval: better.map(|share| share.interval(ALPHA)),
            smallest_detectable: difference.smallest_detectable(),
            variance_ratio: ruling.pairs.variance_ratio(),
            better: ruling.pairs.better(),
            ties: ruling.pairs.ties(),
            diverged,
            baseline_diverged,
            outstanding: difference.outstanding,
            verdict: ruling.verdict,
            further_pairs,
            further_pairs_at_least,
            sentence: sentence(difference, wording),
            details: details(difference, wording),
        }
    }
}
