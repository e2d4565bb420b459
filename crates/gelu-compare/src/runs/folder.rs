use super::checkpoint::{self, Checkpoint};
use super::lease;
use super::outcomes;
use super::provenance::Provenance;
use super::tables::{check_metrics, read_metrics, read_noise};
use super::{Holder, RunSnapshot, RunStatus, Spec, StatusFile};
use crate::error::Place;
use crate::files::{from_json, from_toml, problem, read_bytes, read_text, remove_folder};
use crate::measure::{EpochMetrics, NoiseMetrics, Outcomes, check_outcomes};
use crate::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The folder of one run, as everybody may read it:
///
/// ```text
/// run.toml              the specification, written once
/// free-0003/            or lease-0004/: whether a process works on it; see Lease
/// status.json           where it stands
/// metrics.csv           one line per finished epoch
/// progress.json         the epoch under way: a hint, not a result
/// checkpoint-0007/      all that is needed to go on after epoch 7, while the run is not complete;
///   model.bpk  optimizer.bpk  scheduler.bpk  metrics.csv  SHA256SUMS      the last two are kept
/// model.bpk             the trained network, once finished
/// noise.csv             what it achieves under noise, where the recipe or `gelu eval` measures that
/// outcomes.bin          what it makes of each test example, where the comparison is decided by those
/// provenance-0004.json  what each session ran on
/// worker.log            what the last worker said, where it died or failed
/// ```
///
/// Only [`ClaimedRun`](super::ClaimedRun) writes here. A checkpoint appears whole. `metrics.csv` of
/// the run is only a copy of the checkpoint's for readers, so the two can never disagree about what
/// a resumed run starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder of that run under `parent`, created with its specification if it is new.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made.
    pub fn create(parent: &Path, spec: &impl Spec) -> Result<Self> {
        let name = spec.folder_name();
        let path = parent.join(&name);
        if path.is_dir() {
            return Ok(Self { path });
        }
        // It appears with all that a run's folder has, or not at all: of two processes that make
        // it one wins, and the other finds it.
        let scratch = scratch_folder(parent, &name)?;
        let filled = lease::create_state(&scratch).and_then(|()| {
            let file = scratch.join("run.toml");
            // Nothing waits for the disk: whoever takes the run writes what is missing of it.
            fs::write(&file, spec.to_toml()).map_err(Error::io("write", &file))
        });
        let placed = filled
            .and_then(|()| fs::rename(&scratch, &path).map_err(Error::io("put in place", &path)));
        if let Err(error) = placed {
            remove_folder(&scratch)?;
            return if path.is_dir() { Ok(Self { path }) } else { Err(error) };
        }
        remove_scratch_folders(parent, &name);
        Ok(Self { path })
    }

    /// The folder at that path, whatever is in it.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of one of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Its specification.
    ///
    /// # Errors
    ///
    /// When `run.toml` is missing, unreadable, not a specification, or of another version.
    pub fn spec<S: Spec>(&self) -> Result<S> {
        self.spec_of(S::VERSION..=S::VERSION)
    }

    /// Its specification if this version of the program made it or an earlier one: what such a run
    /// measured can be read, but training it further would give other bits.
    ///
    /// # Errors
    ///
    /// When `run.toml` is missing, unreadable, not a specification, or of a later version.
    pub fn spec_of_any_version<S: Spec>(&self) -> Result<S> {
        self.spec_of(0..=S::VERSION)
    }

    fn spec_of<S: Spec>(&self, versions: RangeInclusive<u32>) -> Result<S> {
        let path = self.file("run.toml");
        let refuse = |problem: String, advice: &str| {
            Err(Error::data(&path, Place::File, problem, advice.to_owned()))
        };
        let Some(text) = read_text(&path)? else { return refuse("is missing".to_owned(), "") };
        let version: Versioned = toml::from_str(&text).unwrap_or_default();
        if version.version.is_some_and(|version| !versions.contains(&version)) {
            let problem =
                format!("has version {}, not {}", version.version.unwrap_or(0), S::VERSION);
            return refuse(problem, "use the version of the program that made it");
        }
        let spec: S = match from_toml(&text) {
            Ok(spec) => spec,
            Err(problem) => return refuse(problem, ""),
        };
        match spec.validate() {
            Ok(()) => Ok(spec),
            Err(error) => refuse(error.to_string(), ""),
        }
    }

    /// What `status.json` says; [`RunStatus::Waiting`] where there is none yet.
    ///
    /// # Errors
    ///
    /// When the file is there but cannot be read.
    pub fn status(&self) -> Result<StatusFile> {
        let path = self.file("status.json");
        let status: StatusFile = read_json(&path)?.unwrap_or(StatusFile::NEW);
        match status.impossible() {
            Some(problem) => Err(Error::data(path, Place::File, problem, "")),
            None => Ok(status),
        }
    }

    /// The finished epochs.
    ///
    /// # Errors
    ///
    /// When `metrics.csv` is there but damaged.
    pub fn metrics(&self) -> Result<Vec<EpochMetrics>> {
        read_metrics(&self.file("metrics.csv"))
    }

    /// The finished epochs, with values that this specification can have.
    fn metrics_of(&self, spec: &impl Spec) -> Result<Vec<EpochMetrics>> {
        let metrics = self.metrics()?;
        check_metrics(&self.file("metrics.csv"), spec, &metrics)?;
        Ok(metrics)
    }

    /// What it achieves under noise; nothing where that was not measured.
    ///
    /// # Errors
    ///
    /// When `noise.csv` is there but damaged.
    pub fn noise(&self) -> Result<Vec<NoiseMetrics>> {
        read_noise(&self.file("noise.csv"))
    }

    /// What the network that is kept makes of each test example; `None` where that was not kept.
    ///
    /// # Errors
    ///
    /// When the file is there but damaged.
    pub fn outcomes(&self) -> Result<Option<Outcomes>> {
        let path = self.file(outcomes::FILE);
        let Some(bytes) = read_bytes(&path)? else { return Ok(None) };
        outcomes::parse_outcomes(&path, &bytes).map(Some)
    }

    /// The outcomes of a finished run that has measured this.
    ///
    /// # Errors
    ///
    /// As [`outcomes`](Self::outcomes), and when they are of another network.
    fn outcomes_of(
        &self,
        spec: &impl Spec,
        epochs: &[EpochMetrics],
        noise: &[NoiseMetrics],
    ) -> Result<Option<Arc<Outcomes>>> {
        let (Some(outcomes), Some(reported)) = (self.outcomes()?, spec.reported_epoch(epochs))
        else {
            return Ok(None);
        };
        check_outcomes(&outcomes, reported, noise)
            .map(|()| Some(Arc::new(outcomes)))
            .map_err(|problem| outcomes::refusal(&self.file(outcomes::FILE), problem))
    }

    /// Where the checkpoint of an epoch is, if there is one.
    pub fn checkpoint_path(&self, epoch: usize) -> PathBuf {
        self.file(&checkpoint::name(epoch))
    }

    /// The newest checkpoint that is whole, and what is wrong with those that are newer.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed.
    pub fn checkpoint(&self) -> Result<(Option<Checkpoint>, Vec<Error>)> {
        let mut damaged = Vec::new();
        for epoch in checkpoint::epochs(&self.path)? {
            match Checkpoint::read(&self.path, epoch) {
                Ok(checkpoint) => return Ok((Some(checkpoint), damaged)),
                Err(error) => damaged.push(error),
            }
        }
        Ok((None, damaged))
    }

    /// Who works on it, as far as can be seen from here. `silence` is how long a worker on another
    /// host may be without a heartbeat.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn holder(&self, silence: Duration) -> Result<Option<Holder>> {
        lease::holder(&self.path, silence)
    }

    /// What its sessions ran on, the first one first. Records that cannot be read are left out.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed.
    pub fn provenance(&self) -> Result<Vec<Provenance>> {
        let read = |generation| read_json(&self.file(&provenance_name(generation))).ok().flatten();
        Ok(sessions(&self.path)?.into_iter().filter_map(read).collect())
    }

    /// What a watcher sees. A file that cannot be read is a warning of the run, and what the others
    /// say still counts.
    pub fn snapshot(&self, spec: &impl Spec, silence: Duration) -> RunSnapshot {
        let mut warnings = Vec::new();
        let epochs = noted(self.metrics_of(spec), &mut warnings).unwrap_or_default();
        let status = noted(self.status(), &mut warnings);
        let StatusFile { status, seconds } =
            status.unwrap_or_else(|| self.status_by_evidence(spec, &epochs));
        let planned = spec.epochs().unwrap_or(epochs.len());
        let status = match status {
            RunStatus::Running => match noted(self.holder(silence), &mut warnings).flatten() {
                Some(_) => RunStatus::Running,
                None => RunStatus::Interrupted,
            },
            RunStatus::Finished if !is_whole(spec, epochs.len()) => {
                let held = match epochs.len() {
                    0 => "no epoch".to_owned(),
                    some => format!("{some} of {planned} epochs"),
                };
                warnings.push(format!(
                    "{}: holds {held} although the run is finished; the run is trained again",
                    self.file("metrics.csv").display(),
                ));
                RunStatus::Interrupted
            }
            other => other,
        };
        if status.is_complete() {
            warnings.extend(self.leftovers(silence));
        }
        let progress = match status {
            // A hint: one that cannot be read is none.
            RunStatus::Running => read_json(&self.file("progress.json")).ok().flatten(),
            _ => None,
        };
        let noise = noted(self.noise(), &mut warnings).unwrap_or_default();
        let outcomes = match status {
            RunStatus::Finished => {
                noted(self.outcomes_of(spec, &epochs, &noise), &mut warnings).flatten()
            }
            _ => None,
        };
        RunSnapshot {
            key: spec.key(),
            name: spec.name(),
            // A run's own folder knows no plan.
            planned: false,
            folder: {
                // Its own name, not the one the specification gives: that may be anybody's text.
                let name = self.path.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            },
            epochs_planned: planned,
            noise,
            outcomes,
            provenance: noted(self.provenance(), &mut warnings).unwrap_or_default(),
            status,
            epochs,
            progress,
            seconds,
            warnings,
        }
    }

    /// The checkpoints that a complete run still has although nobody is about to remove them.
    fn leftovers(&self, silence: Duration) -> Vec<String> {
        let epochs = checkpoint::epochs(&self.path).unwrap_or_default();
        if epochs.is_empty() || !matches!(self.holder(silence), Ok(None)) {
            return Vec::new();
        }
        let left = |epoch| {
            let path = self.checkpoint_path(epoch);
            format!("{}: is left over from a run that is complete; remove it", path.display())
        };
        epochs.into_iter().map(left).collect()
    }

    /// What the other files say of a run whose `status.json` cannot be read: a finished one is not
    /// trained again for that.
    pub(super) fn status_by_evidence<S: Spec>(
        &self,
        spec: &S,
        epochs: &[EpochMetrics],
    ) -> StatusFile {
        let all = spec.epochs() == Some(epochs.len());
        let finished = all && S::RESULT.is_some_and(|result| self.file(result).is_file());
        let status = if finished { RunStatus::Finished } else { RunStatus::Interrupted };
        StatusFile { status, seconds: 0.0 }
    }
}

