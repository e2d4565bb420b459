//! An experiment as data: data set, network, training, comparison, figure.
//!
//! A recipe is a TOML file. The files in `recipes/` are built in; `--recipe FILE` reads another one, and flags
//! override what a comparison varies. Unknown keys are an error.

mod command;
mod data;
mod design;
mod figure;
pub(crate) mod limits;
mod network;
mod own;
mod schedule;
mod sizes;
mod training;
mod validate;

pub use crate::data::{Augmentation, Normalisation, Pixels};
pub use data::DataRecipe;
pub(crate) use design::{ACTIVATION, At, measures, setting};
pub use figure::{FigureSpec, Panels, SecondSplit};
pub use network::NetworkRecipe;
pub use own::OwnRecipe;
pub use schedule::Schedule;
pub use sizes::Size;
pub(crate) use sizes::{TABLE, combinations};
pub use training::{BatchUnit, BetaChange, OptimizerRecipe, TrainLoss, TrainingRecipe};

use crate::measure::{Primary, Selection};
use crate::{Error, Result};
use gelu_compare::error::Place;
use gelu_compare::files::read_text;
use gelu_compare::measure::{NoWorse, Over, Reported, UntilDecided};
use gelu_compare::suggestion::unknown;
use gelu_learner::activation::{NamedActivation, TargetFormula};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The built-in recipes, in the order in which they are listed: name and text.
const BUILT_IN: &[(&str, &str)] = &[
    ("digits", include_str!("../../recipes/digits.toml")),
    ("mnist-classifier", include_str!("../../recipes/mnist-classifier.toml")),
    ("mnist-script", include_str!("../../recipes/mnist-script.toml")),
    ("mnist-robustness", include_str!("../../recipes/mnist-robustness.toml")),
    ("mnist-autoencoder", include_str!("../../recipes/mnist-autoencoder.toml")),
    ("tweet-tagger", include_str!("../../recipes/tweet-tagger.toml")),
    ("timit-frames", include_str!("../../recipes/timit-frames.toml")),
    ("spoken-digits", include_str!("../../recipes/spoken-digits.toml")),
    ("symbolic", include_str!("../../recipes/symbolic.toml")),
    ("tables", include_str!("../../recipes/tables.toml")),
    ("char-gpt", include_str!("../../recipes/char-gpt.toml")),
    ("cifar10-cnn", include_str!("../../recipes/cifar10-cnn.toml")),
    ("cifar10-cnn-narrow", include_str!("../../recipes/cifar10-cnn-narrow.toml")),
    ("airbench-small", include_str!("../../recipes/airbench-small.toml")),
    ("cifar100-wrn", include_str!("../../recipes/cifar100-wrn.toml")),
    ("cifar100-wrn-original", include_str!("../../recipes/cifar100-wrn-original.toml")),
    ("cifar10-wrn", include_str!("../../recipes/cifar10-wrn.toml")),
];

/// A complete experiment, with everything needed to repeat it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The recipe's name.
    pub name: String,
    /// One line for headings.
    pub title: String,
    /// The data.
    pub data: DataRecipe,
    /// The network.
    pub network: NetworkRecipe,
    /// The training.
    pub training: TrainingRecipe,
    /// What the comparison varies, and how it decides.
    pub comparison: ComparisonRecipe,
    /// The noise under which trained networks are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseRecipe>,
    /// The figure of the paper that it reproduces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<FigureSpec>,
}

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
    pub(super) fn disturbing(&self) -> Vec<f64> {
        let mut amplitudes: Vec<f64> =
            self.amplitudes.iter().copied().filter(|&amplitude| amplitude > 0.0).collect();
        amplitudes.sort_by(f64::total_cmp);
        amplitudes.dedup();
        amplitudes
    }
}

impl Recipe {
    /// Returns the loss that training minimises.
    pub fn loss(&self) -> crate::measure::LossKind {
        self.network.loss_on(&self.data)
    }

