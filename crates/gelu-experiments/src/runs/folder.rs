use super::files::{sync, sync_folder, write_atomically};
use super::tables::{from_csv, to_csv};
use super::{Progress, RunLock, RunSnapshot, RunSpec, RunStatus};
use crate::error::Place;
use crate::measure::{EpochMetrics, NoiseMetrics};
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The folder of one run:
///
/// ```text
/// run.toml            the specification, written once
/// lock                held by the process that works on it
/// status.json         where it stands
/// metrics.csv         one line per finished epoch
/// progress.json       the epoch under way: a hint, not a result
/// checkpoint-0007/    all that is needed to go on after epoch 7, while the run is not complete
///   model.bpk  optimizer.bpk  scheduler.bpk  metrics.csv
/// model.bpk           the trained network, once finished
/// noise.csv           what it achieves under noise, where the recipe or `gelu eval` measures that
/// ```
///
/// A checkpoint appears whole: it is written as `.checkpoint-0007`, synced and renamed.
/// `metrics.csv` of the run is only a copy of the checkpoint's for readers, so the two can never
/// disagree about what a resumed run starts from.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

/// What `status.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusFile {
    /// Where the run stands.
    #[serde(flatten)]
    pub status: RunStatus,
    /// Seconds spent on its finished epochs, over all sittings.
    pub seconds: f64,
}

/// A complete checkpoint found on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Its folder.
    pub path: PathBuf,
    /// The epoch after which it was taken.
    pub epoch: usize,
    /// The metrics up to and including that epoch.
    pub metrics: Vec<EpochMetrics>,
}

impl RunFolder {
    /// The folder of that run under `parent`, created with its specification if it is new.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made, or holds another specification.
    pub fn create(parent: &Path, spec: &RunSpec) -> Result<Self> {
        let path = parent.join(spec.folder_name());
        fs::create_dir_all(&path).map_err(Error::io("create the folder", &path))?;
        let folder = Self { path };
        let file = folder.file("run.toml");
        if !file.exists() {
            write_atomically(&file, spec.to_toml())?;
        } else if folder.spec()? != *spec {
            return Err(Error::data(
                &file,
                Place::File,
                "describes another run than the folder's name",
                "delete the folder to start this run anew",
            ));
        }
        Ok(folder)
    }

    /// An existing run's folder.
    ///
    /// # Errors
    ///
    /// When there is no readable `run.toml` in it.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        folder.spec()?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of one of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Takes the right to work on it.
    ///
    /// # Errors
    ///
    /// As [`RunLock::acquire`].
    pub fn lock(&self) -> Result<RunLock> {
        RunLock::acquire(&self.path)
    }

    /// Its specification.
    ///
    /// # Errors
    ///
    /// When `run.toml` is missing, unreadable, not a specification, or of another version.
    pub fn spec(&self) -> Result<RunSpec> {
        let path = self.file("run.toml");
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        let spec: RunSpec = toml::from_str(&text)
            .map_err(|error| Error::data(&path, Place::File, error.to_string().trim_end(), ""))?;
        if spec.version != RunSpec::VERSION {
            let problem = format!("has version {}, not {}", spec.version, RunSpec::VERSION);
            return Err(Error::data(&path, Place::File, problem, "use the program that made it"));
        }
        Ok(spec)
    }

    /// What `status.json` says; [`RunStatus::Waiting`] where there is none yet.
    ///
    /// # Errors
    ///
    /// When the file is there but cannot be read.
    pub fn status(&self) -> Result<StatusFile> {
        let read = read_json(&self.file("status.json"))?;
        Ok(read.unwrap_or(StatusFile { status: RunStatus::Waiting, seconds: 0.0 }))
    }

    /// Writes `status.json`.
    ///
    /// # Errors
    ///
    /// When it cannot be written; the old one then still stands.
    pub fn set_status(&self, status: RunStatus, seconds: f64) -> Result<()> {
        let content = StatusFile { status, seconds };
        write_json(&self.file("status.json"), &content)
    }

    /// Writes the hint about the epoch under way. Not synced: losing it loses nothing.
    pub fn set_progress(&self, progress: &Progress) {
        let path = self.file("progress.json");
        let scratch = self.file(".progress.json");
        let text = serde_json::to_vec(progress).expect("progress holds plain values alone");
        // A hint that cannot be written must not end the run it tells about.
        let _ = fs::write(&scratch, text).and_then(|()| fs::rename(&scratch, &path));
    }

    /// Makes the finished epochs visible to readers.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; the old one then still stands.
    pub fn publish_metrics(&self, metrics: &[EpochMetrics]) -> Result<()> {
        write_atomically(&self.file("metrics.csv"), to_csv(metrics))
    }

