use super::{RunFolder, RunKey, RunSpec};
use crate::activation::NamedActivation;
use crate::data::DataSource;
use crate::error::Place;
use crate::files::{from_toml, problem, read_text, sync_folder, write_atomically};
use crate::recipe::Recipe;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of a comparison:
///
/// ```text
/// comparison.toml     the recipe, the data and the backend: what its runs are made from
/// runs/<run>/         one folder a run; see RunFolder
/// results.json …      the report, once there is something to report
/// ```
///
/// What is still to be trained follows from the recipe and the runs alone, so any number of
/// processes can work on it; see [`plan`](crate::comparison::plan).
#[derive(Clone, Debug)]
pub struct ComparisonFolder {
    path: PathBuf,
}

/// What `comparison.toml` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Version of this file's layout.
    pub version: u32,
    /// Whether every combination of the recipe is wanted. A folder that `gelu train` has made holds
    /// the runs that were trained, and nothing else is planned.
    pub planned: bool,
    /// The device it was made for, as `--device` names it.
    pub device: String,
    /// Name of the backend: results of two backends differ in their last digits.
    pub backend: String,
    /// Seconds without a heartbeat after which a worker on another host has lost its run.
    pub lease_seconds: u64,
    /// What it is trained on.
    pub data: DataSource,
    /// How many examples the test set has, as far as the recipe uses it.
    pub test_examples: usize,
    /// What is trained, and what is varied.
    pub recipe: Recipe,
}

impl Comparison {
    /// The current [`version`](Self::version).
    pub const VERSION: u32 = 3;
    /// [`lease_seconds`](Self::lease_seconds) where nothing else is asked for.
    pub const LEASE_SECONDS: u64 = 60;
    /// The most that [`lease_seconds`](Self::lease_seconds) can be: a day.
    pub const LONGEST_LEASE: u64 = 86_400;

    /// All combinations of `recipe` on this data and device.
    pub fn new(recipe: Recipe, data: DataSource, device: &str, backend: &str) -> Self {
        Self {
            version: Self::VERSION,
            planned: true,
            device: device.to_owned(),
            backend: backend.to_owned(),
            lease_seconds: Self::LEASE_SECONDS,
            data,
            test_examples: 0,
            recipe,
        }
    }

    /// Checks every value that a type cannot.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the value, and what it has to be.
    fn validate(&self) -> Result<()> {
        self.recipe.validate()?;
        match self.lease_seconds > Self::LONGEST_LEASE {
            true => Err(Error::Usage(format!(
                "lease_seconds is {}; it has to be at most {}",
                self.lease_seconds,
                Self::LONGEST_LEASE
            ))),
            false => Ok(()),
        }
    }

    /// How long a worker on another host may be without a heartbeat.
    pub fn silence(&self) -> Duration {
        Duration::from_secs(self.lease_seconds.max(1))
    }

    /// The specification of a run; `None` where the activation is neither one of the recipe's nor
    /// one that has a name.
    pub fn spec(&self, key: &RunKey) -> Option<RunSpec> {
        let of_recipe = self.recipe.comparison.activations.iter();
        let activation = of_recipe
            .clone()
            .find(|activation| activation.to_string() == key.activation)
            .cloned()
            .or_else(|| key.activation.parse().ok())?;
        Some(self.spec_of(&activation, key))
    }

    /// Whether a run is one of this comparison: trained by its recipe, on its data and backend.
    pub fn includes(&self, spec: &RunSpec) -> bool {
        self.spec_of(&spec.activation, &spec.key()) == *spec
    }

    fn spec_of(&self, activation: &NamedActivation, key: &RunKey) -> RunSpec {
        let RunKey { learning_rate, dropout, seed, stage, .. } = *key;
        RunSpec::new(
            &self.recipe,
            activation,
            learning_rate,
            dropout,
            seed,
            &self.backend,
            &self.data.fingerprint,
        )
        .of_stage(stage)
    }