    /// Returns the request for loading the data set.
    pub fn asked(&self) -> crate::data::DataRequest {
        self.data.asked_for(&self.network)
    }

    /// Returns the names of the built-in recipes.
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|(name, _)| *name).collect()
    }

    /// Returns the built-in recipe called `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] listing the existing names.
    pub fn named(name: &str) -> Result<Self> {
        Self::parse(Self::text(name)?, name)
    }

    /// Returns the text of the built-in recipe called `name`, with its comments.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] listing the existing names.
    pub fn text(name: &str) -> Result<&'static str> {
        match BUILT_IN.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok(text),
            None if name.ends_with(".toml") => Err(Error::Usage(format!(
                "`{name}` is no experiment's name; a file is read by `--recipe {name}`"
            ))),
            None => {
                let unknown = unknown("experiment", name, &Self::names());
                Err(Error::Usage(match own_data(name) {
                    Some(advice) => {
                        format!("`{}` is no experiment's name; {advice}", name.escape_debug())
                    }
                    None => unknown,
                }))
            }
        }
    }

    /// Reads a recipe from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not TOML, has an unknown or missing key, or has an invalid value.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = read_text(path)?.ok_or_else(|| missing(path))?;
        let base = path.parent().unwrap_or(Path::new(""));
        Self::parse_in(base, &text, &path.display().to_string())
    }

    fn parse(text: &str, origin: &str) -> Result<Self> {
        Self::parse_in(Path::new(""), text, origin)
    }

    /// Parses a recipe whose relative paths start at `base`; error messages call it `origin`.
    pub(crate) fn parse_in(base: &Path, text: &str, origin: &str) -> Result<Self> {
        let refuse = |problem: String| Error::Usage(format!("recipe {origin}: {problem}"));
        let mut recipe: Self = toml::from_str(text)
            .map_err(|error| refuse(error.to_string().trim_end().to_owned()))?;
        recipe.data.settle(base).map_err(|problem| refuse(problem.to_string()))?;
        recipe.comparison.without_repetition();
        let known = |activation: &NamedActivation| activation.nonlinearity().map(|_| ());
        recipe
            .validate()
            .and_then(|()| recipe.comparison.activations.iter().try_for_each(known))
            .map_err(|problem| refuse(problem.to_string()))?;
        Ok(recipe)
    }
}

/// Returns advice if the user gives own data where an experiment is expected.
fn own_data(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let is_table = [".csv", ".tsv", ".tab", ".csv.gz"].iter().any(|end| lower.ends_with(end));
    match lower.as_str() {
        "csv" | "table" => Some("a table of your own is compared on by `gelu compare --csv FILE --target COLUMN`".to_owned()),
        "pictures" | "images" => {
            Some("images of your own are compared on by `gelu compare --images DIR`".to_owned())
        }
        "idx" => Some(
            "idx is a kind of data: name it in a recipe, which `gelu recipe show mnist-classifier > mine.toml` writes to \
             change, with `idx = \"DIR\"` in the place of `set`"
                .to_owned(),
        ),
        _ if is_table => Some(format!("compare on a table with `gelu compare --csv {name} --target COLUMN`")),
        _ if Path::new(name).is_dir() => Some(format!(
            "compare on the images in a folder with `gelu compare --images {name}`, and on the tables in one with \
             `gelu compare tables --data {name}`"
        )),
        _ => None,
    }
}

