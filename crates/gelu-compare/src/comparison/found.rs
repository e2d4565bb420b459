use super::contrast::{Contrast, Rules};
use super::statistics::{
    Forecast, Mean, NewExamples, NoNewExamples, Proportion, new_examples, smallest_detectable,
};
use super::verdict::{ALPHA, Ruling};
use crate::measure::Outcomes;
use std::sync::Arc;

/// What a comparison of an arm with the baseline found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The arm, as sentences call it.
    pub arm: String,
    /// The baseline, as sentences call it.
    pub baseline: String,
    /// What the verdict is held against.
    pub rules: Rules,
    /// The pairs, p and the verdict.
    pub ruling: Ruling,
    /// Planned runs, up to the look it waits for or the last, that are not complete.
    pub outstanding: usize,
    /// What the runs of each pair made of the test examples, `[arm, baseline]`; empty where any of them
    /// has kept nothing.
    pub outcomes: Vec<[Arc<Outcomes>; 2]>,
    /// Whether a run of the pairs has kept nothing of its test examples, where the measure is of these
    /// and runs keep it.
    pub without_outcomes: bool,
    /// Whether the networks of the two are built differently: seeds then pair batches and draws, and no
    /// initial weights.
    pub built_differently: bool,
}

impl Found {
    /// What scores alone say: no run is outstanding, and none has kept what it made of each test example.
    pub fn of_scores(arm: &str, baseline: &str, scores: &Contrast, rules: &Rules) -> Self {
        Self {
            arm: arm.to_owned(),
            baseline: baseline.to_owned(),
            ruling: rules.rule(scores),
            rules: rules.clone(),
            outstanding: 0,
            outcomes: Vec::new(),
            without_outcomes: false,
            built_differently: false,
        }
    }

    /// The mean of arm − baseline; `None` with fewer than two pairs or a diverged run.
    pub fn mean(&self) -> Option<Mean> {
        self.ruling.pairs.mean()
    }

    /// The t interval of the mean at the level of the verdict: a 95 % interval over all comparisons
    /// and looks.
    pub fn interval(&self) -> Option<[f64; 2]> {
        Some(self.mean()?.interval(self.ruling.level))
    }

    /// The 95 % t interval of the mean, as if this comparison were the only one.
    pub fn interval_95(&self) -> Option<[f64; 2]> {
        Some(self.mean()?.interval(ALPHA))
    }

    /// The share of pairs in which the arm is better, ties half.
    pub fn probability_better(&self) -> Option<Proportion> {
        let pairs = &self.ruling.pairs;
        Proportion::new(pairs.better() as f64 + 0.5 * pairs.ties() as f64, pairs.len())
    }

    /// The smallest effect that so many pairs show with 80 % power, at the level of the verdict.
    pub fn smallest_detectable(&self) -> Option<f64> {
        let mean = self.mean()?;
        smallest_detectable(mean.count, mean.deviation, self.ruling.level)
    }

    /// Where the mean lies for seeds and test examples like these, at the level of the verdict; `None`
    /// before a look, and where the outcomes do not tell.
    pub fn new_examples(&self) -> Option<NewExamples> {
        self.over_new_examples()?.ok()
    }

    /// Why a look has no interval over new test examples, where one is due.
    pub fn no_new_examples(&self) -> Option<String> {
        match self.over_new_examples()? {
            _ if self.without_outcomes => Some(
                "runs have not kept what they made of each, as those of earlier versions have not"
                    .to_owned(),
            ),
            _ if self.outcomes.is_empty() => None,
            due => due.err().map(|reason| reason.to_string()),
        }
    }

    fn over_new_examples(&self) -> Option<Result<NewExamples, NoNewExamples>> {
        let pairs: Vec<[&Outcomes; 2]> =
            self.outcomes.iter().map(|[a, b]| [a.as_ref(), b.as_ref()]).collect();
        self.ruling.p.filter(|_| self.mean().is_some())?;
        Some(new_examples(&pairs, self.ruling.level))
    }

    /// How many more pairs would probably decide it; see [`Rules::forecast`].
    pub fn forecast(&self) -> Option<Forecast> {
        self.rules.forecast(&self.ruling)
    }
}
