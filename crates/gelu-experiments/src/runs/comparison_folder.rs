use super::lease;
use super::{RunFolder, RunKey, RunSpec};
use crate::activation::NamedActivation;
use crate::data::DataSource;
use crate::error::Place;
use crate::files::{from_toml, problem, read_text, sync_folder};
use crate::measure::{Criterion, Looks};
use crate::recipe::{ComparisonRecipe, Recipe};
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
/// plan/               once that was widened: whether a process is about to do so; see Lease
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

/// Whether a comparison has been looked at: seeds that are added then have their price.
pub type LookedAt = fn(&ComparisonFolder, &Comparison) -> bool;

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
    /// Looks that were added after one had been taken, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_looks: Vec<AddedLook>,
    /// What is trained, and what is varied.
    pub recipe: Recipe,
}

/// A look that was not planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedLook {
    /// After so many seeds.
    pub seeds: u64,
    /// When it was asked for, as RFC 3339.
    pub at: String,
}

impl Comparison {
    /// The current [`version`](Self::version).
    pub const VERSION: u32 = 3;
    /// The most that [`lease_seconds`](Self::lease_seconds) can be: a day.
    pub const LONGEST_LEASE: u64 = 86_400;

    /// [`lease_seconds`](Self::lease_seconds) where nothing else is asked for: 60, and 120 where the
    /// folder is on a network file system.
    pub fn default_lease(folder: &Path) -> u64 {
        lease::default_seconds(folder)
    }

    /// All combinations of `recipe` on this data and device, in a folder of this machine.
    pub fn new(recipe: Recipe, data: DataSource, device: &str, backend: &str) -> Self {
        Self {
            version: Self::VERSION,
            planned: true,
            device: device.to_owned(),
            backend: backend.to_owned(),
            lease_seconds: 60,
            data,
            test_examples: 0,
            added_looks: Vec::new(),
            recipe,
        }
    }

    /// When it is looked at, with the looks that were added.
    pub fn looks(&self) -> Looks {
        self.recipe.comparison.looks().with_added(self.added_looks.iter().map(|look| look.seeds))
    }

    /// What it is decided by.
    pub fn criterion(&self) -> Criterion {
        Criterion { looks: self.looks(), ..self.recipe.criterion() }
    }

    /// Adds a look that was not planned.
    pub fn add_look(&mut self, seeds: u64, at: &str) {
        self.added_looks.push(AddedLook { seeds, at: at.to_owned() });
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
    /// runs that are there would no longer be part of it. Seeds beyond the last look are a new plan
    /// as long as nobody has looked, and a look that was not planned from then on.
    ///
    /// # Errors
    ///
    /// What differs, and what it is here and there.
    fn widened(
        &self,
        asked: &Self,
        looked_at: impl FnOnce() -> bool,
    ) -> std::result::Result<Self, String> {
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
        grid.until_decided = here.until_decided;
        same_grid.planned = self.planned;
        same_grid.added_looks = self.added_looks.clone();
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
            let further = self.further_look(there, looked_at)?;
            if further != Further::NewPlan {
                let varied = &mut widened.recipe.comparison;
                (varied.seeds, varied.until_decided) = (here.seeds, here.until_decided);
            }
            if let Further::Look { seeds } = further {
                widened.add_look(seeds, &now());
            }
        }
        Ok(widened)
    }

    /// What the seeds asked for are to the looks there are.
    fn further_look(
        &self,
        asked: &ComparisonRecipe,
        looked_at: impl FnOnce() -> bool,
    ) -> std::result::Result<Further, String> {
        let here = &self.recipe.comparison;
        let (looks, seeds) = (self.looks(), asked.looks().last().seeds);
        let last = looks.last().seeds;
        let to_be_decided = here.until_decided.is_none() && asked.until_decided.is_some();
        let known = here.until_decided.is_some() || looks.iter().any(|look| look.seeds == seeds);
        match seeds {
            _ if to_be_decided => match looked_at() {
                false => Ok(Further::NewPlan),
                true => Err(format!(
                    "it was looked at after {} seeds already, and the looks of --until-decided are \
                     planned before the first",
                    looks.first().seeds
                )),
            },
            _ if seeds > last => match looked_at() {
                false => Ok(Further::NewPlan),
                true => Ok(Further::Look { seeds }),
            },
            _ if known => Ok(Further::Nothing),
            _ => Err(format!("comparison.seeds has {last} there, and {seeds} are asked for now")),
        }
    }
}

/// What more seeds are to a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Further {
    /// It has them.
    Nothing,
    /// Nobody has looked yet, so they are planned in place of what was.
    NewPlan,
    /// A look that was not planned.
    Look { seeds: u64 },
}

