use super::canonical::digest;
use super::{RunKey, Stage};
use crate::activation::NamedActivation;
use crate::measure::{EpochMetrics, Reported, Selection};
use crate::recipe::{DataRecipe, NetworkRecipe, NoiseRecipe, Recipe, TrainingRecipe};
use serde::{Deserialize, Serialize};

/// One run, resolved: everything its result depends on, and nothing else. Saved with the run as
/// `run.toml`; its digest names the run's folder, so a changed setting is another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Version of this file's layout and of the training it stands for; raised when a change of
    /// the program changes results.
    pub version: u32,
    /// Name of the recipe it comes from.
    pub experiment: String,
    /// What the hidden layers use. One that this program does not know can be read, not trained.
    pub activation: NamedActivation,
    /// Seed of the weights, the order of the batches and the dropout masks.
    pub seed: u64,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Dropout rate.
    pub dropout: f64,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Stage::is_only")]
    pub stage: Stage,
    /// Name of the backend: results of two backends differ in their last digits.
    pub backend: String,
    /// SHA-256 of the data set's content.
    pub data_fingerprint: String,
    /// Which data, and how it is presented.
    pub data: DataRecipe,
    /// The network.
    pub network: NetworkRecipe,
    /// How it is trained.
    pub training: TrainingRecipe,
    /// Where the best epoch is reported, what it is chosen by: the network kept is that epoch's, not
    /// the last one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_by: Option<Selection>,
    /// Noise it is measured under once it is trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseRecipe>,
}

impl RunSpec {
    /// The current [`version`](Self::version).
    pub const VERSION: u32 = 6;

    /// The run of `recipe` at one combination of what it varies.
    pub fn new(
        recipe: &Recipe,
        activation: impl Into<NamedActivation>,
        learning_rate: f64,
        dropout: f64,
        seed: u64,
        backend: &str,
        data_fingerprint: &str,
    ) -> Self {
        Self {
            version: Self::VERSION,
            experiment: recipe.name.clone(),
            activation: activation.into(),
            seed,
            learning_rate,
            dropout,
            stage: Stage::Only,
            backend: backend.to_owned(),
            data_fingerprint: data_fingerprint.to_owned(),
            data: recipe.data.clone(),
            network: recipe.network.clone(),
            training: recipe.training.clone(),
            best_by: match recipe.comparison.reported {
                Reported::BestEpoch => Some(recipe.comparison.selection),
                Reported::LastEpoch => None,
            },
            noise: recipe.noise.clone(),
        }
    }

    /// The same run for one stage of a comparison that tunes first: the final one trains on the
    /// validation examples too.
    pub fn of_stage(mut self, stage: Stage) -> Self {
        self.stage = stage;
        if stage == Stage::Final {
            self.data.validation = 0;
        }
        self
    }

    /// What tells it from the other runs of its comparison.
    pub fn key(&self) -> RunKey {
        RunKey {
            activation: self.activation.to_string(),
            learning_rate: self.learning_rate,
            dropout: self.dropout,
            seed: self.seed,
            stage: self.stage,
        }
    }

    /// Of its finished epochs, that which its results and the network kept are those of; `None`
    /// before there is any.
    pub fn reported_epoch<'a>(&self, epochs: &'a [EpochMetrics]) -> Option<&'a EpochMetrics> {
        match self.best_by {
            Some(selection) => Reported::BestEpoch.epoch_of(selection, epochs),
            None => epochs.last(),
        }
    }

    /// Name of its folder: readable, and unique through the first 8 hex digits of the SHA-256 of
    /// the specification in a form that depends on no library:
    /// `gelu-lr0.001-dropout0.5-seed1-1f0c9a2e`.
    pub fn folder_name(&self) -> String {
        let RunKey { learning_rate, dropout, seed, .. } = self.key();
        // The parameter of `elu:0.5` is in the digest; a colon is no part of a file name everywhere.
        let activation = self.activation.name().replace(':', "-");
        let tag = &digest(self)[..8];
        format!("{activation}-lr{learning_rate}-dropout{dropout}-seed{seed}-{tag}")
    }

    /// The specification as the text of `run.toml`.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a specification holds plain values alone")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gelu_core::Activation;

    fn spec(seed: u64) -> RunSpec {
        let recipe = Recipe::named("digits").unwrap();
        RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.5, seed, "flex", "abc")
    }

    #[test]
    fn folder_name_is_readable_and_changes_with_any_setting() {
        let name = spec(1).folder_name();
        assert!(name.starts_with("gelu-lr0.001-dropout0.5-seed1-"), "{name}");
        assert_eq!(name, spec(1).folder_name());
        let mut other = spec(1);
        other.data_fingerprint = "abd".to_owned();
        assert_ne!(name, other.folder_name());
        let mut other = spec(1);
        other.training.batch_size += 1;
        assert_ne!(name, other.folder_name());
    }

    #[test]
    fn folder_of_an_activation_with_a_parameter_is_a_file_name_everywhere() {
        let folder_name = |activation: &str| {
            let mut spec = spec(1);
            spec.activation = activation.parse().unwrap();
            spec.folder_name()
        };
        let name = folder_name("elu:0.5");
        assert!(name.starts_with("elu-0.5-lr0.001-"), "{name}");
        crate::names::check_file_name("run", &name).unwrap();
        assert_ne!(name, folder_name("elu:0.25"));
    }

    #[test]
    fn specification_survives_being_written_and_read() {
        let read: RunSpec = toml::from_str(&spec(3).to_toml()).unwrap();
        assert_eq!(read, spec(3));
    }
}
