use super::chance::trivial;
use super::own::OwnData;
use super::suggested::Suggested;
use crate::comparison::SnapshotReader;
use crate::data::{self, DataSet, Table, TableSet, Target};
use crate::measure;
use crate::recipe::{OwnRecipe, Recipe};
use crate::runs::{Comparison, Plan};
use crate::training::Splits;
use crate::{Error, Result};
use clap::Args;
use clap::builder::TypedValueParser;
use gelu_compare::cli::count;
use gelu_compare::files::write_atomically;
use gelu_compare::output::complain;
use gelu_compare::runs::RunKey;
use gelu_learner::device::DeviceName;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The experiment to run when the user names none.
const DEFAULT_EXPERIMENT: &str = "digits";

/// Flags for the experiment, its data and device, shared by `compare` and `train`.
#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Experiment [default: digits, which needs no data]
    #[arg(value_name = "EXPERIMENT", value_parser = Suggested::experiments(), conflicts_with_all = ["csv", "images"])]
    experiment: Option<String>,
    /// Read the experiment from a recipe file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["experiment", "csv", "images"])]
    recipe: Option<PathBuf>,
    #[command(flatten)]
    own: OwnData,
    /// Passes over the training set
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    epochs: Option<usize>,
    /// Examples per batch
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    batch_size: Option<usize>,
    /// Batches per epoch when examples are sampled at random, as the windows of a text are
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    batches: Option<usize>,
    /// Train only on N training examples (for tweets, sentences or recordings, N of those; for a text, N characters)
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    train_limit: Option<usize>,
    /// Measure only on N validation and N test examples
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    test_limit: Option<usize>,
    /// Set N training examples aside for validation
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    validation: Option<usize>,
    /// Choose learning rates (and the epoch, if the best one is reported) by this metric
    #[arg(long, value_name = "METRIC", value_enum)]
    selection: Option<measure::Selection>,
    /// Measure the layers after every epoch: dead units, pre-activations, gradients
    #[arg(long)]
    probe: bool,
    /// Folder with the data set's files; also the file of a table, or any text file for the experiment on a text
    #[arg(long, value_name = "PATH", conflicts_with_all = ["csv", "images"])]
    data: Option<PathBuf>,
    /// Folder for results [default: results/EXPERIMENT]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Devices of one backend to train on, for example flex, vulkan or cuda:0,cuda:1; see `gelu devices`
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Suggested::devices().try_map(|name| name.parse::<DeviceName>()))]
    device: Vec<DeviceName>,
    /// Launch every training step kernel by kernel, instead of recording one and replaying it where the device can
    #[arg(long)]
    no_capture: bool,
}

/// A selection with its recipe, data and devices.
pub(super) struct SelectedRecipe {
    pub(super) recipe: Recipe,
    /// At least one device; all have the same backend.
    pub(super) devices: Vec<DeviceName>,
    /// Whether training steps may be recorded and replayed.
    pub(super) captures: bool,
    pub(super) data: DataSet,
    /// The folder the data were read from, unless it is the default one.
    pub(super) data_folder: Option<PathBuf>,
    pub(super) out: PathBuf,
    /// Whether the recipe is built in, rather than read from a file.
    pub(super) is_built_in: bool,
    /// The recipe for the user's own data.
    pub(super) made: Option<OwnRecipe>,
}

impl Selection {
    /// Returns the recipe for the user's own data; `None` if none are given.
    fn made(&self) -> Result<Option<OwnRecipe>> {
        // The recipe is saved in another folder, so its paths must be absolute.
        let absolute =
            |place: &Path| std::path::absolute(place).unwrap_or_else(|_| place.to_path_buf());
        self.own.recipe(absolute)
    }

    /// Returns the recipe with the changes of the flags; `vary` changes what is compared.
    pub(super) fn recipe(
        &self,
        made: Option<&OwnRecipe>,
        vary: impl FnOnce(&mut Recipe) -> Result<()>,
    ) -> Result<Recipe> {
        let mut recipe = match (made, &self.recipe, &self.experiment) {
            (Some(made), ..) => made.recipe.clone(),
            (None, Some(file), _) => Recipe::from_file(file)?,
            (None, None, name) => Recipe::named(name.as_deref().unwrap_or(DEFAULT_EXPERIMENT))?,
        };
        let training = &mut recipe.training;
        training.epochs = self.epochs.unwrap_or(training.epochs);
        training.batch_size = self.batch_size.unwrap_or(training.batch_size);
        training.batches = self.batches.or(training.batches);
        training.probes |= self.probe;
        let limits = &mut recipe.data;
        limits.train_limit = self.train_limit.or(limits.train_limit);
        limits.test_limit = self.test_limit.or(limits.test_limit);
        limits.validation = self.validation.unwrap_or(limits.validation);
        recipe.comparison.selection = self.selection.unwrap_or(recipe.comparison.selection);
        vary(&mut recipe)?;
        recipe.comparison.without_repetition();
        recipe.validate()?;
        Ok(recipe)
    }

