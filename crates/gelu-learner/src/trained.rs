//! The trained networks of a comparison, for prediction.

use crate::checkpoint::{ATTACHED, CLASS_NAMES};
use crate::{Confusion, Error, Result, Run, Trainable, Training};
use burn::module::Module;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use gelu_compare::comparison::{SnapshotReader, reported_epoch};
use gelu_compare::error::Place;
use gelu_compare::files::read_bytes;
use gelu_compare::measure::{EpochMetrics, Measure, Split};
use gelu_compare::runs::{Foreign, RunSnapshot, RunStatus, Snapshot, Stage};
use gelu_compare::setting::Setting;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A finished run of a comparison, with its trained network.
///
/// ```no_run
/// # use burn::tensor::Device;
/// # use gelu_learner::{Result, Run, Trainable, Trained, Training};
/// # fn predict<N: Trainable>(training: fn(&Run) -> Result<Training<N>>) -> Result<()> {
/// let best = Trained::best("results/points")?;
/// println!("{}, seed {}, in {}", best.setting(), best.seed(), best.folder().display());
/// // `training` is the function that the program trains by.
/// let network = best.model(training, &Device::default())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Trained {
    folder: PathBuf,
    setting: Setting,
    seed: u64,
    metrics: EpochMetrics,
}

impl Trained {
    /// Returns the best finished run of the comparison in the folder `comparison`.
    ///
    /// The run is chosen by the metric that tuning uses, if that is a validation metric; otherwise by the deciding
    /// metric on validation, if it exists; otherwise by the deciding metric on the test set. Among equally good runs,
    /// the first is chosen. The test error of a network chosen on the test set is too optimistic.
    ///
    /// # Errors
    ///
    /// If there is no comparison, or no run is finished.
    pub fn best(comparison: impl AsRef<Path>) -> Result<Self> {
        let (snapshot, runs) = finished(comparison.as_ref())?;
        let metric = chosen_by(&snapshot);
        let value = |run: &Self| run.metrics.get(&metric.column).filter(|value| !value.is_nan());
        let scored = runs.into_iter().filter_map(|run| Some((metric.cost(value(&run)?), run)));
        let best = scored.min_by(|(a, _), (b, _)| a.total_cmp(b));
        best.map(|(_, run)| run).ok_or_else(|| {
            refusal(comparison.as_ref(), &format!("no finished run has reported {}", metric.name))
        })
    }

    /// Returns the finished run with these values and this seed. You can leave out axes of the setting as long as
    /// exactly one run matches.
    ///
    /// # Errors
    ///
    /// If there is no comparison, or not exactly one finished run matches.
    pub fn of(comparison: impl AsRef<Path>, setting: &Setting, seed: u64) -> Result<Self> {
        let (_, mut runs) = finished(comparison.as_ref())?;
        let meant = |run: &Self| {
            run.seed == seed
                && setting.iter().all(|(axis, value)| run.setting.get(axis) == Some(value))
        };
        runs.retain(meant);
        match (runs.len(), runs.pop()) {
            (1, Some(run)) => Ok(run),
            (count, _) => {
                let problem = match count {
                    0 => "no finished run has".to_owned(),
                    _ => format!("{count} finished runs have"),
                };
                let advice = "`runs` of the program lists them with their folders";
                let asked = format!("{problem} {setting}, seed {seed}; {advice}");
                Err(refusal(comparison.as_ref(), &asked))
            }
        }
    }

    /// Returns the run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the value of each axis.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Returns the run's seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the metrics of the epoch of this network.
    pub fn metrics(&self) -> &EpochMetrics {
        &self.metrics
    }

    /// Returns the run that the program's function needs to build the network on `device`.
    pub fn run(&self, device: &Device) -> Run {
        Run::new(self.setting.clone(), self.seed, device.clone())
    }

    /// Builds the network on any device with the function that the program trains with, and loads the trained
    /// parameters. Predict with `InferenceStep::step` or the network's own methods.
    ///
    /// # Errors
    ///
    /// If the function fails or builds another network, or the file cannot be read.
    pub fn model<M: Trainable>(
        &self,
        training: impl Fn(&Run) -> Result<Training<M>>,
        device: &Device,
    ) -> Result<M> {
        self.load_into(training(&self.run(device))?.model)
    }

    /// Loads the trained parameters into a network, which stays on its device.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or belongs to another network.
    pub fn load_into<M: Module>(&self, model: M) -> Result<M> {
        let path = self.file();
        let advice = format!(
            "build the network with the same program and the values of its run: {}",
            self.setting
        );
        let loaded = ModuleRecord::load(&path).and_then(|record| model.try_load_record(record));
        loaded.map_err(|error| {
            let problem = format!("does not fit the network that is built here: {error}");
            Error::data(&path, Place::File, problem, advice)
        })
    }

    /// Returns the value that the program attached to the network ([`Training::attach`]).
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has no such value.
    pub fn attached<T: DeserializeOwned>(&self) -> Result<T> {
        let path = self.file();
        attached(&path)?.ok_or_else(|| {
            Error::data(&path, Place::File, "nothing is attached to the network", ATTACHING)
        })
    }