/// Returns the error for a missing recipe file.
fn missing(path: &Path) -> Error {
    let problem = "there is no such file";
    let advice = match path.to_str().is_some_and(|name| Recipe::text(name).is_ok()) {
        true => "that is a built-in experiment, which is named without --recipe",
        false => "name a recipe's file; `gelu recipe show digits > mine.toml` writes one to change",
    };
    Error::data(path, Place::File, problem, advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Metric;

    #[test]
    fn every_built_in_recipe_is_valid_and_named_as_its_file() {
        for (name, text) in BUILT_IN {
            let recipe = Recipe::parse(text, name).unwrap();
            assert_eq!(&recipe.name, name);
        }
    }

    #[test]
    fn unknown_name_leads_to_what_is_there() {
        let told = |name| Recipe::named(name).unwrap_err().to_string();
        let family =
            "unknown experiment `mnist`; did you mean `mnist-classifier`, `mnist-script`, ";
        assert!(told("mnist").starts_with(family), "{}", told("mnist"));
        let clear = "unknown experiment `digit`; did you mean `digits`? There are: digits, ";
        assert!(told("digit").starts_with(clear), "{}", told("digit"));
        assert!(told("mine.toml").ends_with("a file is read by `--recipe mine.toml`"));
    }

    #[test]
    fn recipe_survives_being_written_and_read() {
        for name in Recipe::names() {
            let recipe = Recipe::named(name).unwrap();
            let text = toml::to_string(&recipe).unwrap();
            assert_eq!(Recipe::parse(&text, "copy").unwrap(), recipe);
        }
    }

    /// A network's loss rises again when it becomes more certain of its mistakes; its error does not.
    #[test]
    fn classifiers_with_validation_examples_choose_by_the_error_on_them() {
        let chooses = |name: &&str| {
            let Recipe { data, network, comparison, .. } = Recipe::named(name).unwrap();
            let own = ["tweets", "timit", "spoken-digits"].contains(&data.set.as_str());
            (network.classifies() && (own || data.validation > 0)).then_some(comparison.selection)
        };
        let names = Recipe::names();
        let chosen: Vec<Selection> = names.iter().filter_map(chooses).collect();
        assert!(chosen.len() >= 7, "{chosen:?}");
        assert!(chosen.iter().all(|selection| *selection == Selection::ValidError), "{chosen:?}");
    }

    #[test]
    fn noise_that_a_verdict_goes_by_has_to_be_there() {
        let text = Recipe::text("mnist-robustness").unwrap();
        let recipe = Recipe::parse(text, "mine.toml").unwrap();
        let extra = gelu_compare::runs::Experiment::design(&recipe).extra;
        let amplitudes = extra["amplitudes"].as_array().unwrap();
        assert_eq!((amplitudes.len(), amplitudes[0].as_f64()), (15, Some(0.2)), "0 is no noise");
        let (before, _) = text.split_once("[noise]").unwrap();
        for noise in ["", "[noise]\namplitudes = [0.0]"] {
            let error = Recipe::parse(&format!("{before}{noise}"), "mine.toml").unwrap_err();
            assert!(error.to_string().contains("there is no noise"), "{error}");
        }
    }

    /// Choosing among several rates by a metric would bias a verdict by the same metric.
    #[test]
    fn what_decides_may_not_choose_among_learning_rates() {
        let text = Recipe::text("mnist-classifier").unwrap();
        let (test, train) = (r#"primary = "test-error""#, r#"primary = "train-loss""#);
        let chosen = r#"selection = "valid-error""#;
        assert!(text.contains(test) && text.contains(chosen));
        let text = text.replace(test, train).replace(chosen, r#"selection = "train-loss""#);
        let error = Recipe::parse(&text, "mine.toml").unwrap_err().to_string();
        assert!(error.contains("the best of 3 learning rates would be judged by"), "{error}");
        // With one rate there is no choice.
        let one = text.replace("[1e-3, 1e-4, 1e-5]", "[1e-3]");
        Recipe::parse(&one, "mine.toml").unwrap();
    }

    #[test]
    fn unknown_key_is_refused_with_its_name() {
        let text = BUILT_IN[0].1.replace("batch_size", "batchsize");
        let error = Recipe::parse(&text, "mine.toml").unwrap_err().to_string();
        assert!(error.contains("mine.toml") && error.contains("batchsize"), "{error}");
    }

    #[test]
    fn a_schedule_that_no_training_could_follow_is_refused_with_its_values() {
        let text = Recipe::text("cifar100-wrn-original").unwrap();
        let steps = "after = [0.3, 0.6, 0.8], factor = 0.2";
        assert!(text.contains(steps), "{text}");
        for (evil, expected) in [
            ("after = [0.6, 0.3], factor = 0.2", "schedule.after is [0.6, 0.3]"),
            ("after = [1.0], factor = 0.2", "schedule.after is 1"),
            ("after = [0.3], factor = 0.0", "schedule.factor is 0"),
            ("after = [0.3], factor = 5.0", "schedule.factor is 5"),
            ("after = [0.3]", "missing field `factor`"),
        ] {
            let error = Recipe::parse(&text.replace(steps, evil), "mine.toml").unwrap_err();
            assert!(error.to_string().contains(expected), "{evil}: {error}");
        }
    }

    #[test]
    fn names_that_would_lead_elsewhere_and_texts_that_a_terminal_obeys_are_refused() {
        let text = BUILT_IN[0].1;
        for (honest, evil, expected) in [
            ("name = \"digits\"", "name = \"../../evil\"", "cannot be the name of a file"),
            ("name = \"digits\"", "name = \"\"", "cannot be the name of a file"),
            ("name = \"curves\"", "name = \"/tmp/evil\"", "cannot be the name of a file"),
            ("title = \"Built-in", "title = \"\\u001b[2JBuilt-in", "control character"),
            ("axis = \"log", "axis = \"\\u0007log", "control character"),
        ] {
            assert!(text.contains(honest), "{honest}");
            let error = Recipe::parse(&text.replace(honest, evil), "mine.toml").unwrap_err();
            assert!(error.to_string().contains(expected), "{evil}: {error}");
        }
    }

    #[test]
    fn values_that_cannot_be_trained_with_are_refused() {
        let change = |edit: &dyn Fn(&mut Recipe)| {
            let mut recipe = Recipe::named("digits").unwrap();
            edit(&mut recipe);
            recipe.validate().unwrap_err().to_string()
        };
        assert!(change(&|r| r.comparison.seeds = 0).contains("seeds"));
        assert!(change(&|r| r.training.batch_size = 0).contains("batch size"));
        assert!(change(&|r| r.comparison.learning_rates = vec![-1.0]).contains("-1"));
        assert!(change(&|r| r.comparison.learning_rates = vec![f64::NAN]).contains("NaN"));
        assert!(change(&|r| r.comparison.dropout = vec![1.0]).contains("dropout rate 1"));
        assert!(change(&|r| r.data.train_limit = Some(0)).contains("train limit"));
    }

    #[test]
    fn unknown_experiment_lists_what_exists() {
        let error = Recipe::named("mnist").unwrap_err().to_string();
        assert!(error.contains("mnist-classifier"), "{error}");
    }

    #[test]
    fn a_file_that_is_not_there_is_said_to_be() {
        let told = |path: &str| Recipe::from_file(Path::new(path)).unwrap_err().to_string();
        let said = told("no/such.toml");
        assert!(said.starts_with("no/such.toml: there is no such file; name a recipe"), "{said}");
        assert!(told("digits").contains("is named without --recipe"), "{}", told("digits"));
    }

    /// Each case changes a built-in recipe in one place, with a key that has no effect there.
    #[test]
    fn keys_without_effect_are_refused() {
        let refused = |name: &str, change: &dyn Fn(&mut Recipe)| {
            let mut recipe = Recipe::named(name).unwrap();
            change(&mut recipe);
            recipe.validate().unwrap_err().to_string()
        };
        let groups = |recipe: &mut Recipe| recipe.training.batch_of = BatchUnit::Groups;
        for name in ["digits", "char-gpt", "symbolic"] {
            assert!(refused(name, &groups).contains("batch_of is groups"), "{name}");
        }
        let mut tagger = Recipe::named("tweet-tagger").unwrap();
        groups(&mut tagger);
        tagger.validate().unwrap();
        let metric = |name: &str, metric: Metric| {
            refused(name, &|recipe| recipe.figure.as_mut().unwrap().metric = metric)
        };
        let said = metric("digits", Metric::Rmse);
        assert!(said.contains("figure.metric is rmse") && said.contains("loss or error"), "{said}");
        assert!(metric("symbolic", Metric::Error).contains("it can be loss or rmse"));
        let said = metric("mnist-autoencoder", Metric::Error);
        assert!(said.ends_with("it can be loss"), "{said}");
        let figure = |name: &str, change: &dyn Fn(&mut FigureSpec)| {
            refused(name, &|recipe| change(recipe.figure.as_mut().unwrap()))
        };
        assert!(figure("digits", &|f| f.splits.clear()).contains("figure.splits is empty"));
        assert!(figure("digits", &|f| f.panels = Panels::Formula).contains("no formulas"));
        assert!(figure("symbolic", &|f| f.panels = Panels::Dropout).contains("drop nothing"));
        let none = NoiseRecipe { amplitudes: Vec::new() };
        let said = refused("digits", &|recipe| recipe.noise = Some(none.clone()));
        assert!(said.contains("noise.amplitudes is 0"), "{said}");
    }

    #[test]
    fn sizes_that_no_memory_holds_are_refused_where_they_are_read() {
        let refused = |change: &dyn Fn(&mut DataRecipe)| {
            let mut recipe = Recipe::named("cifar10-cnn").unwrap();
            change(&mut recipe.data);
            recipe.validate().unwrap_err().to_string()
        };
        for padding in [9_000_000_000_000_000_000, 100_000] {
            let said = refused(&|data| {
                let augmentation =
                    Augmentation { mirrored: false, flips: false, crop_padding: padding };
                data.augmentation = Some(augmentation);
            });
            assert!(said.contains(&format!("crop_padding is {padding}")), "{said}");
        }
        for regulariser in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
            let said =
                refused(&|data| data.normalisation = Some(Normalisation::Zca { regulariser }));
            assert!(said.contains("data.normalisation.zca.regulariser is"), "{said}");
        }
    }

    #[test]
    fn keys_that_do_not_fit_the_data_are_refused() {
        let augmented = |mirrored, flips| Some(Augmentation { mirrored, flips, crop_padding: 0 });
        let refused = |name: &str, change: &dyn Fn(&mut Recipe), expected: &str| {
            let mut recipe = Recipe::named(name).unwrap();
            change(&mut recipe);
            let said = recipe.validate().unwrap_err().to_string();
            assert!(said.contains(expected), "{name}: {said}");
        };
        refused(
            "cifar10-cnn",
            &|r| r.data.augmentation = augmented(true, true),
            "both flips and mirrored",
        );
        refused("digits", &|r| r.data.pixels = None, "data.pixels is missing");
        for name in ["tweet-tagger", "symbolic", "char-gpt"] {
            let for_pictures = "augmentation are for images";
            refused(name, &|r| r.data.pixels = Some(Pixels::ZeroToOne), for_pictures);
            refused(
                name,
                &|r| r.data.normalisation = Some(Normalisation::MeanPicture),
                for_pictures,
            );
            refused(name, &|r| r.data.augmentation = augmented(false, true), for_pictures);
            refused(name, &|r| r.data.validation = 5, "has a validation part of its own");
        }
        let convolutional = Recipe::named("cifar10-cnn").unwrap().network;
        refused("timit-frames", &|r| r.network = convolutional.clone(), "holds no images");
        refused("char-gpt", &|r| r.training.batches = None, "training.batches is missing");
        refused(
            "char-gpt",
            &|r| r.noise = Some(NoiseRecipe { amplitudes: vec![0.5] }),
            "noise is added to numbers",
        );
        refused("symbolic", &|r| r.comparison.formulas.clear(), "comparison.formulas is empty");
    }
}
