use super::checkpoint;
use super::folder::provenance_name;
use super::lease::{Before, Claim, Durable, Lease, Watch};
use super::provenance::Provenance;
use super::tables::{epochs_to_csv, to_csv};
use super::{Environment, Holder, LOG, Progress, RunFolder, RunStatus, Spec, StatusFile, outcomes};
use crate::files::{from_json, read_bytes, sync_folder};
use crate::measure::{EpochMetrics, NoiseMetrics, Outcomes};
use crate::{Error, Result};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How many lines of a log are kept with the record of its session.
const LOG_LINES: usize = 20;
/// Checkpoints that are kept: where the newest is damaged, the one before it serves.
const KEPT: usize = 2;

/// A run that this process holds, and so may write to. It is given back when this is dropped.
///
/// Every write is made in the lease's own folder and moved to its place in one step, so a process
/// that has lost its lease writes nothing; it gets [`Error::LeaseLost`]. What cannot be derived from
/// other files is on the disk before a function returns; the rest is not waited for.
#[derive(Debug)]
pub struct ClaimedRun<S> {
    folder: RunFolder,
    lease: Lease,
    spec: S,
    session: Mutex<Option<Provenance>>,
    /// Makes the names of scratch files unique.
    scratch: AtomicU64,
    /// Whether the name of the run's own folder is on the disk.
    rooted: AtomicBool,
}

impl<S: Spec> ClaimedRun<S> {
    /// Takes a run, if nobody holds it: `Err` of the holder, where that is known, if somebody does.
    ///
    /// # Errors
    ///
    /// When the run's folder cannot be read or written.
    pub fn claim(
        folder: &RunFolder,
        spec: &S,
        watch: &mut Watch,
        silence: Duration,
    ) -> Result<std::result::Result<Self, Option<Holder>>> {
        let (lease, before) = match Lease::claim(folder.path(), watch, silence)? {
            Claim::Busy(holder) => return Ok(Err(holder)),
            Claim::Held(lease, before) => (lease, before),
        };
        let run = Self {
            folder: folder.clone(),
            lease,
            spec: spec.clone(),
            session: Mutex::default(),
            scratch: AtomicU64::new(0),
            rooted: AtomicBool::new(false),
        };
        if before == Before::Died {
            run.record_death()?;
        }
        let text = spec.to_toml();
        if fs::read(run.folder.file("run.toml")).ok().as_deref() != Some(text.as_bytes()) {
            run.place("run.toml", text, Durable::No)?;
        }
        Ok(Ok(run))
    }

    /// Its folder, for reading.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Its specification.
    pub fn spec(&self) -> &S {
        &self.spec
    }

    /// Its lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Where it stands: `status.json`, or what the other files say where that is damaged.
    pub fn status(&self) -> StatusFile {
        self.folder.status().unwrap_or_else(|_| {
            let epochs = self.folder.metrics().unwrap_or_default();
            self.folder.status_by_evidence(&self.spec, &epochs)
        })
    }

    /// The sessions that died one after the other without finishing an epoch, the last one last.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed.
    pub fn deaths_in_this_epoch(&self) -> Result<Vec<Provenance>> {
        let epochs = checkpoint::epochs(self.folder.path())?.first().copied().unwrap_or(0);
        let mut sessions = self.folder.provenance()?;
        let here = |session: &&Provenance| session.has_died() && session.epochs_before == epochs;
        let deaths = sessions.iter().rev().take_while(here).count();
        Ok(sessions.split_off(sessions.len() - deaths))
    }

    /// Writes `status.json`. What is the end of the run is on the disk when this returns; whether it
    /// is running can be seen from the lease.
    ///
    /// # Errors
    ///
    /// When it cannot be written; the old one then still stands.
    pub fn set_status(&self, status: RunStatus, seconds: f64) -> Result<()> {
        let durable = if status.is_over() { Durable::Yes } else { Durable::No };
        self.place("status.json", to_json(&StatusFile { status, seconds }), durable)
    }

    /// Writes the hint about the epoch under way. Losing it loses nothing, so a failure is not told:
    /// a hint must not end the run it is about.
    pub fn set_progress(&self, progress: &Progress) {
        let text = serde_json::to_vec(progress).expect("progress holds plain values alone");
        let _ = self.place("progress.json", text, Durable::No);
    }

    /// Makes the finished epochs visible to readers: a copy of what the checkpoint holds.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; the old one then still stands.
    pub fn publish_metrics(&self, metrics: &[EpochMetrics]) -> Result<()> {
        self.place("metrics.csv", epochs_to_csv(metrics), Durable::No)
    }