    /// Writes what the trained network achieves under noise.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn set_noise(&self, noise: &[NoiseMetrics]) -> Result<()> {
        write_atomically(&self.file("noise.csv"), to_csv(noise))
    }

    /// Puts a checkpoint in place, then removes the ones before it. `write` fills a scratch
    /// folder with the model's, optimiser's and scheduler's files.
    ///
    /// # Errors
    ///
    /// When anything cannot be written; the checkpoint before then still stands.
    pub fn commit_checkpoint(
        &self,
        epoch: usize,
        metrics: &[EpochMetrics],
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let name = checkpoint_name(epoch);
        let scratch = self.file(&format!(".{name}"));
        remove_folder(&scratch)?;
        fs::create_dir(&scratch).map_err(Error::io("create the folder", &scratch))?;
        let filled = write(&scratch).and_then(|()| {
            let path = scratch.join("metrics.csv");
            fs::write(&path, to_csv(metrics)).map_err(Error::io("write", &path))?;
            sync_content(&scratch)
        });
        if let Err(error) = filled {
            // Frees what the half checkpoint takes: the disk may be full.
            remove_folder(&scratch)?;
            return Err(error);
        }
        let target = self.file(&name);
        remove_folder(&target)?;
        fs::rename(&scratch, &target).map_err(Error::io("put in place", &target))?;
        sync_folder(&self.path)?;
        self.remove_checkpoints(|other| other != epoch)
    }

    /// The newest complete checkpoint.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read, or the checkpoint's metrics are damaged.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>> {
        let Some(epoch) = self.checkpoint_epochs()?.into_iter().max() else { return Ok(None) };
        let path = self.file(&checkpoint_name(epoch));
        let metrics = read_metrics(&path.join("metrics.csv"))?;
        if metrics.len() != epoch {
            let problem = format!("holds {} epochs, not {epoch}", metrics.len());
            let advice = format!("delete {} to go on from the one before", path.display());
            return Err(Error::data(path.join("metrics.csv"), Place::File, problem, advice));
        }
        Ok(Some(Checkpoint { path, epoch, metrics }))
    }

    /// Removes the checkpoints, once nothing will go on from them.
    ///
    /// # Errors
    ///
    /// When a folder cannot be removed.
    pub fn clear_checkpoints(&self) -> Result<()> {
        self.remove_checkpoints(|_| true)
    }

    /// What a watcher sees.
    ///
    /// # Errors
    ///
    /// When a file of the run is damaged.
    pub fn snapshot(&self) -> Result<RunSnapshot> {
        let spec = self.spec()?;
        let alive = RunLock::is_held(&self.path);
        let StatusFile { status, seconds } = self.status()?;
        let status = match status {
            RunStatus::Running if !alive => RunStatus::Interrupted,
            other => other,
        };
        let progress = match status {
            RunStatus::Running => read_json(&self.file("progress.json"))?,
            _ => None,
        };
        Ok(RunSnapshot {
            key: spec.key(),
            status,
            epochs: read_metrics(&self.file("metrics.csv"))?,
            epochs_planned: spec.training.epochs,
            noise: from_csv(&self.file("noise.csv"))?,
            progress,
            seconds,
        })
    }

    fn checkpoint_epochs(&self) -> Result<Vec<usize>> {
        let entries = fs::read_dir(&self.path).map_err(Error::io("list", &self.path))?;
        let mut epochs = Vec::new();
        for entry in entries {
            let entry = entry.map_err(Error::io("list", &self.path))?;
            let name = entry.file_name();
            let epoch = name.to_str().and_then(|n| n.strip_prefix("checkpoint-"));
            epochs.extend(epoch.and_then(|digits| digits.parse::<usize>().ok()));
        }
        Ok(epochs)
    }

    fn remove_checkpoints(&self, which: impl Fn(usize) -> bool) -> Result<()> {
        for epoch in self.checkpoint_epochs()?.into_iter().filter(|&epoch| which(epoch)) {
            remove_folder(&self.file(&checkpoint_name(epoch)))?;
        }
        Ok(())
    }
}

fn checkpoint_name(epoch: usize) -> String {
    format!("checkpoint-{epoch:04}")
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove the folder", path)(error))
        }
        _ => Ok(()),
    }
}

fn sync_content(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let file = File::open(&path).map_err(Error::io("open", &path))?;
        sync(&file, &path)?;
    }
    sync_folder(folder)
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value).expect("the value holds plain data alone");
    text.push(b'\n');
    write_atomically(path, text)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let damaged = |error: serde_json::Error| {
        Error::data(path, Place::Line(error.line()), error.to_string(), "delete the run's folder")
    };
    serde_json::from_slice(&bytes).map(Some).map_err(damaged)
}

