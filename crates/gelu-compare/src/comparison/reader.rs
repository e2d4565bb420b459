use super::{looked_at, plan};
use crate::Result;
use crate::names::printable;
use crate::runs::{
    Comparison, ComparisonFolder, ComparisonSnapshot, Design, Experiment, RunFolder, RunKey,
    RunSnapshot, Spec,
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
pub struct ComparisonReader<E: Experiment> {
    folder: ComparisonFolder<E>,
    comparison: Comparison<E>,
    /// What it compares.
    design: Design,
    /// Of `comparison.toml` when it was read last.
    stamp: Option<Stamp>,
    /// What the runs are to be, by folder name.
    planned: HashMap<String, E::Spec>,
    /// Folder names of runs that were planned, and how messages call them.
    names: HashMap<RunKey, [String; 2]>,
    /// What was read of the folders that are there.
    read: HashMap<String, Read<E::Spec>>,
    /// Folders of runs that belong to other comparisons.
    foreign: HashSet<String>,
    /// Whether runs count that an earlier version of the program has trained.
    any_version: bool,
}

/// When a file changed last, and into what.
type Stamp = (SystemTime, u64);

/// What was read of a run.
#[derive(Debug)]
struct Read<S> {
    spec: S,
    snapshot: RunSnapshot,
    stamps: [Option<Stamp>; FILES.len()],
    /// Nothing will change any more.
    settled: bool,
}

/// The files whose change is a change of the run.
const FILES: [&str; 5] =
    ["status.json", "metrics.csv", "noise.csv", "outcomes.bin", "progress.json"];

impl<E: Experiment> ComparisonReader<E> {
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
    pub fn foreseeing(path: &Path, asked: &Comparison<E>) -> Result<Option<Self>> {
        let foreseen = ComparisonFolder::foresee(path, asked, Self::has_looked)?;
        Ok(foreseen.map(|(folder, comparison)| Self::of(folder, comparison)))
    }

    /// Whether a comparison has been looked at, by the runs that are there.
    pub fn has_looked(folder: &ComparisonFolder<E>, comparison: &Comparison<E>) -> bool {
        looked_at(&Self::of(folder.clone(), comparison.clone()).snapshot())
    }

    fn of(folder: ComparisonFolder<E>, comparison: Comparison<E>) -> Self {
        Self {
            design: comparison.recipe.design(),
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
    pub fn comparison(&self) -> &Comparison<E> {
        &self.comparison
    }

    /// The folder.
    pub fn folder(&self) -> &ComparisonFolder<E> {
        &self.folder
    }

    /// Everything the folder says at this moment.
    pub fn snapshot(&mut self) -> ComparisonSnapshot {
        let mut warnings = Vec::new();
        self.refresh_comparison(&mut warnings);
        let names = self.list(&mut warnings);
        self.read.retain(|name, _| names.contains(name));
        if self.comparison.planned {
            for key in plan::grid(&self.design) {
                self.name_of(&key);
            }
        }
        for name in &names {
            if let Err(error) = self.refresh_run(name) {
                warnings.push(error.to_string());
            }
        }
        let latest = self.latest_version(&mut warnings);
        let of_latest = |read: &&Read<E::Spec>| Some(read.spec.version()) == latest;
        let (comparison, design) = (&self.comparison, &self.design);
        let mut snapshot = ComparisonSnapshot {
            experiment: design.name.clone(),
            title: design.title.clone(),
            data: comparison.data.name.clone(),
            data_location: comparison.data.location.as_ref().map(|path| shown(path)),
            synthetic: comparison.data.synthetic,
            device: comparison.device.clone(),
            axes: design.axes.clone(),
            measures: design.measures.clone(),
            selection: design.selection.clone(),
            reported: design.reported,
            criterion: comparison.criterion(),
            added_looks: comparison.added_looks.clone(),
            test_examples: comparison.test_examples,
            examples: design.examples.clone(),
            built_differently: design.built_differently.clone(),
            cut_down: design.cut_down.clone(),
            figure: design.figure.clone(),
            extra: design.extra.clone(),
            runs: names
                .iter()
                .filter_map(|name| self.read.get(name))
                .filter(of_latest)
                .map(|read| {
                    let planned = plan::includes(comparison, design, &read.snapshot.key);
                    RunSnapshot { planned, ..read.snapshot.clone() }
                })
                .collect(),
            warnings,
        };
        let all = plan::all(comparison, design, &snapshot).into_iter();
        let on_disk = std::mem::take(&mut snapshot.runs).into_iter();
        let mut on_disk: HashMap<RunKey, RunSnapshot> =
            on_disk.map(|run| (run.key.clone(), run)).collect();
        // Where nobody says how many epochs there are, as many as the longest run has.
        let longest = on_disk.values().map(|run| run.epochs.len()).max().unwrap_or(0);
        let design_epochs = design.epochs;
        let epochs = design_epochs.unwrap_or(longest.max(1));
        snapshot.runs = all
            .map(|key| {
                on_disk.remove(&key).unwrap_or_else(|| {
                    let [folder, name] = match self.names.get(&key) {
                        Some(names) => names.clone(),
                        None => [String::new(), key.to_string()],
                    };
                    RunSnapshot::waiting(key, name, folder, epochs)
                })
            })
            .collect();
        if self.design.open {
            snapshot.open_measures();
        }
        if design_epochs.is_none() {
            for run in snapshot.runs.iter_mut().filter(|run| !run.status.is_over()) {
                run.epochs_planned = run.epochs_planned.max(epochs);
            }
        }
        snapshot
    }

    /// The latest version of the program that has trained runs here.
    fn latest_version(&self, warnings: &mut Vec<String>) -> Option<u32> {
        let latest = self.read.values().map(|read| read.spec.version()).max()?;
        let of_others = self.read.values().filter(|read| read.spec.version() != latest).count();
        let path = self.folder.runs();
        if latest != E::Spec::VERSION {
            warnings.push(format!(
                "{}: an earlier version of the program trained these runs ({latest}, this one's is \
                 {}); it would train them anew",
                path.display(),
                E::Spec::VERSION
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
                self.design = comparison.recipe.design();
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
        if !self.names.contains_key(key)
            && let Some(spec) = self.comparison.spec(key)
        {
            let folder = spec.folder_name();
            self.names.insert(key.clone(), [folder.clone(), spec.name()]);
            self.planned.insert(folder, spec);
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
        if !self.comparison.includes(&spec.at_version(E::Spec::VERSION)) {
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

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