/// Whether a finished run may have so many epochs: all that were planned, or where nobody knows how many, any
/// at all.
pub(crate) fn is_whole(spec: &impl Spec, epochs: usize) -> bool {
    spec.epochs().map_or(epochs > 0, |planned| epochs == planned)
}

/// The version alone, which is read before anything that a version may change.
#[derive(Default, Deserialize)]
struct Versioned {
    version: Option<u32>,
}

pub(super) fn provenance_name(generation: u32) -> String {
    format!("provenance-{generation:04}.json")
}

/// The numbers of the sessions that a folder has records of, in order.
pub(super) fn sessions(folder: &Path) -> Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let name = entry.map_err(Error::io("list", folder))?.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix("provenance-")?.strip_suffix(".json"));
        numbers.extend(number.and_then(|digits| digits.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The value, or its error among the warnings.
fn noted<T>(result: Result<T>, warnings: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| warnings.push(error.to_string())).ok()
}

/// How the folders are called that are to become that run's.
fn scratch_prefix(run: &str) -> String {
    format!(".new-{run}-")
}

/// A new folder with the permissions that the umask leaves it.
fn scratch_folder(parent: &Path, run: &str) -> Result<PathBuf> {
    let prefix = scratch_prefix(run);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    let folder = builder.tempdir_in(parent).map_err(Error::io("create a folder in", parent))?;
    Ok(folder.keep())
}

/// Removes what processes left that were killed while they made the folder of a run that is there
/// by now. One that is still at it has lost, and finds that out by itself; what cannot be removed
/// is in nobody's way.
fn remove_scratch_folders(parent: &Path, run: &str) {
    let prefix = scratch_prefix(run);
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = remove_folder(&entry.path());
        }
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    let damaged = |error: serde_json::Error| {
        Error::data(path, Place::Line(error.line()), problem(&error), "")
    };
    from_json(&bytes).map(Some).map_err(damaged)
}
