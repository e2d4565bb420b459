use crate::Result;
use crate::measure::{LossKind, Selection};
use crate::recipe::{
    At, DataRecipe, NetworkRecipe, NoiseRecipe, Normalisation, Recipe, Size, TrainingRecipe,
    limits, setting,
};
use gelu_compare::measure::{EpochMetrics, Reported};
use gelu_compare::names::number;
use gelu_compare::runs::{RunKey, Spec, Stage};
use gelu_core::Activation;
use gelu_learner::activation::{NamedActivation, Nonlinearity, TargetFormula};
use serde::{Deserialize, Serialize};

/// The specification of one run: everything that its result depends on, and nothing else. It is saved with the run as
/// `run.toml`. Its digest is part of the name of the run's folder, so another setting is another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Version of this file's layout and of the training; it is raised when a change of the program changes results.
    pub version: u32,
    /// Name of the recipe.
    pub experiment: String,
    /// The activation of the hidden layers. An activation that this program does not know can be read but not
    /// trained.
    pub activation: NamedActivation,
    /// Seed of the weights, the order of the batches and the dropout masks.
    pub seed: u64,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Dropout rate.
    pub dropout: f64,
    /// The learned formula, if the data are points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<TargetFormula>,
    /// The learned table of a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The sizes in which the runs of the comparison differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<Size>,
    /// The stage of the comparison that the run belongs to.
    #[serde(default, skip_serializing_if = "Stage::is_only")]
    pub stage: Stage,
    /// Name of the backend, because results of two backends differ in their last digits.
    pub backend: String,
    /// SHA-256 of the data set's content.
    pub data_fingerprint: String,
    /// The data, and how they are presented to the network.
    pub data: DataRecipe,
    /// The network.
    pub network: NetworkRecipe,
    /// The training.
    pub training: TrainingRecipe,
    /// The metric that chooses the best epoch, if it is reported; then the saved network is that of the best epoch,
    /// not of the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_by: Option<Selection>,
    /// The noise under which the trained network is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseRecipe>,
}

impl RunSpec {
    /// The largest [`seed`](Self::seed). Specifications are saved as TOML, which has no larger integers.
    pub const LARGEST_SEED: u64 = i64::MAX as u64;

    /// Creates the specification of a run of `recipe` with one combination of its varied values.
    pub fn new(
        recipe: &Recipe,
        activation: impl Into<NamedActivation>,
        learning_rate: f64,
        dropout: f64,
        seed: u64,
        backend: &str,
        data_fingerprint: &str,
    ) -> Self {
        let activation = activation.into();
        Self {
            version: current_version(&recipe.network, &recipe.data, &activation),
            experiment: recipe.name.clone(),
            activation,
            seed,
            learning_rate,
            dropout,
            formula: None,
            table: None,
            varied: Vec::new(),
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

    /// Returns the loss that training minimises.
    pub fn loss(&self) -> LossKind {
        self.network.loss_on(&self.data)
    }

    /// Returns the request for loading the data set.
    pub fn asked(&self) -> crate::data::DataRequest {
        self.data.asked_for(&self.network)
    }

    /// Returns the same run with another learned formula.
    pub fn of_formula(self, formula: Option<TargetFormula>) -> Self {
        Self { formula, ..self }
    }

    /// Returns the value at which a verdict on this run holds; `called` converts a formula.
    fn at(&self, called: impl FnOnce(&TargetFormula) -> String) -> At {
        self.formula.as_ref().map_or(At::Dropout(self.dropout), |f| At::Formula(called(f)))
    }

    /// Returns the same run for one stage of a comparison that tunes first; the final stage trains on the validation
    /// examples too.
    pub fn of_stage(mut self, stage: Stage) -> Self {
        self.stage = stage;
        if stage == Stage::Final {
            self.data.validation = 0;
        }
        self
    }
}

/// Returns the version in which the results of such runs last changed.
///
/// - 8: a GPT has its own kernels.
/// - 9: the gradients of a convolution's weights are computed in another way, and the results of a convolution with
///   16 to 31 channels.
/// - 10: the coefficients of a PolyNorm do not decay, an activation's parameter is rounded to f32, and whitened
///   images are bit-identical on any number of threads.
/// - 11: the seed splits the rows of tables.
///
/// All other runs are bit-identical to version 7.
fn current_version(
    network: &NetworkRecipe,
    data: &DataRecipe,
    activation: &NamedActivation,
) -> u32 {
    use NetworkRecipe::{Airbench, Cnn, Gpt, WideResNet};
    let rounded = |activation: &Activation| {
        let parameter = activation.unit().map_or(0.0, |unit| unit.parameter());
        f64::from(parameter as f32) != parameter
    };
    let changed = match activation.nonlinearity() {
        Ok(Nonlinearity::PolyNorm) => true,
        Ok(Nonlinearity::Function(function) | Nonlinearity::Gate(function)) => rounded(function),
        Err(_) => false,
    };
    match network {
        _ if data.is_of_tables() => 11,
        _ if changed || matches!(data.normalisation, Some(Normalisation::Zca { .. })) => 10,
        Cnn { .. } | WideResNet { .. } | Airbench { .. } => 9,
        Gpt { .. } => 8,
        _ => 7,
    }
}

impl Spec for RunSpec {
    const VERSION: u32 = 11;
    const TOOL: &'static str = "gelu";
    const RESULT: Option<&'static str> = Some("model.bpk");

    fn version(&self) -> u32 {
        self.version
    }

    fn current_version(&self) -> u32 {
        current_version(&self.network, &self.data, &self.activation)
    }

    fn at_version(&self, version: u32) -> Self {
        Self { version, ..self.clone() }
    }

    fn validate(&self) -> Result<()> {
        limits::learning_rate(self.learning_rate)?;
        limits::dropout(self.dropout)?;
        self.data.validate()?;
        self.network.validate()?;
        self.network.check_activation(&self.activation)?;
        self.training.validate()?;
        self.noise.as_ref().map_or(Ok(()), NoiseRecipe::validate)
    }

    fn key(&self) -> RunKey {
        RunKey {
            setting: self.with_sizes(setting(
                &self.activation.to_string(),
                self.learning_rate,
                self.at(ToString::to_string),
            )),
            seed: self.seed,
            stage: self.stage,
        }
    }

    /// Uses only the name of a formula.
    fn name(&self) -> String {
        let at = self.at(|formula| formula.name().to_owned());
        let setting = self.with_sizes(setting(self.activation.name(), self.learning_rate, at));
        RunKey { setting, ..self.key() }.to_string()
    }

    fn folder_prefix(&self) -> String {
        // Some file systems do not allow the colon of `elu:0.5`, and the name of an unknown activation may be any
        // text.
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let activation: String = self.activation.name().chars().take(64).map(plain).collect();
        let activation = activation.trim_start_matches('.');
        let rate = number(self.learning_rate);
        let at = match &self.formula {
            Some(formula) => formula.name().to_owned(),
            None => format!("dropout{}", number(self.dropout)),
        };
        format!("{activation}-lr{rate}-{at}{}-seed{}", self.sizes_in_words(), self.seed)
    }

    fn epochs(&self) -> Option<usize> {
        Some(self.training.epochs)
    }

    fn reports_best_epoch(&self) -> bool {
        self.best_by.is_some()
    }

    fn reported_epoch<'a>(&self, epochs: &'a [EpochMetrics]) -> Option<&'a EpochMetrics> {
        match self.best_by {
            Some(selection) => Reported::BestEpoch.epoch_of(&selection.by(self.loss()), epochs),
            None => epochs.last(),
        }
    }