    /// Writes `metrics.csv` for good, when the run ends: its content is on the disk when this returns, and its
    /// name with the [status](Self::set_status) that follows.
    ///
    /// # Errors
    ///
    /// As [`publish_metrics`](Self::publish_metrics).
    pub fn keep_metrics(&self, metrics: &[EpochMetrics]) -> Result<()> {
        self.place("metrics.csv", epochs_to_csv(metrics), Durable::Content)
    }

    /// Puts the trained network in place.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn set_model(&self, bytes: &[u8]) -> Result<()> {
        self.place("model.bpk", bytes, Durable::Yes)
    }

    /// Writes what the trained network achieves under noise.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn set_noise(&self, noise: &[NoiseMetrics]) -> Result<()> {
        self.place("noise.csv", to_csv(noise), Durable::Yes)
    }

    /// Writes what the network that is kept makes of each test example.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn set_outcomes(&self, outcomes: &Outcomes) -> Result<()> {
        self.place(outcomes::FILE, outcomes::outcomes_to_bytes(outcomes), Durable::Yes)
    }

    /// Puts a checkpoint in place, then removes all but the one before it. `write` fills a scratch
    /// folder with the model's, optimiser's and scheduler's files.
    ///
    /// # Errors
    ///
    /// When anything cannot be written; the checkpoints before then still stand.
    pub fn commit_checkpoint(
        &self,
        epoch: usize,
        metrics: &[EpochMetrics],
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let scratch = self.scratch_path("checkpoint");
        let placed = self.fill_checkpoint(&scratch, metrics, write).and_then(|()| {
            let target = self.folder.file(&checkpoint::name(epoch));
            self.discard(&target)?;
            fs::rename(&scratch, &target).map_err(Error::io("put in place", &target))
        });
        if placed.is_err() {
            // Frees what the half checkpoint takes: the disk may be full.
            let _ = fs::remove_dir_all(&scratch);
        }
        self.fenced(placed)?;
        sync_folder(self.folder.path())?;
        self.root()?;
        let older = checkpoint::epochs(self.folder.path())?.into_iter().skip(KEPT);
        self.discard_checkpoints(older)
    }

    fn fill_checkpoint(
        &self,
        scratch: &Path,
        metrics: &[EpochMetrics],
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        fs::create_dir(scratch).map_err(Error::io("create the folder", scratch))?;
        write(scratch)?;
        let path = scratch.join("metrics.csv");
        fs::write(&path, epochs_to_csv(metrics)).map_err(Error::io("write", &path))?;
        checkpoint::seal(scratch)
    }

    /// Removes the checkpoints of these epochs, damaged ones for example.
    ///
    /// # Errors
    ///
    /// When a folder cannot be removed.
    pub fn discard_checkpoints(&self, epochs: impl IntoIterator<Item = usize>) -> Result<()> {
        epochs.into_iter().try_for_each(|epoch| {
            self.fenced(self.discard(&self.folder.file(&checkpoint::name(epoch))))
        })
    }

    /// Removes the checkpoints after `epoch`: what cannot be gone on from.
    ///
    /// # Errors
    ///
    /// When a folder cannot be removed.
    pub fn discard_checkpoints_after(&self, epoch: usize) -> Result<()> {
        let newer = checkpoint::epochs(self.folder.path())?.into_iter().filter(|&e| e > epoch);
        self.discard_checkpoints(newer)
    }

    /// Removes all checkpoints, once nothing will go on from them.
    ///
    /// # Errors
    ///
    /// When a folder cannot be removed.
    pub fn clear_checkpoints(&self) -> Result<()> {
        self.discard_checkpoints(checkpoint::epochs(self.folder.path())?)
    }

    /// Notes what this session runs on.
    ///
    /// # Errors
    ///
    /// When the record cannot be written.
    pub fn begin_session(&self, environment: &Environment, epochs_before: usize) -> Result<()> {
        let session = Provenance::begin(environment, epochs_before);
        self.place(&provenance_name(self.lease.generation()), to_json(&session), Durable::No)?;
        *self.session() = Some(session);
        Ok(())
    }

    /// Notes how this session ended.
    ///
    /// # Errors
    ///
    /// When the record cannot be written.
    pub fn end_session(&self, outcome: &RunStatus, epochs_after: usize) -> Result<()> {
        self.end(outcome, epochs_after, Vec::new())
    }

    /// The same where something went wrong: the log is kept, and its end stands in the record.
    ///
    /// # Errors
    ///
    /// When the record cannot be written.
    pub fn end_troubled_session(&self, outcome: &RunStatus, epochs_after: usize) -> Result<()> {
        self.end(outcome, epochs_after, self.keep_log()?)
    }

    fn end(&self, outcome: &RunStatus, epochs_after: usize, log: Vec<String>) -> Result<()> {
        let Some(mut session) = self.session().take() else { return Ok(()) };
        session.end(outcome.word(), epochs_after, log);
        // What a run came to stands in its status; a record that a power cut takes is left out.
        self.place(&provenance_name(self.lease.generation()), to_json(&session), Durable::No)
    }

    /// Makes nothing of the processes that died on this run, so that it is tried again.
    ///
    /// # Errors
    ///
    /// When a record cannot be written.
    pub fn forget_deaths(&self) -> Result<()> {
        let session = Provenance::resumed(self.folder.provenance()?.last());
        match session {
            Some(session) => {
                let name = provenance_name(self.lease.generation());
                self.place(&name, to_json(&session), Durable::No)
            }
            None => Ok(()),
        }
    }

    /// Where a worker's standard error goes while it works on this run.
    pub fn log_file(&self) -> PathBuf {
        self.lease.scratch(LOG)
    }

    /// The holder before has died: notes it in the record of its session, with what it said last.
    fn record_death(&self) -> Result<()> {
        let log = self.keep_log()?;
        let before = self.lease.generation() - 1;
        let name = provenance_name(before);
        let Ok(Some(bytes)) = read_bytes(&self.folder.file(&name)) else { return Ok(()) };
        let Ok(mut session) = from_json::<Provenance>(&bytes) else { return Ok(()) };
        if session.outcome.is_none() {
            session.outcome = Some(Provenance::DIED.to_owned());
            session.log = log;
            self.place(&name, to_json(&session), Durable::No)?;
        }
        Ok(())
    }

    /// Moves the log to where it is found, and returns its last lines.
    fn keep_log(&self) -> Result<Vec<String>> {
        let log = self.log_file();
        let Some(bytes) = read_bytes(&log).unwrap_or(None).filter(|bytes| !bytes.is_empty()) else {
            return Ok(Vec::new());
        };
        let kept = self.folder.file(LOG);
        self.fenced(fs::rename(&log, &kept).map_err(Error::io("keep", &kept)))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<String> = text.lines().map(crate::names::printable).collect();
        Ok(lines[lines.len().saturating_sub(LOG_LINES)..].to_vec())
    }

    /// Writes a file of the run in one step.
    fn place(&self, name: &str, bytes: impl AsRef<[u8]>, durable: Durable) -> Result<()> {
        let scratch = self.scratch_name(name);
        self.fenced(self.lease.place(&scratch, &self.folder.file(name), bytes, durable))?;
        if durable == Durable::Yes { self.root() } else { Ok(()) }
    }

    /// Waits until the name of the run's own folder is on the disk, the first time that something in it is to
    /// stay.
    fn root(&self) -> Result<()> {
        match (self.folder.path().parent(), self.rooted.swap(true, Ordering::Relaxed)) {
            (Some(parent), false) => sync_folder(parent),
            _ => Ok(()),
        }
    }

    /// Removes a folder of the run: out of sight in one step, so that a holder that has lost its
    /// lease removes nothing.
    fn discard(&self, path: &Path) -> Result<()> {
        let scratch = self.scratch_path("discarded");
        match fs::rename(path, &scratch) {
            Ok(()) => fs::remove_dir_all(&scratch).map_err(Error::io("remove", scratch)),
            Err(_) if !path.exists() => Ok(()),
            Err(error) => Err(Error::io("remove", path)(error)),
        }
    }

    /// A path in the lease's folder that was not used before.
    fn scratch_path(&self, name: &str) -> PathBuf {
        self.lease.scratch(&self.scratch_name(name))
    }

    fn scratch_name(&self, name: &str) -> String {
        let number = self.scratch.fetch_add(1, Ordering::Relaxed);
        format!("{number}-{name}")
    }

    /// Says what a failed write is where somebody else has taken the run.
    fn fenced<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| match self.lease.is_lost() {
            true => Error::LeaseLost { run: self.folder.path().to_path_buf() },
            false => error,
        })
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Option<Provenance>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("the value holds plain data alone");
    text.push(b'\n');
    text
}
