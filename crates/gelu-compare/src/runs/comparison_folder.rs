use super::lease;
use super::{DataSource, Design, Experiment, RunFolder, RunKey, Spec, With};
use crate::error::Place;
use crate::files::{from_toml, problem, read_text, sync_folder};
use crate::measure::{Criterion, Looks};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io::{ErrorKind, Write};
use std::marker::PhantomData;
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
pub struct ComparisonFolder<E> {
    path: PathBuf,
    of: PhantomData<E>,
}

/// Whether a comparison has been looked at: seeds that are added then have their price.
pub type LookedAt<E> = fn(&ComparisonFolder<E>, &Comparison<E>) -> bool;

/// What `comparison.toml` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison<E> {
    /// Version of this file's layout.
    pub version: u32,
    /// Whether every combination of the recipe is wanted. A folder that `gelu train` has made holds
    /// the runs that were trained, and nothing else is planned.
    pub planned: bool,
    /// The device it was made for, as `--device` names it; empty where none was named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// Name of the backend: results of two backends differ in their last digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub backend: String,
    /// Seconds without a heartbeat after which a worker on another host has lost its run.
    pub lease_seconds: u64,
    /// What it is trained on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: DataSource,
    /// How many examples the test set has, as far as the recipe uses it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub test_examples: usize,
    /// Looks that were added after one had been taken, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_looks: Vec<AddedLook>,
    /// What is trained, and what is varied.
    pub recipe: E,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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

impl<E> Comparison<E> {
    /// The current version of the layout.
    pub const VERSION: u32 = 3;
    /// The most that the seconds of a lease can be: a day.
    pub const LONGEST_LEASE: u64 = 86_400;

    /// The seconds of a lease where nothing else is asked for: 60, and 120 where the folder is on a
    /// network file system.
    pub fn default_lease(folder: &Path) -> u64 {
        lease::default_seconds(folder)
    }
}

impl<E: Experiment> Comparison<E> {
    /// All combinations of `recipe` on this data and device, in a folder of this machine.
    pub fn new(recipe: E, data: DataSource, device: &str, backend: &str) -> Self {
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
        self.looks_of(&self.recipe.design())
    }

    /// The same of its design, for whoever has that.
    pub(crate) fn looks_of(&self, design: &Design) -> Looks {
        design.looks().with_added(self.added_looks.iter().map(|look| look.seeds))
    }

    /// What it is decided by.
    pub fn criterion(&self) -> Criterion {
        let design = self.recipe.design();
        Criterion { looks: self.looks_of(&design), ..design.criterion() }
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

    /// The specification of a run; `None` where this program can have no such run.
    pub fn spec(&self, key: &RunKey) -> Option<E::Spec> {
        self.recipe.spec(&self.with(), key)
    }

    /// Whether a run is one of this comparison: trained by its recipe, on its data and backend.
    pub fn includes(&self, spec: &E::Spec) -> bool {
        self.recipe.includes(&self.with(), spec)
    }

    fn with(&self) -> With<'_> {
        With { backend: &self.backend, data_fingerprint: &self.data.fingerprint }
    }

    /// This comparison widened to what is asked for now: more values of its axes and seeds may be added to a comparison, and nothing else can be changed, since the
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
        // Which comparisons are made may change, but not what they are decided by, nor the looks at
        // them once they are fixed.
        same_grid.recipe = asked.recipe.with_grid_of(&self.recipe);
        let (here, there) = (self.recipe.design(), asked.recipe.design());
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
                Err(format!("{what} has {value} there, which is not asked for now"))
            };
            for axis in &here.axes {
                let asked = there.axes.iter().find(|other| other.name == axis.name);
                let asked = asked.map_or(&[][..], |other| &other.values);
                if let Some(value) = axis.values.iter().find(|value| !asked.contains(value)) {
                    return missing(axis.name.as_str(), value.to_string());
                }
            }
            let further = self.further_look(&here, &there, looked_at)?;
            if further != Further::NewPlan {
                widened.recipe = asked.recipe.with_seeds_of(&self.recipe);
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
        here: &Design,
        asked: &Design,
        looked_at: impl FnOnce() -> bool,
    ) -> std::result::Result<Further, String> {
        let (looks, seeds) = (self.looks_of(here), asked.looks().last().seeds);
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

fn to_value<E: Serialize>(comparison: &Comparison<E>) -> Value {
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

impl<E: Experiment> ComparisonFolder<E> {
    /// The folder of a comparison to work on: made if it is new, joined if it holds the same
    /// comparison, widened if it holds a part of it.
    ///
    /// # Errors
    ///
    /// When it holds another comparison, or cannot be made or written to.
    pub fn create(
        path: &Path,
        asked: &Comparison<E>,
        looked_at: LookedAt<E>,
    ) -> Result<(Self, Comparison<E>)> {
        let folder = Self { path: path.to_path_buf(), of: PhantomData };
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
        asked: &Comparison<E>,
        looked_at: LookedAt<E>,
    ) -> Result<Option<(Self, Comparison<E>)>> {
        let folder = Self { path: path.to_path_buf(), of: PhantomData };
        if !folder.file().exists() {
            return Ok(None);
        }
        let widened = folder.widened(&folder.comparison()?, asked, looked_at)?;
        Ok(Some((folder, widened)))
    }

    pub(super) fn widened(
        &self,
        there: &Comparison<E>,
        asked: &Comparison<E>,
        looked_at: LookedAt<E>,
    ) -> Result<Comparison<E>> {
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
        let folder = Self { path: path.to_path_buf(), of: PhantomData };
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
    pub fn run(&self, spec: &E::Spec) -> Result<RunFolder> {
        RunFolder::create(&self.runs(), spec)
    }

    /// What is compared.
    ///
    /// # Errors
    ///
    /// When `comparison.toml` is missing, damaged, or of another version.
    pub fn comparison(&self) -> Result<Comparison<E>> {
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
                format!(
                    "name the folder that `{} compare` wrote, by default results/<experiment>",
                    E::Spec::TOOL
                ),
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
            Some(there) if there == Comparison::<E>::VERSION => {}
            Some(newer) if newer > Comparison::<E>::VERSION => {
                let problem =
                    format!("was made by a newer version of this program (layout {newer})");
                return refuse(problem, "use that version");
            }
            _ => {
                let problem = "was made by an older version of this program".to_owned();
                return refuse(problem, "use that version, or name another folder with --out");
            }
        }
        let comparison: Comparison<E> = match from_toml(&text) {
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
    fn write_first(&self, comparison: &Comparison<E>) -> Result<bool> {
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

pub(super) fn to_toml<E: Serialize>(comparison: &Comparison<E>) -> String {
    toml::to_string(comparison).expect("a comparison holds plain values alone")
}