    /// Returns the names of the classes, by their numbers ([`Training::class_names`]).
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the classes have no names.
    pub fn class_names(&self) -> Result<Vec<String>> {
        let path = self.file();
        metadata(&path, CLASS_NAMES, NAMING)?
            .ok_or_else(|| Error::data(&path, Place::File, "the classes have no names", NAMING))
    }

    /// Returns the confusion table of the test examples.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the classes have no names.
    pub fn confusion(&self) -> Result<Confusion> {
        let path = self.folder.join(Confusion::FILE);
        let refuse = |problem: String| {
            Error::data(&path, Place::File, problem, "train the run again with .class_names(…)")
        };
        let bytes = read_bytes(&path)?.ok_or_else(|| refuse("is not there".to_owned()))?;
        Confusion::from_csv(&bytes).map_err(refuse)
    }

    fn file(&self) -> PathBuf {
        self.folder.join("model.bpk")
    }
}

/// Returns the value attached to the network in `file` ([`Training::attach`]); `None` if there is none.
///
/// # Errors
///
/// If the file cannot be read, or has a value of another type.
pub fn attached<T: DeserializeOwned>(file: &Path) -> Result<Option<T>> {
    metadata(file, ATTACHED, ATTACHING)
}

/// Advice in the error for a missing value.
const ATTACHING: &str = "attach it with Training::attach, and read it as the same type";
const NAMING: &str = "train the run again with Training::class_names";

/// Returns the value saved with a network under `key`.
fn metadata<T: DeserializeOwned>(file: &Path, key: &str, advice: &str) -> Result<Option<T>> {
    let refuse = |problem: String| Error::data(file, Place::File, problem, advice);
    let reader = burn_pack::Reader::from_file(file).map_err(|error| refuse(error.to_string()))?;
    let value = reader.metadata().get(key).map(|text| serde_json::from_str(text)).transpose();
    value.map_err(|error| refuse(error.to_string()))
}

/// Returns the snapshot of a comparison's folder, and its finished runs without those that only tune.
fn finished(path: &Path) -> Result<(Snapshot, Vec<Trained>)> {
    let mut reader = SnapshotReader::<Foreign>::open_any_version(path)?;
    let snapshot = reader.snapshot();
    let runs = reader.folder().runs();
    let trained = |run: &RunSnapshot| {
        let is_finished = run.status == RunStatus::Finished && run.key.stage != Stage::Tuning;
        let metrics = reported_epoch(&snapshot, run).filter(|_| is_finished)?.clone();
        let (setting, seed) = (run.key.setting.clone(), run.key.seed);
        Some(Trained { folder: runs.join(&run.folder), setting, seed, metrics })
    };
    let trained: Vec<Trained> = snapshot.runs.iter().filter_map(trained).collect();
    match trained.is_empty() {
        true => Err(refusal(path, "no run is finished; the same `compare` command finishes them")),
        false => Ok((snapshot, trained)),
    }
}

/// Returns the metric by which the best run is chosen.
fn chosen_by(snapshot: &Snapshot) -> Measure {
    let (selection, primary) = (snapshot.selection(), snapshot.primary_by_epoch());
    let on_validation = primary.on(Split::Valid);
    let is_there = |metric: &&Measure| snapshot.has(&metric.column);
    let first = [selection.clone(), on_validation]
        .iter()
        .filter(is_there)
        .find(|metric| metric.split == Some(Split::Valid))
        .cloned();
    first.unwrap_or(if snapshot.has(&primary.column) { primary } else { selection })
}

fn refusal(path: &Path, problem: &str) -> Error {
    Error::Usage(format!("{}: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::{BatchNormConfig, LinearConfig};

    /// Returns a run with the file of a linear layer of three inputs.
    fn trained() -> (tempfile::TempDir, Trained) {
        let folder = tempfile::tempdir().unwrap();
        let layer = LinearConfig::new(3, 2).init(&Device::default());
        let bytes = layer.into_record().into_bytes().unwrap();
        std::fs::write(folder.path().join("model.bpk"), &bytes[..]).unwrap();
        let trained = Trained {
            folder: folder.path().to_path_buf(),
            setting: Setting::new([("width", 3)]),
            seed: 1,
            metrics: EpochMetrics::new(1),
        };
        (folder, trained)
    }

    #[test]
    fn a_network_of_another_architecture_is_refused_with_what_to_do() {
        let (_folder, trained) = trained();
        let device = Device::default();
        trained.load_into(LinearConfig::new(3, 2).init(&device)).unwrap();
        let wider = trained.load_into(LinearConfig::new(4, 2).init(&device)).unwrap_err();
        let other = trained.load_into(BatchNormConfig::new(3).init(&device)).unwrap_err();
        for error in [wider, other] {
            let said = error.to_string();
            assert!(said.contains("model.bpk"), "{said}");
            assert!(said.contains("does not fit the network that is built here"), "{said}");
            assert!(said.contains("the values of its run: width 3"), "{said}");
        }
    }

    #[test]
    fn what_was_not_attached_is_said_to_be_missing() {
        let (_folder, trained) = trained();
        let said = trained.attached::<Vec<String>>().unwrap_err().to_string();
        assert!(
            said.contains("nothing is attached") && said.contains("Training::attach"),
            "{said}"
        );
    }
}
