//! What is left of a run once a session has ended.

use crate::Confusion;
use crate::checkpoint::{OUTCOMES, model_bytes};
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
    /// When it cannot be read or written.
    pub fn save_model(&self) -> Result<()> {
        self.run.set_model(&model_bytes(&self.last.path)?)
    }

    /// Saves which classes the network of the reported epoch takes test examples for, as `confusion.csv` in the run's
    /// folder, where [the classes have names](crate::Training::class_names).
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn save_confusion(&self) -> Result<()> {
        match read_bytes(&self.last.path.join(Confusion::FILE))? {
            Some(bytes) => self.run.set_file(Confusion::FILE, &bytes),
            None => Ok(()),
        }
    }

    /// Returns what the network made of each test example in the reported epoch, as the bytes of a file, where
    /// the run saved that.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
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