    /// This comparison widened to what is asked for now: more activations, seeds, learning rates
    /// and dropout rates may be added to a comparison, and nothing else can be changed, since the
    /// runs that are there would no longer be part of it.
    ///
    /// # Errors
    ///
    /// What differs, and what it is here and there.
    fn widened(&self, asked: &Self) -> std::result::Result<Self, String> {
        let mut same_grid = asked.clone();
        let (here, there) = (&self.recipe.comparison, &asked.recipe.comparison);
        let grid = &mut same_grid.recipe.comparison;
        grid.activations = here.activations.clone();
        grid.seeds = here.seeds;
        grid.learning_rates = here.learning_rates.clone();
        grid.dropout = here.dropout.clone();
        // Which comparisons are made may change, but not what they are decided by, nor the looks at
        // them once they are fixed.
        grid.baseline = here.baseline.clone();
        if here.until_decided.is_none() || there.until_decided.is_none() {
            grid.until_decided = here.until_decided;
        }
        same_grid.planned = self.planned;
        same_grid.device = self.device.clone();
        same_grid.lease_seconds = self.lease_seconds;
        same_grid.data.location = self.data.location.clone();
        if let Some(difference) = difference("", &to_value(self), &to_value(&same_grid)) {
            return Err(difference);
        }
        if !asked.planned {
            return Ok(self.clone());
        }
        let mut widened = self.clone();
        (widened.recipe, widened.planned) = (asked.recipe.clone(), true);
        let until_decided = &mut widened.recipe.comparison.until_decided;
        *until_decided = until_decided.or(here.until_decided);
        if self.planned {
            let missing = |what: &str, value: String| {
                Err(format!("comparison.{what} has {value} there, which is not asked for now"))
            };
            let asked_for = |a: &&NamedActivation| !there.activations.contains(a);
            if let Some(activation) = here.activations.iter().find(asked_for) {
                return missing("activations", activation.to_string());
            }
            let rate = |here: &[f64], there: &[f64]| {
                here.iter().find(|rate| !there.contains(rate)).copied()
            };
            if let Some(rate) = rate(&here.learning_rates, &there.learning_rates) {
                return missing("learning_rates", rate.to_string());
            }
            if let Some(rate) = rate(&here.dropout, &there.dropout) {
                return missing("dropout", rate.to_string());
            }
            if here.seeds > there.seeds && widened.recipe.comparison.until_decided.is_none() {
                return missing("seeds", here.seeds.to_string());
            }
        }
        Ok(widened)
    }
}

fn to_value(comparison: &Comparison) -> Value {
    serde_json::to_value(comparison).expect("a comparison holds plain values alone")
}

/// The first place where two values differ: `training.epochs is 20 there and 2 here`.
fn difference(place: &str, there: &Value, here: &Value) -> Option<String> {
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let place = match place {
                    "" | "recipe" => key.clone(),
                    place => format!("{place}.{key}"),
                };
                let of = |object: &serde_json::Map<String, Value>| {
                    object.get(key).cloned().unwrap_or(Value::Null)
                };
                difference(&place, &of(a), &of(b))
            })
        }
        (a, b) if a == b => None,
        (a, b) => Some(format!("{place} is {} there and {} here", shown(a), shown(b))),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "absent".to_owned(),
        other => other.to_string(),
    }
}