/// The time, as RFC 3339.
fn now() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
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
    pub fn create(
        path: &Path,
        asked: &Comparison,
        looked_at: LookedAt,
    ) -> Result<(Self, Comparison)> {
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
        let widened = match folder.widened(&there, asked, looked_at)? {
            same if same == there => same,
            _ => folder.widen(asked, looked_at)?,
        };
        Ok((folder, widened))
    }

    /// What [`create`](Self::create) would make of the comparison in that folder, which stays as it
    /// is; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When it holds another comparison, or cannot be read.
    pub fn foresee(
        path: &Path,
        asked: &Comparison,
        looked_at: LookedAt,
    ) -> Result<Option<(Self, Comparison)>> {
        let folder = Self { path: path.to_path_buf() };
        if !folder.file().exists() {
            return Ok(None);
        }
        let widened = folder.widened(&folder.comparison()?, asked, looked_at)?;
        Ok(Some((folder, widened)))
    }

    pub(super) fn widened(
        &self,
        there: &Comparison,
        asked: &Comparison,
        looked_at: LookedAt,
    ) -> Result<Comparison> {
        there.widened(asked, || looked_at(self, there)).map_err(|difference| {
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

pub(super) fn to_toml(comparison: &Comparison) -> String {
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
        ComparisonFolder::create(path, &asked, |_, _| false).unwrap_err().to_string()
    }

    #[test]
    fn the_same_comparison_is_joined_and_another_refused() {
        let out = tempfile::tempdir().unwrap();
        ComparisonFolder::create(out.path(), &comparison(), |_, _| false).unwrap();
        let (folder, joined) =
            ComparisonFolder::create(out.path(), &comparison(), |_, _| false).unwrap();
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
        ComparisonFolder::create(out.path(), &comparison(), |_, _| false).unwrap();
        let mut wider = comparison();
        wider.recipe.comparison.seeds += 3;
        wider.recipe.comparison.activations.push(gelu_core::Activation::Silu.into());
        wider.device = "flex:1".to_owned();
        let (folder, widened) = ComparisonFolder::create(out.path(), &wider, |_, _| false).unwrap();
        assert_eq!(widened.recipe, wider.recipe);
        assert_eq!(folder.comparison().unwrap(), widened);
    }

    #[test]
    fn seeds_are_a_new_plan_before_the_first_look_and_a_look_of_their_own_after_it() {
        let of = |change: &dyn Fn(&mut ComparisonRecipe)| {
            let mut asked = comparison();
            asked.recipe.comparison.seeds = 8;
            change(&mut asked.recipe.comparison);
            asked
        };
        let widen = |there: &Comparison, change: &dyn Fn(&mut ComparisonRecipe), looked_at| {
            there.widened(&of(change), || looked_at)
        };
        let until = |max_seeds| Some(crate::measure::UntilDecided { max_seeds });
        let seeds = |comparison: &Comparison| -> Vec<(u64, bool)> {
            comparison.looks().iter().map(|look| (look.seeds, look.planned)).collect()
        };
        let fixed = of(&|_| ());
        let replanned = widen(&fixed, &|r| r.seeds = 20, false).unwrap();
        assert_eq!(seeds(&replanned), [(20, true)]);
        let added = widen(&fixed, &|r| r.seeds = 20, true).unwrap();
        assert_eq!(seeds(&added), [(8, true), (20, false)]);
        assert!(added.added_looks[0].at.ends_with('Z'));
        // Whoever goes on, by the recipe's seeds or by the new ones, changes nothing.
        assert_eq!(widen(&added, &|_| (), true).unwrap(), added);
        assert_eq!(widen(&added, &|r| r.seeds = 20, true).unwrap(), added);
        let refused = widen(&added, &|r| r.seeds = 12, true).unwrap_err();
        assert!(refused.contains("has 20 there, and 12 are asked for"), "{refused}");
        let again = widen(&added, &|r| r.seeds = 40, true).unwrap();
        assert_eq!(seeds(&again), [(8, true), (20, false), (40, false)]);
        // Looks until it is decided are planned before the first.
        let sequential = widen(&fixed, &|r| r.until_decided = until(20), false).unwrap();
        assert_eq!(seeds(&sequential).len(), 3);
        let late = widen(&fixed, &|r| r.until_decided = until(20), true).unwrap_err();
        assert!(late.contains("looked at after 8 seeds already"), "{late}");
        assert_eq!(widen(&sequential, &|_| (), true).unwrap(), sequential);
        for change in [&|r: &mut ComparisonRecipe| r.until_decided = until(40), &|r| r.seeds = 40]
            as [&dyn Fn(&mut ComparisonRecipe); 2]
        {
            let longer = widen(&sequential, change, true).unwrap();
            assert_eq!(seeds(&longer)[2..], [(20, true), (40, false)]);
        }
        let replanned = widen(&sequential, &|r| r.until_decided = until(30), false).unwrap();
        assert_eq!(replanned.looks().planned(), 5);
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
        let (folder, _) =
            ComparisonFolder::create(out.path(), &comparison(), |_, _| false).unwrap();
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
