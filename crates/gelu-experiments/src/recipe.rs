//! An experiment as data: data set, network, training, comparison, figure.
//!
//! A recipe is a TOML file. Those in `recipes/` are built in; `--recipe FILE` reads another, and
//! flags override what a comparison varies. Unknown keys are refused.

use crate::runs::{FigureSpec, Selection};
use crate::{Error, Result};
use gelu_core::Activation;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The built-in recipes, in the order they are listed: name and text.
const BUILT_IN: &[(&str, &str)] = &[
    ("digits", include_str!("../recipes/digits.toml")),
    ("mnist-classifier", include_str!("../recipes/mnist-classifier.toml")),
    ("mnist-script", include_str!("../recipes/mnist-script.toml")),
];

/// An experiment, complete: enough to repeat it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The name it is called by.
    pub name: String,
    /// One line for headings.
    pub title: String,
    /// What it is trained on.
    pub data: DataRecipe,
    /// What is trained.
    pub network: NetworkRecipe,
    /// How it is trained.
    pub training: TrainingRecipe,
    /// What is varied.
    pub comparison: ComparisonRecipe,
    /// The figure of the paper it reproduces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<FigureSpec>,
}

/// Which data, and how it is presented.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecipe {
    /// Name of the data set, as `gelu data list` shows it.
    pub set: String,
    /// How bytes become inputs.
    pub pixels: Pixels,
    /// How many of the training examples (the last ones) are set aside for validation.
    pub validation: usize,
    /// Use only the first so many training examples (before validation is set aside from all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_limit: Option<usize>,
}

/// How a pixel's byte becomes a network's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pixels {
    /// `x / 255`: 0 to 1.
    ZeroToOne,
    /// `x / 127.5 − 1`: −1 to 1.
    MinusOneToOne,
}

/// Which network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkRecipe {
    /// The fully connected classifier, [`gelu_models::Mlp`], unit-norm rows.
    Classifier {
        /// Hidden layers.
        depth: usize,
        /// Neurons in each.
        width: usize,
    },
}

/// How a network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRecipe {
    /// Passes over the training set.
    pub epochs: usize,
    /// Examples in a batch; the last batch of an epoch holds what is left.
    pub batch_size: usize,
    /// The optimiser.
    pub optimizer: OptimizerRecipe,
    /// How the training loss is measured.
    pub train_loss: TrainLoss,
}

/// Which optimiser, with all its constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OptimizerRecipe {
    /// Adam (Kingma & Ba, 2015).
    Adam {
        /// Decay of the first moment.
        beta_1: f32,
        /// Decay of the second moment.
        beta_2: f32,
        /// Added to the root of the second moment.
        epsilon: f32,
    },
}

/// How the training loss of an epoch is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainLoss {
    /// After the epoch, over the whole training set, dropout off: the paper's curves.
    DropoutOff,
    /// The mean of the epoch's batch losses as they were trained on, dropout on: the source
    /// script's curves. Needs no further pass over the data.
    Batches,
}

/// What a comparison varies: every combination is one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonRecipe {
    /// Activations by name.
    pub activations: Vec<Activation>,
    /// Runs per setting, with the seeds 1, 2, ….
    pub seeds: u64,
    /// Initial learning rates.
    pub learning_rates: Vec<f64>,
    /// Dropout rates.
    pub dropout: Vec<f64>,
    /// What the best learning rate is chosen by.
    pub selection: Selection,
}

impl Recipe {
    /// Names of the built-in recipes.
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|(name, _)| *name).collect()
    }

    /// The built-in recipe of that name.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] listing what exists.
    pub fn named(name: &str) -> Result<Self> {
        match BUILT_IN.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::parse(text, name),
            None => Err(Error::Usage(format!(
                "unknown experiment `{name}`; there are: {}",
                Self::names().join(", ")
            ))),
        }
    }

    /// The recipe in a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is not TOML, has an unknown or missing key, or a value that
    /// cannot be trained with.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        Self::parse(&text, &path.display().to_string())
    }

    fn parse(text: &str, origin: &str) -> Result<Self> {
        let refuse = |problem: String| Error::Recipe { recipe: origin.to_owned(), problem };
        let recipe: Self = toml::from_str(text)
            .map_err(|error| refuse(error.to_string().trim_end().to_owned()))?;
        recipe.validate().map_err(|problem| refuse(problem.to_string()))?;
        Ok(recipe)
    }

    /// Checks every value that a type cannot.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the value, and what it has to be.
    pub fn validate(&self) -> Result<()> {
        let at_least_one = |what: &str, value: usize| match value {
            0 => Err(Error::Usage(format!("{what} is 0; it has to be at least 1"))),
            _ => Ok(()),
        };
        let NetworkRecipe::Classifier { width, .. } = self.network;
        at_least_one("network.width", width)?;
        at_least_one("the number of epochs", self.training.epochs)?;
        at_least_one("the batch size", self.training.batch_size)?;
        at_least_one("the number of seeds", self.comparison.seeds as usize)?;
        at_least_one("the number of activations", self.comparison.activations.len())?;
        at_least_one("the number of learning rates", self.comparison.learning_rates.len())?;
        at_least_one("the number of dropout rates", self.comparison.dropout.len())?;
        if self.data.train_limit == Some(0) {
            return Err(Error::Usage("the train limit is 0; it has to be at least 1".to_owned()));
        }
        for &rate in &self.comparison.learning_rates {
            if !(rate.is_finite() && rate > 0.0) {
                return Err(Error::Usage(format!(
                    "learning rate {rate} cannot be trained with; it has to be above 0 and finite"
                )));
            }
        }
        for &rate in &self.comparison.dropout {
            if !(0.0..1.0).contains(&rate) {
                return Err(Error::Usage(format!(
                    "dropout rate {rate} is not a probability; it has to be at least 0 and below 1"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_recipe_is_valid_and_named_as_its_file() {
        for (name, text) in BUILT_IN {
            let recipe = Recipe::parse(text, name).unwrap();
            assert_eq!(&recipe.name, name);
        }
    }

    #[test]
    fn recipe_survives_being_written_and_read() {
        for name in Recipe::names() {
            let recipe = Recipe::named(name).unwrap();
            let text = toml::to_string(&recipe).unwrap();
            assert_eq!(Recipe::parse(&text, "copy").unwrap(), recipe);
        }
    }

    #[test]
    fn unknown_key_is_refused_with_its_name() {
        let text = BUILT_IN[0].1.replace("batch_size", "batchsize");
        let error = Recipe::parse(&text, "mine.toml").unwrap_err().to_string();
        assert!(error.contains("mine.toml") && error.contains("batchsize"), "{error}");
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
}
