use super::{looked_at, plan};
use crate::Result;
use crate::names::printable;
use crate::runs::{
    Comparison, ComparisonFolder, ComparisonSnapshot, RunFolder, RunId, RunKey, RunSnapshot,
    RunSpec,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Reads a comparison's folder again and again, at little cost: finished runs are read once, others
/// when one of their files has changed.
///
/// A file that cannot be read never stops it: it is a warning of the run it belongs to, and what
/// was known before still stands.
#[derive(Debug)]
pub struct ComparisonReader {
    folder: ComparisonFolder,
    comparison: Comparison,
    /// Of `comparison.toml` when it was read last.
    stamp: Option<Stamp>,
    /// What the runs are to be, by folder name.
    planned: HashMap<String, RunSpec>,
    /// Folder names of runs that were planned.
    names: HashMap<RunId, String>,
    /// What was read of the folders that are there.
    read: HashMap<String, Read>,
    /// Folders of runs that belong to other comparisons.
    foreign: HashSet<String>,
    /// Whether runs count that an earlier version of the program has trained.
    any_version: bool,
}

/// When a file changed last, and into what.
type Stamp = (SystemTime, u64);

/// What was read of a run.
#[derive(Debug)]
struct Read {
    spec: RunSpec,
    snapshot: RunSnapshot,
    stamps: [Option<Stamp>; FILES.len()],
    /// Nothing will change any more.
    settled: bool,
}

/// The files whose change is a change of the run.
const FILES: [&str; 5] =
    ["status.json", "metrics.csv", "noise.csv", "outcomes.bin", "progress.json"];

impl ComparisonReader {
    /// A reader of the comparison in that folder.
    ///
    /// # Errors
    ///
    /// As [`ComparisonFolder::comparison`].
    pub fn open(path: &Path) -> Result<Self> {
        let folder = ComparisonFolder::open(path)?;
        let comparison = folder.comparison()?;
        Ok(Self::of(folder, comparison))
    }

    /// A reader of the comparison in that folder that takes it as it is, even if an earlier version of
    /// the program has trained the runs: what they measured stands, though this version would train
    /// them anew. Where there are runs of several versions, those of the latest alone are read.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_any_version(path: &Path) -> Result<Self> {
        Ok(Self { any_version: true, ..Self::open(path)? })
    }

    /// A reader of the comparison that the folder would hold if `asked` were compared in it; `None`
    /// where there is no comparison yet.
    ///
    /// # Errors
    ///
    /// As [`ComparisonFolder::foresee`].
    pub fn foreseeing(path: &Path, asked: &Comparison) -> Result<Option<Self>> {
        let foreseen = ComparisonFolder::foresee(path, asked, Self::has_looked)?;
        Ok(foreseen.map(|(folder, comparison)| Self::of(folder, comparison)))
    }

    /// Whether a comparison has been looked at, by the runs that are there.
    pub fn has_looked(folder: &ComparisonFolder, comparison: &Comparison) -> bool {
        looked_at(&Self::of(folder.clone(), comparison.clone()).snapshot())
    }

    fn of(folder: ComparisonFolder, comparison: Comparison) -> Self {
        Self {
            comparison,
            stamp: stamp(&folder.file()),
            folder,
            planned: HashMap::new(),
            names: HashMap::new(),
            read: HashMap::new(),
            foreign: HashSet::new(),
            any_version: false,
        }
    }

    /// What is compared, as of the last reading.
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// The folder.
    pub fn folder(&self) -> &ComparisonFolder {
        &self.folder
    }

    /// Everything the folder says at this moment.
    pub fn snapshot(&mut self) -> ComparisonSnapshot {
        let mut warnings = Vec::new();
        self.refresh_comparison(&mut warnings);
        let names = self.list(&mut warnings);
        self.read.retain(|name, _| names.contains(name));
        if self.comparison.planned {
            for key in plan::grid(&self.comparison.recipe) {
                self.name_of(&key);
            }
        }
        for name in &names {
            if let Err(error) = self.refresh_run(name) {
                warnings.push(error.to_string());
            }
        }
        let latest = self.latest_version(&mut warnings);
        let of_latest = |read: &&Read| Some(read.spec.version) == latest;
        let comparison = &self.comparison;
        let recipe = &comparison.recipe;
        let mut snapshot = ComparisonSnapshot {
            experiment: recipe.name.clone(),
            title: recipe.title.clone(),
            data: comparison.data.name.clone(),
            data_location: comparison.data.location.as_ref().map(|path| shown(path)),
            synthetic: comparison.data.synthetic,
            device: comparison.device.clone(),
            selection: recipe.comparison.selection,
            reported: recipe.comparison.reported,
            loss: recipe.network.loss(),
            criterion: comparison.criterion(),
            added_looks: comparison.added_looks.clone(),
            test_examples: comparison.test_examples,
            cut_down: recipe.cut_down(),
            figure: recipe.figure.clone(),
            runs: names
                .iter()
                .filter_map(|name| self.read.get(name))
                .filter(of_latest)
                .map(|read| of_run(comparison, read))
                .collect(),
            warnings,
        };
        let all = plan::all(comparison, &snapshot).into_iter();
        let on_disk = std::mem::take(&mut snapshot.runs).into_iter();
        let mut on_disk: HashMap<RunId, RunSnapshot> =
            on_disk.map(|run| (run.key.id(), run)).collect();
        let epochs = recipe.training.epochs;
        snapshot.runs = all
            .map(|key| {
                let id = key.id();
                on_disk.remove(&id).unwrap_or_else(|| {
                    let folder = self.names.get(&id).cloned().unwrap_or_default();
                    RunSnapshot::waiting(key, folder, epochs)
                })
            })
            .collect();
        snapshot
    }

    /// The latest version of the program that has trained runs here.
    fn latest_version(&self, warnings: &mut Vec<String>) -> Option<u32> {
        let latest = self.read.values().map(|read| read.spec.version).max()?;
        let of_others = self.read.values().filter(|read| read.spec.version != latest).count();
        let path = self.folder.runs();
        if latest != RunSpec::VERSION {
            warnings.push(format!(
                "{}: an earlier version of the program trained these runs ({latest}, this one's is \
                 {}); it would train them anew",
                path.display(),
                RunSpec::VERSION
            ));
        }
        if of_others > 0 {
            warnings.push(format!(
                "{}: {of_others} runs of versions before {latest} are left out",
                path.display()
            ));
        }
        Some(latest)
    }

    fn refresh_comparison(&mut self, warnings: &mut Vec<String>) {
        let now = stamp(&self.folder.file());
        if now == self.stamp {
            return;
        }
        match self.folder.comparison() {
            Ok(comparison) => {
                if comparison != self.comparison {
                    self.planned.clear();
                    self.names.clear();
                    self.read.clear();
                    self.foreign.clear();
                }
                (self.comparison, self.stamp) = (comparison, now);
            }
            Err(error) => warnings.push(error.to_string()),
        }
    }

    /// The names of the folders that are there, in order.
    fn list(&self, warnings: &mut Vec<String>) -> BTreeSet<String> {
        let runs = self.folder.runs();
        let entries = match fs::read_dir(&runs) {
            Ok(entries) => entries,
            Err(error) => {
                warnings.push(crate::Error::io("list", &runs)(error).to_string());
                return self.read.keys().cloned().collect();
            }
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names = names.filter(|name| !name.starts_with('.'));
        let (names, strange): (BTreeSet<String>, BTreeSet<String>) =
            names.partition(|name| printable(name) == *name);
        warnings.extend(strange.iter().map(|name| {
            format!("{} is no run's folder by its name, and is left out", runs.join(name).display())
        }));
        names
    }

    fn name_of(&mut self, key: &RunKey) {
        let id = key.id();
        if !self.names.contains_key(&id)
            && let Some(spec) = self.comparison.spec(key)
        {
            let name = spec.folder_name();
            self.names.insert(id, name.clone());
            self.planned.insert(name, spec);
        }
    }

    fn refresh_run(&mut self, name: &str) -> Result<()> {
        if self.foreign.contains(name) || self.read.get(name).is_some_and(|read| read.settled) {
            return Ok(());
        }
        let folder = RunFolder::at(&self.folder.runs().join(name));
        let spec = match (self.read.get(name), self.planned.get(name)) {
            (Some(read), _) => read.spec.clone(),
            (None, Some(spec)) => spec.clone(),
            (None, None) if self.any_version => folder.spec_of_any_version()?,
            (None, None) => folder.spec()?,
        };
        if !self.comparison.includes(&RunSpec { version: RunSpec::VERSION, ..spec.clone() }) {
            self.foreign.insert(name.to_owned());
            return Ok(());
        }
        let stamps = FILES.map(|file| stamp(&folder.file(file)));
        if let Some(read) = self.read.get(name)
            && read.stamps == stamps
            && read.snapshot.status != crate::runs::RunStatus::Running
        {
            return Ok(());
        }
        let snapshot = folder.snapshot(&spec, self.comparison.silence());
        let settled = snapshot.status.is_complete() && snapshot.warnings.is_empty();
        self.read.insert(name.to_owned(), Read { spec, snapshot, stamps, settled });
        Ok(())
    }
}

/// A path for people.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

fn of_run(comparison: &Comparison, read: &Read) -> RunSnapshot {
    let planned = plan::includes(comparison, &read.snapshot.key);
    RunSnapshot { planned, ..read.snapshot.clone() }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
