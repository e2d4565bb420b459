//! Reads what has changed since the last reading.

use super::SnapshotReader;
use crate::Result;
use crate::extension::extra_files;
use crate::names::printable;
use crate::runs::{Recipe, RunFolder, RunKey, RunSnapshot, RunStatus, Spec};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// If one of these files has changed, the run has changed.
const FILES: [&str; 3] = ["status.json", "metrics.csv", "progress.json"];

/// A file's time of last change, and its size.
pub(super) type Stamp = (SystemTime, u64);

/// The data read from a run's folder.
#[derive(Debug)]
pub(super) struct Read<S> {
    pub(super) spec: S,
    pub(super) snapshot: RunSnapshot,
    stamps: Vec<Option<Stamp>>,
    /// Whether the run can no longer change.
    settled: bool,
}

impl<R: Recipe> SnapshotReader<R> {
    pub(super) fn refresh_comparison(&mut self, warnings: &mut Vec<String>) {
        let now = stamp(&self.folder.file());
        if now == self.stamp {
            return;
        }
        match self.folder.plan() {
            Ok(plan) => {
                if plan != self.plan {
                    self.planned.clear();
                    self.names.clear();
                    self.read.clear();
                    self.foreign.clear();
                }
                self.design = plan.recipe.design();
                (self.plan, self.stamp) = (plan, now);
            }
            Err(error) => warnings.push(error.to_string()),
        }
    }

    /// Returns the names of the folders that exist, in order.
    pub(super) fn list(&self, warnings: &mut Vec<String>) -> BTreeSet<String> {
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

    pub(super) fn name_of(&mut self, key: &RunKey) {
        if !self.names.contains_key(key)
            && let Some(spec) = self.plan.spec(key)
        {
            let folder = spec.folder_name();
            self.names.insert(key.clone(), [folder.clone(), spec.name()]);
            self.planned.insert(folder, spec);
        }
    }

    /// Selects one folder per run: that of a complete run, or else the one that the program would work in.
    pub(super) fn each_once(
        &self,
        runs: Vec<RunSnapshot>,
        warnings: &mut Vec<String>,
    ) -> Vec<RunSnapshot> {
        let mut places: HashMap<RunKey, usize> = HashMap::new();
        let mut kept: Vec<RunSnapshot> = Vec::with_capacity(runs.len());
        for mut run in runs {
            let Some(&place) = places.get(&run.key) else {
                places.insert(run.key.clone(), kept.len());
                kept.push(run);
                continue;
            };
            let own = self.plan.spec(&run.key).map(|spec| spec.folder_name());
            let rank =
                |run: &RunSnapshot| (run.status.is_complete(), own.as_ref() == Some(&run.folder));
            if rank(&run) > rank(&kept[place]) {
                std::mem::swap(&mut run, &mut kept[place]);
            }
            warnings.push(format!(
                "{}: holds the same run as {}, and is left out; remove it",
                self.folder.runs().join(&run.folder).display(),
                kept[place].folder
            ));
        }
        kept
    }

    pub(super) fn refresh_run(&mut self, name: &str) -> Result<()> {
        if self.foreign.contains(name) || self.read.get(name).is_some_and(|read| read.settled) {
            return Ok(());
        }
        let folder = RunFolder::at(&self.folder.runs().join(name));
        let recipe = &self.plan.recipe;
        let spec = match (self.read.get(name), self.planned.get(name)) {
            (Some(read), _) => read.spec.clone(),
            (None, Some(spec)) => spec.clone(),
            (None, None) if self.any_version => recipe.complete(folder.spec_of_any_version()?),
            (None, None) => recipe.complete(folder.spec()?),
        };
        if !self.plan.includes(&spec.at_version(spec.current_version())) {
            self.foreign.insert(name.to_owned());
            return Ok(());
        }
        let spec = self.plan.in_order(spec);
        let files = FILES.into_iter().chain(extra_files().map(|file| file.name));
        let stamps: Vec<Option<Stamp>> = files.map(|file| stamp(&folder.file(file))).collect();
        if let Some(read) = self.read.get(name)
            && read.stamps == stamps
            && read.snapshot.status != RunStatus::Running
        {
            return Ok(());
        }
        let snapshot = folder.snapshot(&spec, self.plan.silence());
        let settled = snapshot.status.is_complete() && snapshot.warnings.is_empty();
        self.read.insert(name.to_owned(), Read { spec, snapshot, stamps, settled });
        Ok(())
    }
}

pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