fn read_metrics(path: &Path) -> Result<Vec<EpochMetrics>> {
    let metrics: Vec<EpochMetrics> = from_csv(path)?;
    for (index, record) in metrics.iter().enumerate() {
        if record.epoch != index + 1 {
            let problem = format!("epoch {} stands where {} belongs", record.epoch, index + 1);
            let advice = "delete the run's folder to train it anew";
            return Err(Error::data(path, Place::Line(index + 2), problem, advice));
        }
    }
    Ok(metrics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use gelu_core::Activation;

    fn folder() -> (tempfile::TempDir, RunFolder) {
        let parent = tempfile::tempdir().unwrap();
        let recipe = Recipe::named("digits").unwrap();
        let spec = RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, 1, "flex", "abc");
        let folder = RunFolder::create(parent.path(), &spec).unwrap();
        (parent, folder)
    }

    fn epochs(count: usize) -> Vec<EpochMetrics> {
        let epoch = |epoch| EpochMetrics {
            epoch,
            learning_rate: 1e-3,
            batch_loss: 0.1 + 0.2,
            train_loss: 1.0 / 3.0,
            train_error: Some(f64::MIN_POSITIVE),
            valid_loss: None,
            valid_error: Some(0.25),
            test_loss: Some(2.0),
            test_error: None,
        };
        (1..=count).map(epoch).collect()
    }

    fn write_model(content: &'static str) -> impl FnOnce(&Path) -> Result<()> {
        move |folder| {
            let path = folder.join("model.bpk");
            fs::write(&path, content).map_err(Error::io("write", path))
        }
    }

    #[test]
    fn metrics_survive_being_written_and_read_to_the_last_bit() {
        let (_parent, folder) = folder();
        folder.publish_metrics(&epochs(3)).unwrap();
        assert_eq!(folder.snapshot().unwrap().epochs, epochs(3));
    }

    #[test]
    fn measures_under_noise_are_read_back() {
        let (_parent, folder) = folder();
        assert_eq!(folder.snapshot().unwrap().noise, []);
        let noise = NoiseMetrics { amplitude: 0.2, test_loss: 1.0 / 3.0, test_error: Some(0.1) };
        folder.set_noise(&[noise, NoiseMetrics { test_error: None, ..noise }]).unwrap();
        let read = folder.snapshot().unwrap().noise;
        assert_eq!((read.len(), read[0], read[1].test_error), (2, noise, None));
    }

    #[test]
    fn newest_checkpoint_replaces_the_one_before() {
        let (_parent, folder) = folder();
        assert_eq!(folder.checkpoint().unwrap(), None);
        folder.commit_checkpoint(1, &epochs(1), write_model("one")).unwrap();
        folder.commit_checkpoint(2, &epochs(2), write_model("two")).unwrap();
        let checkpoint = folder.checkpoint().unwrap().unwrap();
        assert_eq!(checkpoint.epoch, 2);
        assert_eq!(checkpoint.metrics, epochs(2));
        assert_eq!(fs::read_to_string(checkpoint.path.join("model.bpk")).unwrap(), "two");
        assert!(!folder.file("checkpoint-0001").exists());
    }

    #[test]
    fn failed_or_half_checkpoint_is_never_seen() {
        let (_parent, folder) = folder();
        folder.commit_checkpoint(1, &epochs(1), write_model("one")).unwrap();
        let refuse = |_: &Path| Err(Error::Usage("disk full".to_owned()));
        assert!(folder.commit_checkpoint(2, &epochs(2), refuse).is_err());
        fs::create_dir(folder.file(".checkpoint-0003")).unwrap();
        assert_eq!(folder.checkpoint().unwrap().unwrap().epoch, 1);
        assert!(!folder.file(".checkpoint-0002").exists());
        folder.commit_checkpoint(3, &epochs(3), write_model("three")).unwrap();
        assert_eq!(folder.checkpoint().unwrap().unwrap().epoch, 3);
    }

    #[test]
    fn running_without_a_living_process_is_interrupted() {
        let (_parent, folder) = folder();
        assert_eq!(folder.snapshot().unwrap().status, RunStatus::Waiting);
        folder.set_status(RunStatus::Running, 1.5).unwrap();
        assert_eq!(folder.snapshot().unwrap().status, RunStatus::Interrupted);
        let _lock = folder.lock().unwrap();
        assert_eq!(folder.snapshot().unwrap().status, RunStatus::Running);
        assert_eq!(folder.snapshot().unwrap().seconds, 1.5);
    }

    #[test]
    fn damaged_files_are_named_with_the_line() {
        let (_parent, folder) = folder();
        folder.publish_metrics(&epochs(2)).unwrap();
        let path = folder.file("metrics.csv");
        let text = fs::read_to_string(&path).unwrap().replace("\n2,", "\n3,");
        fs::write(&path, text).unwrap();
        let error = folder.snapshot().unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("epoch 3"), "{error}");
        fs::write(folder.file("status.json"), "{\"state\":\"fin").unwrap();
        let error = folder.status().unwrap_err().to_string();
        assert!(error.contains("status.json"), "{error}");
    }
}