impl ComparisonFolder {
    /// The folder of a comparison to work on: made if it is new, joined if it holds the same
    /// comparison, widened if it holds a part of it.
    ///
    /// # Errors
    ///
    /// When it holds another comparison, or cannot be made or written to.
    pub fn create(path: &Path, asked: &Comparison) -> Result<(Self, Comparison)> {
        let folder = Self { path: path.to_path_buf() };
        let runs = folder.runs();
        fs::create_dir_all(&runs).map_err(Error::io("create the folder", &runs))?;
        if folder.write_first(asked)? {
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                sync_folder(parent)?;
            }
            return Ok((folder, asked.clone()));
        }
        let there = folder.comparison()?;
        let widened = folder.widened(&there, asked)?;
        if widened != there {
            write_atomically(&folder.file(), to_toml(&widened))?;
        }
        Ok((folder, widened))
    }

    /// What [`create`](Self::create) would make of the comparison in that folder, which stays as it
    /// is; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When it holds another comparison, or cannot be read.
    pub fn foresee(path: &Path, asked: &Comparison) -> Result<Option<(Self, Comparison)>> {
        let folder = Self { path: path.to_path_buf() };
        if !folder.file().exists() {
            return Ok(None);
        }
        let widened = folder.widened(&folder.comparison()?, asked)?;
        Ok(Some((folder, widened)))
    }

    fn widened(&self, there: &Comparison, asked: &Comparison) -> Result<Comparison> {
        there.widened(asked).map_err(|difference| {
            Error::data(
                &self.path,
                Place::File,
                format!("holds another comparison: {difference}"),
                "name another folder with --out, or delete this one to begin anew",
            )
        })
    }

    /// An existing comparison.
    ///
    /// # Errors
    ///
    /// When there is none in that folder.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        folder.comparison()?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its runs are.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// Where `comparison.toml` is.
    pub fn file(&self) -> PathBuf {
        self.path.join("comparison.toml")
    }

    /// The folder of a run, created if it is new.
    ///
    /// # Errors
    ///
    /// As [`RunFolder::create`].
    pub fn run(&self, spec: &RunSpec) -> Result<RunFolder> {
        RunFolder::create(&self.runs(), spec)
    }

    /// What is compared.
    ///
    /// # Errors
    ///
    /// When `comparison.toml` is missing, damaged, or of another version.
    pub fn comparison(&self) -> Result<Comparison> {
        #[derive(Default, Deserialize)]
        struct Versioned {
            version: Option<u32>,
        }
        let path = self.file();
        let Some(text) = read_text(&path)? else {
            return Err(Error::data(
                &self.path,
                Place::File,
                "holds no comparison (no comparison.toml)",
                "name the folder that `gelu compare` wrote, by default results/<experiment>",
            ));
        };
        let refuse = |problem: String, advice: &str| {
            Err(Error::data(&path, Place::File, problem, advice.to_owned()))
        };
        let damaged = "restore it, or delete the folder to begin anew";
        let version = match toml::from_str::<Versioned>(&text) {
            Ok(versioned) => versioned.version,
            Err(error) => return refuse(problem(&error), damaged),
        };
        match version {
            Some(Comparison::VERSION) => {}
            Some(newer) if newer > Comparison::VERSION => {
                let problem =
                    format!("was made by a newer version of this program (layout {newer})");
                return refuse(problem, "use that version");
            }
            _ => {
                let problem = "was made by an older version of this program".to_owned();
                return refuse(problem, "use that version, or name another folder with --out");
            }
        }
        let comparison: Comparison = match from_toml(&text) {
            Ok(comparison) => comparison,
            Err(problem) => return refuse(problem, damaged),
        };
        match comparison.validate() {
            Ok(()) => Ok(comparison),
            Err(error) => refuse(error.to_string(), damaged),
        }
    }

    /// Whether everybody on this machine may write into the folder.
    pub fn is_open_to_all(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let open = |path: &Path| {
                fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o002 != 0)
            };
            open(&self.path) || open(&self.runs())
        }
        #[cfg(not(unix))]
        false
    }

    /// Writes `comparison.toml` if there is none; of two processes one does.
    fn write_first(&self, comparison: &Comparison) -> Result<bool> {
        let path = self.file();
        if path.exists() {
            return Ok(false);
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".writing-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(&self.path);
        let mut file = file.map_err(Error::io("create a file in", &self.path))?;
        file.write_all(to_toml(comparison).as_bytes()).map_err(Error::io("write", &path))?;
        file.as_file().sync_all().map_err(Error::io("sync", &path))?;
        match file.persist_noclobber(&path) {
            Ok(_) => sync_folder(&self.path).map(|()| true),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::io("write", &path)(error.error)),
        }
    }
}

