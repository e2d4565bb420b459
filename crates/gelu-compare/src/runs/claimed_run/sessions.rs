//! Records of a run's sessions: the environment, the outcome, and the end of the log.

use super::ClaimedRun;
use super::writing::to_json;
use crate::files::{from_json, read_bytes, rename};
use crate::runs::lease::{Durable, LOG};
use crate::runs::provenance::{Provenance, record_name};
use crate::runs::{Environment, RunStatus, Spec, checkpoint};
use crate::{Error, Result};
use std::path::PathBuf;
use std::sync::{MutexGuard, PoisonError};

/// The number of log lines to store in a session's record.
const LOG_LINES: usize = 20;

impl<S: Spec> ClaimedRun<S> {
    /// Returns the latest sessions that died one after the other without finishing an epoch, the last one last.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be listed.
    pub fn deaths_in_this_epoch(&self) -> Result<Vec<Provenance>> {
        let saved = checkpoint::epochs(self.folder.path())?.first().copied().unwrap_or(0);
        // Reports of programs are saved without a checkpoint.
        let epochs = saved.max(self.folder.metrics().map_or(0, |epochs| epochs.len()));
        let mut sessions = self.folder.provenance()?;
        let here = |session: &&Provenance| session.has_died() && session.epochs_before == epochs;
        let deaths = sessions.iter().rev().take_while(here).count();
        Ok(sessions.split_off(sessions.len() - deaths))
    }

    /// Records that a session begins, with its environment.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be written.
    pub fn begin_session(&self, environment: &Environment, epochs_before: usize) -> Result<()> {
        let session = Provenance::begin(environment, epochs_before);
        self.place(&record_name(self.lease.generation()), to_json(&session), Durable::No)?;
        *self.session() = Some(session);
        Ok(())
    }

    /// Records how this session ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be written.
    pub fn end_session(&self, outcome: &RunStatus, epochs_after: usize) -> Result<()> {
        self.end(outcome, epochs_after, Vec::new())
    }

    /// Records how this session ended, after a problem. Saves the log and puts its last lines into the record.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be written.
    pub fn end_troubled_session(&self, outcome: &RunStatus, epochs_after: usize) -> Result<()> {
        self.end(outcome, epochs_after, self.keep_log()?)
    }

    fn end(&self, outcome: &RunStatus, epochs_after: usize, log: Vec<String>) -> Result<()> {
        let Some(mut session) = self.session().clone() else { return Ok(()) };
        session.end(outcome.word(), epochs_after, log);
        // `Durable::No`, because the status holds the result. A record that is lost in a power cut is left out.
        self.place(&record_name(self.lease.generation()), to_json(&session), Durable::No)?;
        *self.session() = None;
        Ok(())
    }

    /// Makes earlier deaths of processes on this run no longer count, so that it is tried again.
    ///
    /// # Errors
    ///
    /// Returns an error if a record cannot be written.
    pub fn reset_deaths(&self) -> Result<()> {
        let session = Provenance::resumed(self.folder.provenance()?.last());
        match session {
            Some(session) => {
                let name = record_name(self.lease.generation());
                self.place(&name, to_json(&session), Durable::No)
            }
            None => Ok(()),
        }
    }

    /// Returns the file for a worker's standard error while the worker works on this run.
    pub fn log_file(&self) -> PathBuf {
        self.lease.scratch(LOG)
    }

    /// Records in the previous holder's session that it died, with the end of its log.
    pub(super) fn record_death(&self) -> Result<()> {
        let log = self.keep_log()?;
        let before = self.lease.generation() - 1;
        let name = record_name(before);
        let Ok(Some(bytes)) = read_bytes(&self.folder.file(&name)) else { return Ok(()) };
        let Ok(mut session) = from_json::<Provenance>(&bytes) else { return Ok(()) };
        if session.outcome.is_none() {
            session.outcome = Some(Provenance::DIED.to_owned());
            session.log = log;
            self.place(&name, to_json(&session), Durable::No)?;
        }
        Ok(())
    }

    /// Moves the log from the lease's folder to the run's folder, and returns the log's last lines.
    fn keep_log(&self) -> Result<Vec<String>> {
        let log = self.log_file();
        let Some(bytes) = read_bytes(&log).unwrap_or(None).filter(|bytes| !bytes.is_empty()) else {
            return Ok(Vec::new());
        };
        let kept = self.folder.file(LOG);
        self.fenced(rename(&log, &kept).map_err(Error::io("keep", &kept)))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<String> = text.lines().map(crate::names::printable).collect();
        Ok(lines[lines.len().saturating_sub(LOG_LINES)..].to_vec())
    }

    fn session(&self) -> MutexGuard<'_, Option<Provenance>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
