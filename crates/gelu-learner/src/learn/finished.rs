//! A run after its last epoch, and the end of a session.

use crate::Confusion;
use crate::checkpoint::model_bytes;
use crate::networks::OUTCOMES;
use crate::session::Session;
use crate::{Error, Result};
use gelu_compare::files::read_bytes;
use gelu_compare::runs::{Checkpoint, ClaimedRun, RunStatus, Spec};
use gelu_compare::worker::conclude;

/// A run that has all its epochs, before its end is recorded.
#[derive(Debug)]
pub struct FinishedRun<'a, S> {
    /// The run.
    pub run: &'a ClaimedRun<S>,
    /// The checkpoint of its last epoch.
    pub last: Checkpoint,
}

impl<S: Spec> FinishedRun<'_, S> {
    /// Saves the network of the reported epoch in the run's folder.
    ///
    /// # Errors
    ///
    /// If the network cannot be read or written.
    pub fn save_model(&self) -> Result<()> {
        self.run.set_file("model.bpk", &model_bytes(&self.last.path)?)
    }

    /// Saves the confusion table of the test examples in the reported epoch as `confusion.csv` in the run's folder,
    /// if [the classes have names](crate::Training::class_names).
    ///
    /// # Errors
    ///
    /// If the table cannot be read or written.
    pub fn save_confusion(&self) -> Result<()> {
        match read_bytes(&self.last.path.join(Confusion::FILE))? {
            Some(bytes) => self.run.set_file(Confusion::FILE, &bytes),
            None => Ok(()),
        }
    }

    /// Returns the outcome of each test example in the reported epoch, as the bytes of a file, if the run saved them.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn outcomes(&self) -> Result<Option<Vec<u8>>> {
        read_bytes(&self.last.path.join(OUTCOMES))
    }
}

/// Records the end of a session in the run's folder.
pub(crate) fn finish<S: Spec>(
    session: &Session<S>,
    keep: impl FnOnce(FinishedRun<'_, S>) -> Result<()>,
) -> Result<RunStatus> {
    let (outcome, seconds) = session.outcome();
    if !outcome.as_ref().is_ok_and(RunStatus::is_complete) {
        // Readers may not have been shown the last epochs. They are in the checkpoint, so a failure costs nothing.
        let _ = session.run.publish_metrics(&session.metrics());
    }
    let outcome = outcome.and_then(|status| {
        if status == RunStatus::Finished {
            let run = &session.run;
            let (last, _) = run.folder().checkpoint()?;
            let last = last.filter(|last| last.epoch == session.metrics().len());
            let last = last.ok_or_else(|| Error::Run {
                run: run.folder().path().to_path_buf(),
                problem: "the checkpoint of its last epoch is gone".to_owned(),
            })?;
            keep(FinishedRun { run, last })?;
        }
        Ok(status)
    });
    conclude(&session.run, outcome, &session.metrics(), seconds)
}
