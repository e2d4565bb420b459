//! Takes snapshots: everything that a comparison's folder says at one moment.

use super::SnapshotReader;
use super::refresh::Read;
use crate::comparison::plan;
use crate::names::printable;
use crate::runs::{Design, Recipe, RunKey, RunSnapshot, Snapshot, Spec};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

impl<R: Recipe> SnapshotReader<R> {
    /// Returns everything that the folder says at this moment.
    pub fn snapshot(&mut self) -> Snapshot {
        let mut warnings = Vec::new();
        self.refresh_comparison(&mut warnings);
        let names = self.list(&mut warnings);
        self.read.retain(|name, _| names.contains(name));
        if self.plan.planned {
            for key in plan::grid(&self.design) {
                self.name_of(&key);
            }
        }
        for name in &names {
            if let Err(error) = self.refresh_run(name) {
                warnings.push(error.to_string());
            }
        }
        let latest = self.latest_versions(&mut warnings);
        let of_latest = |read: &&Read<R::Spec>| {
            latest.get(&read.spec.current_version()) == Some(&read.spec.version())
        };
        let (plan, design) = (&self.plan, &self.design);
        let runs = names.iter().filter_map(|name| self.read.get(name)).filter(of_latest);
        let runs = runs.map(|read| {
            let planned = plan::includes(plan, design, &read.snapshot.key);
            RunSnapshot { planned, ..read.snapshot.clone() }
        });
        let runs = self.each_once(runs.collect(), &mut warnings);
        let mut snapshot = Snapshot {
            design: Design { cut_down: plan.cut_down(design), ..design.clone() },
            data: plan.data.name.clone(),
            data_location: plan.data.location.as_ref().map(|path| shown(path)),
            synthetic: plan.data.synthetic,
            device: plan.device.clone(),
            criterion: plan.criterion(),
            choosing_seeds: plan.choosing_seeds(design),
            added_seeds: plan.added_seeds.clone(),
            later_measures: plan.later_measures.clone(),
            test_examples: plan.test_examples,
            runs,
            warnings,
        };
        let all = plan::all(plan, design, &snapshot).into_iter();
        let on_disk = std::mem::take(&mut snapshot.runs).into_iter();
        let mut on_disk: HashMap<RunKey, RunSnapshot> =
            on_disk.map(|run| (run.key.clone(), run)).collect();
        // If the number of epochs is unknown, the longest run's number takes its place.
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

    /// Returns the latest version that has trained runs here, for each version at which this program trains them.
    /// There may be several, because a change of the program may affect some runs of a comparison and leave the
    /// others bit-identical.
    fn latest_versions(&self, warnings: &mut Vec<String>) -> BTreeMap<u32, u32> {
        let mut latest = BTreeMap::new();
        let versions = || self.read.values().map(|r| (r.spec.current_version(), r.spec.version()));
        for (current, version) in versions() {
            let known = latest.entry(current).or_insert(version);
            *known = version.max(*known);
        }
        let path = self.folder.runs();
        for (&current, &latest) in &latest {
            if latest != current {
                warnings.push(format!(
                    "{}: an earlier version of the program trained these runs ({latest}, this one's is \
                     {current}); it would train them anew",
                    path.display()
                ));
            }
            let older = versions().filter(|&(of, version)| of == current && version != latest);
            match older.count() {
                0 => {}
                count => warnings.push(format!(
                    "{}: {count} runs of versions before {latest} are left out",
                    path.display()
                )),
            }
        }
        latest
    }
}

/// Returns a path as messages show it.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}
