//! What a comparison varies, and how it decides.

use super::limits;
use crate::measure::{Primary, Selection};
use crate::{Error, Result};
use gelu_compare::measure::{NoWorse, Over, Reported, UntilDecided};
use gelu_compare::suggestion::unknown;
use gelu_learner::activation::{NamedActivation, TargetFormula};
use serde::{Deserialize, Serialize};

/// The varied values of a comparison; every combination is one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonRecipe {
    /// Activations by name; formulas as `name=formula`.
    pub activations: Vec<NamedActivation>,
    /// Runs per setting, with the seeds 1, 2, ….
    pub seeds: u64,
    /// Initial learning rates.
    pub learning_rates: Vec<f64>,
    /// Dropout rates.
    pub dropout: Vec<f64>,
    /// The learned formulas, as `name=formula`, if the data are points; there is a verdict at each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formulas: Vec<TargetFormula>,
    /// Numbers of neurons in the hidden layers; there is a verdict at each. If empty, the network's own; the same
    /// holds for the next two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widths: Vec<usize>,
    /// Numbers of hidden layers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depths: Vec<usize>,
    /// Numbers of examples per batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batch_sizes: Vec<usize>,
    /// The learned tables of a folder, by the names of their files without endings; there is a verdict at each. If
    /// empty, all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// The results of trivial predictions on the user's own data; the program measures them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trivial: Vec<Trivial>,
    /// The metric that chooses the best learning rate.
    pub selection: Selection,
    /// The epoch of a run that is reported.
    #[serde(default)]
    pub reported: Reported,
    /// The metric that decides the comparison.
    pub primary: Primary,
    /// The size below which a difference of the primary metric does not matter, in the metric's unit: 0.001 is 0.1
    /// points of error.
    pub negligible: f64,
    /// Another metric that must not get worse for a verdict of better: `test-loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse: Option<NoWorse>,
    /// The axis to make verdicts over, rather than at each of its values: `table`, `formula`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// The probability that a verdict of the table is wrong; 0.05 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Name of the activation to compare the others with; the first of the list if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// If given, the program adds seeds until every comparison is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_decided: Option<UntilDecided>,
    /// If given, the learning rate is tuned with validation examples set aside, and the reported networks are trained
    /// at the best rate on all training examples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrain: Option<Retraining>,
    /// The largest number of threads that a run can use. The number it gets depends on the processor and the other
    /// runs; its results do not depend on it.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: usize,
}

/// The result of predicting the same for every example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trivial {
    /// The prediction: `always no`, `the mean`.
    pub label: String,
    /// The table of a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The value of the primary metric.
    pub value: f64,
}

fn one() -> usize {
    1
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

impl ComparisonRecipe {
    /// Returns the compared activation called `name`: a formula by its name with or without the formula, a built-in
    /// activation by any of its names.
    pub fn named(&self, name: &str) -> Option<&NamedActivation> {
        let text = NamedActivation::read(name).to_string();
        let mut compared = self.activations.iter();
        compared.find(|activation| activation.name() == name || activation.text() == text)
    }

    /// Returns the learned formula called `text`, or the formula written in `text`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] listing the names, or with the problem of the formula.
    pub fn formula(&self, text: &str) -> Result<TargetFormula> {
        let text = text.trim();
        match self.formulas.iter().find(|formula| formula.name() == text) {
            Some(known) => Ok(known.clone()),
            None if text.contains('=') => text.parse(),
            None if self.formulas.is_empty() => Err(Error::Usage(format!(
                "unknown formula `{}`: no formulas are learned here; in `symbolic` there are some, and your own is \
                 written out, as in wave=sin(3*x)*y",
                text.escape_debug()
            ))),
            None => {
                let names: Vec<&str> = self.formulas.iter().map(TargetFormula::name).collect();
                let unknown = unknown("formula", text, &names);
                Err(Error::Usage(format!("{unknown}; and your own, as in wave=sin(3*x)*y")))
            }
        }
    }

    /// Removes repeated values, because the same setting twice is one setting.
    pub fn without_repetition(&mut self) {
        keep_first(&mut self.activations);
        keep_first(&mut self.learning_rates);
        keep_first(&mut self.dropout);
        keep_first(&mut self.formulas);
        keep_first(&mut self.widths);
        keep_first(&mut self.depths);
        keep_first(&mut self.batch_sizes);
        keep_first(&mut self.tables);
    }
}

fn keep_first<T: PartialEq + Clone>(list: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::with_capacity(list.len());
    for item in list.drain(..) {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    *list = kept;
}

/// How learning rates are tuned before the final runs on the whole training set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retraining {
    /// Runs per setting while tuning, with the seeds 1, 2, ….
    pub tuning_seeds: u64,
}

/// Noise on the test inputs of a trained network, `x + u`, `u ~ Unif[−a, a]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseRecipe {
    /// The measured amplitudes `a`.
    pub amplitudes: Vec<f64>,
}

impl NoiseRecipe {
    /// Checks every amplitude.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the invalid amplitude and the allowed values.
    pub(crate) fn validate(&self) -> Result<()> {
        let count = self.amplitudes.len() as u64;
        limits::count("the number of noise.amplitudes", count, limits::MOST_AMPLITUDES)?;
        self.amplitudes.iter().try_for_each(|&amplitude| limits::amplitude(amplitude))
    }

    /// Returns the amplitudes above 0, each once, ascending.
    pub(crate) fn disturbing(&self) -> Vec<f64> {
        let mut amplitudes: Vec<f64> =
            self.amplitudes.iter().copied().filter(|&amplitude| amplitude > 0.0).collect();
        amplitudes.sort_by(f64::total_cmp);
        amplitudes.dedup();
        amplitudes
    }
}