    /// Returns the recipe together with its data and devices.
    pub(super) fn resolve(
        self,
        vary: impl FnOnce(&mut Recipe) -> Result<()>,
    ) -> Result<SelectedRecipe> {
        let (is_built_in, captures) = (self.recipe.is_none(), !self.no_capture);
        let made = self.made()?;
        let mut recipe = self.recipe(made.as_ref(), vary)?;
        let devices = devices(self.device)?;
        let place = self.data.or_else(|| recipe.data.place.clone());
        let data = data::load(&recipe.asked(), place.as_deref())?;
        Splits::check_limits(&data, &recipe)?;
        if let DataSet::Tables(set) = &data {
            choose_tables(&mut recipe, set)?;
        }
        recipe.comparison.trivial = trivial(&data, &recipe);
        recipe.validate()?;
        let out = self.out.unwrap_or_else(|| PathBuf::from("results").join(&recipe.name));
        let out = gelu_compare::cli::restored(out)?;
        let data_folder = place;
        Ok(SelectedRecipe { recipe, devices, captures, data, data_folder, out, is_built_in, made })
    }
}

impl SelectedRecipe {
    /// Returns the comparison to store in the results folder.
    pub(super) fn plan(&self) -> Plan {
        let device = &self.devices[0];
        let mut source = self.data.source().clone();
        // Workers start in other folders, so the path must be absolute.
        source.location = source.location.map(|path| std::path::absolute(&path).unwrap_or(path));
        let (recipe, device) = (self.recipe.clone(), device);
        let mut plan = Plan::new(recipe, source, &device.to_string(), device.backend());
        plan.test_examples = Splits::test_examples(&self.data, &self.recipe);
        plan.lease_seconds = Plan::default_lease(&self.out);
        plan
    }

    /// What a worker is told of a device, as flags.
    pub(super) fn words(&self, device: &DeviceName) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["--device".into(), device.to_string().into()];
        words.extend((!self.captures).then(|| "--no-capture".into()));
        words
    }

    /// Returns the file in which to save the recipe for the user's own data.
    pub(super) fn recipe_file(&self) -> PathBuf {
        self.out.join("recipe.toml")
    }

    /// Creates the comparison's folder, or joins the existing one.
    pub(super) fn make_folder(&self, plan: &Plan) -> Result<Comparison> {
        let (folder, _) = Comparison::create(&self.out, plan, SnapshotReader::has_begun)?;
        if let Some(made) = &self.made {
            write_atomically(&self.recipe_file(), &made.text)?;
        }
        gelu_compare::cli::warn_of_open_folder(&folder);
        Ok(folder)
    }

    /// Returns the number of runs to train at the same time on each device: `asked`, or the default.
    pub(super) fn jobs(&self, asked: Option<usize>) -> usize {
        asked.unwrap_or_else(|| match self.devices[0].is_cpu() {
            true => std::thread::available_parallelism().map_or(1, |n| n.get()),
            false => 1,
        })
    }

    /// Checks that runs can be trained on the data.
    pub(super) fn check(&self, plan: &Plan, keys: impl IntoIterator<Item = RunKey>) -> Result<()> {
        let spec = |key: RunKey| plan.spec(&key).expect("a recipe's activations are its own");
        Splits::check_all(&self.data, keys.into_iter().map(spec))
    }
}

/// Chooses the tables of a folder to learn: if the recipe names none, all tables that the network can learn.
fn choose_tables(recipe: &mut Recipe, set: &TableSet) -> Result<()> {
    if recipe.data.set != "tables" {
        return Ok(());
    }
    let named = &mut recipe.comparison.tables;
    named.iter().try_for_each(|name| set.table(Some(name)).map(|_| ()))?;
    if named.is_empty() {
        let numbers = recipe.network.is_regression();
        let fits = |table: &&Table| matches!(table.target, Target::Numbers(_)) == numbers;
        let (fitting, others): (Vec<&Table>, Vec<&Table>) = set.tables.iter().partition(fits);
        let names =
            |tables: &[&Table]| tables.iter().map(|table| table.name.clone()).collect::<Vec<_>>();
        // If none fits, name them all, so that each gets an error with advice.
        *named = names(if fitting.is_empty() { &others } else { &fitting });
        if !(fitting.is_empty() || others.is_empty()) {
            let what = if numbers { "classes" } else { "numbers" };
            complain(&format!(
                "gelu: left out, because they have {what} to predict and the network does not: {}\n",
                names(&others).join(", ")
            ));
        }
    }
    Ok(())
}

fn devices(asked: Vec<DeviceName>) -> Result<Vec<DeviceName>> {
    let Some(first) = asked.first() else { return Ok(vec![DeviceName::default_device()?]) };
    match asked.iter().find(|device| device.backend() != first.backend()) {
        None => Ok(asked),
        Some(other) => Err(Error::Usage(format!(
            "`{first}` and `{other}` are devices of two backends, whose results differ; name \
             devices of one"
        ))),
    }
}