fn to_toml(comparison: &Comparison) -> String {
    toml::to_string(comparison).expect("a comparison holds plain values alone")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        let recipe = Recipe::named("mnist-classifier").unwrap();
        let data = DataSource::new("mnist", Some("somewhere".into()), false, [b"content"]);
        Comparison::new(recipe, data, "flex", "flex")
    }

    fn refused(path: &Path, change: impl Fn(&mut Comparison)) -> String {
        let mut asked = comparison();
        change(&mut asked);
        ComparisonFolder::create(path, &asked).unwrap_err().to_string()
    }

    #[test]
    fn the_same_comparison_is_joined_and_another_refused() {
        let out = tempfile::tempdir().unwrap();
        ComparisonFolder::create(out.path(), &comparison()).unwrap();
        let (folder, joined) = ComparisonFolder::create(out.path(), &comparison()).unwrap();
        assert_eq!((&joined, joined.clone()), (&comparison(), folder.comparison().unwrap()));
        let before = fs::read(folder.file()).unwrap();
        let epochs = refused(out.path(), |c| c.recipe.training.epochs = 7);
        assert!(epochs.contains("training.epochs is 50 there and 7 here"), "{epochs}");
        assert!(epochs.contains("--out"), "{epochs}");
        let backend = refused(out.path(), |c| c.backend = "vulkan".to_owned());
        assert!(backend.contains("backend is \"flex\" there"), "{backend}");
        let data = refused(out.path(), |c| c.data.fingerprint = "other".to_owned());
        assert!(data.contains("data.fingerprint"), "{data}");
        let fewer = refused(out.path(), |c| c.recipe.comparison.learning_rates = vec![1e-3]);
        assert!(fewer.contains("learning_rates has 0.0001 there"), "{fewer}");
        assert_eq!(fs::read(folder.file()).unwrap(), before, "what is refused changes nothing");
    }

    #[test]
    fn a_comparison_can_be_widened() {
        let out = tempfile::tempdir().unwrap();
        ComparisonFolder::create(out.path(), &comparison()).unwrap();
        let mut wider = comparison();
        wider.recipe.comparison.seeds += 3;
        wider.recipe.comparison.activations.push(gelu_core::Activation::Silu.into());
        wider.device = "flex:1".to_owned();
        let (folder, widened) = ComparisonFolder::create(out.path(), &wider).unwrap();
        assert_eq!(widened.recipe, wider.recipe);
        assert_eq!(folder.comparison().unwrap(), widened);
    }

    #[test]
    fn runs_of_the_recipe_belong_to_it_whatever_their_seed() {
        let comparison = comparison();
        let key = RunKey {
            activation: "silu".to_owned(),
            learning_rate: 0.5,
            dropout: 0.0,
            seed: 77,
            stage: super::super::Stage::Only,
        };
        let spec = comparison.spec(&key).unwrap();
        assert!(comparison.includes(&spec));
        let mut other = spec;
        other.training.batch_size += 1;
        assert!(!comparison.includes(&other));
    }

    #[test]
    fn folders_that_hold_no_comparison_or_another_version_say_so() {
        let out = tempfile::tempdir().unwrap();
        let problem = || ComparisonFolder::open(out.path()).unwrap_err().to_string();
        assert!(problem().contains("no comparison"), "{}", problem());
        let (folder, _) = ComparisonFolder::create(out.path(), &comparison()).unwrap();
        let text = fs::read_to_string(folder.file()).unwrap();
        let with = |version: &str| {
            fs::write(folder.file(), text.replace("version = 3\n", version)).unwrap();
            problem()
        };
        assert!(with("version = 4\n").contains("newer version"), "{}", problem());
        assert!(with("").contains("older version"), "{}", problem());
        fs::write(folder.file(), &text[..text.len() / 2]).unwrap();
        assert!(problem().contains("comparison.toml"), "{}", problem());
    }
}
