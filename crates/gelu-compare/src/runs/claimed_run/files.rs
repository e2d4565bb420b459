//! Writing the files of a run that readers use.

use super::ClaimedRun;
use super::writing::to_json;
use crate::measure::EpochMetrics;
use crate::runs::lease::Durable;
use crate::runs::tables::epochs_to_csv;
use crate::runs::{Progress, RunStatus, Spec, StatusFile};
use crate::{Error, Result};

impl<S: Spec> ClaimedRun<S> {
    /// Writes `status.json`. A final status is on the disk when this returns. Other statuses need not be, because the
    /// lease shows whether the run is running.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written; the old one then still exists.
    pub fn set_status(&self, status: RunStatus, seconds: f64) -> Result<()> {
        let durable = if status.is_over() { Durable::Yes } else { Durable::No };
        self.place("status.json", to_json(&StatusFile { status, seconds }), durable)
    }

    /// Writes the progress of the current epoch. Ignores errors, because progress is only a hint, and a failure to
    /// write it must not end the run.
    pub fn set_progress(&self, progress: &Progress) {
        let text = serde_json::to_vec(progress).expect("progress holds plain values alone");
        let _ = self.place("progress.json", text, Durable::No);
    }

    /// Shows the finished epochs to readers: a copy of the checkpoint's metrics, or the record of a program's
    /// reports. Returns whether the copy was written. A full disk must not end the run, and the next call writes the
    /// copy again.
    ///
    /// # Errors
    ///
    /// Returns [`Error::LeaseLost`] if another process has taken the run.
    pub fn publish_metrics(&self, metrics: &[EpochMetrics]) -> Result<bool> {
        match self.place("metrics.csv", epochs_to_csv(metrics), Durable::No) {
            Err(lost @ Error::LeaseLost { .. }) => Err(lost),
            placed => Ok(placed.is_ok()),
        }
    }

    /// Writes the final `metrics.csv`, when the run ends. The content is on the disk when this returns, and the name
    /// after the [status](Self::set_status) that follows.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written, or if another process has taken the run.
    pub fn keep_metrics(&self, metrics: &[EpochMetrics]) -> Result<()> {
        self.place("metrics.csv", epochs_to_csv(metrics), Durable::Content)
    }

    /// Writes a file that belongs to the program, such as a trained network or a table.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn set_file(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.place(name, bytes, Durable::Yes)
    }
}