    /// Losses and learning rates are finite, because a run ends if they are not; errors are shares.
    fn is_possible(&self, column: &str, value: f64) -> bool {
        match column.ends_with("_error") {
            true => (0.0..=1.0).contains(&value),
            false => value.is_finite(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        gelu_compare::names::check_file_name("run", &name).unwrap();
        assert_ne!(name, folder_name("elu:0.25"));
    }

    #[test]
    fn folder_names_are_short_whatever_the_numbers_and_lead_nowhere_else() {
        let mut spec = spec(RunSpec::LARGEST_SEED);
        (spec.learning_rate, spec.dropout) = (1e308, 1e-300);
        assert!(
            spec.folder_name().starts_with("gelu-lr1e308-dropout1e-300-seed9223372036854775807-")
        );
        for name in ["../../evil", "..", "a/b\\c", "x\u{1b}[2J", &"long".repeat(1000)] {
            spec.activation = NamedActivation::read(name);
            let name = spec.folder_name();
            assert!(name.len() < 200 && !name.starts_with('.'), "{name}");
            assert!(!name.contains(['/', '\\', '\u{1b}']), "{name}");
        }
    }

    /// The names must stay the same, because existing folders have them.
    #[test]
    fn ordinary_numbers_stand_in_a_name_as_they_always_did() {
        for (rate, dropout, expected) in [
            (1e-3, 0.5, "gelu-lr0.001-dropout0.5-seed1-"),
            (1e-5, 0.0, "gelu-lr0.00001-dropout0-seed1-"),
            (0.1 + 0.2, 0.1, "gelu-lr0.30000000000000004-dropout0.1-seed1-"),
            (100.0, 1.0 / 3.0, "gelu-lr100-dropout0.3333333333333333-seed1-"),
        ] {
            let spec = RunSpec { learning_rate: rate, dropout, ..spec(1) };
            assert!(spec.folder_name().starts_with(expected), "{}", spec.folder_name());
        }
    }

    /// The version is in `run.toml`, and so affects the names of folders.
    #[test]
    fn a_version_is_that_of_the_last_change_of_bits() {
        let version = |recipe: &str, activation: &str| {
            let activation: NamedActivation = activation.parse().unwrap();
            let recipe = Recipe::named(recipe).unwrap();
            RunSpec::new(&recipe, activation, 1e-3, 0.0, 1, "flex", "abc").version
        };
        assert_eq!(version("digits", "gelu"), 7);
        assert_eq!(version("char-gpt", "gelu"), 8);
        assert_eq!(version("cifar10-wrn", "gelu"), 9);
        assert_eq!(version("cifar10-cnn", "gelu"), 10, "whitened");
        assert_eq!(version("char-gpt", "polynorm"), 10);
        // 0.5 is exact in f32, 0.1 is not.
        assert_eq!(version("digits", "elu:0.5"), 7);
        assert_eq!(version("digits", "elu:0.1"), 10);
    }

    #[test]
    fn specification_survives_being_written_and_read() {
        let read: RunSpec = toml::from_str(&spec(3).to_toml()).unwrap();
        assert_eq!(read, spec(3));
        let largest = spec(RunSpec::LARGEST_SEED);
        assert_eq!(toml::from_str::<RunSpec>(&largest.to_toml()).unwrap(), largest);
    }
}
