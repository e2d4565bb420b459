//! An experiment as data: data set, network, training, comparison, figure.
//!
//! A recipe is a TOML file. The files in `recipes/` are built in; `--recipe FILE` reads another one, and flags
//! override what a comparison varies. Unknown keys are an error.

mod command;
mod comparison;
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
pub use comparison::{ComparisonRecipe, NoiseRecipe, Retraining, Trivial};
pub use data::DataRecipe;
pub(crate) use design::{ACTIVATION, At, measures, setting};
pub use figure::{FigureSpec, Panels, SecondSplit};
pub use network::NetworkRecipe;
pub use own::OwnRecipe;
pub use schedule::Schedule;
pub use sizes::Size;
pub(crate) use sizes::{TABLE, combinations};
pub use training::{BatchUnit, BetaChange, OptimizerRecipe, TrainLoss, TrainingRecipe};

use crate::{Error, Result};
use gelu_compare::error::Place;
use gelu_compare::files::read_text;
use gelu_compare::suggestion::unknown;
use gelu_learner::activation::NamedActivation;
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
mod tests;
