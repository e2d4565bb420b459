//! The files of a run that readers know.

use super::ClaimedRun;
use super::writing::to_json;
use crate::measure::EpochMetrics;
use crate::runs::lease::Durable;
use crate::runs::tables::epochs_to_csv;
use crate::runs::{Progress, RunStatus, Spec, StatusFile};
use crate::{Error, Result};

impl<S: Spec> ClaimedRun<S> {
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

    /// Makes the finished epochs visible to readers: a copy of what the checkpoint holds, or the record of what a
    /// program told. Whether that went well: a copy that a full disk does not take must not end the run it is about, and
    /// is made again.
    ///
    /// # Errors
    ///
    /// [`Error::LeaseLost`] where another has taken the run.
    pub fn publish_metrics(&self, metrics: &[EpochMetrics]) -> Result<bool> {
        match self.place("metrics.csv", epochs_to_csv(metrics), Durable::No) {
            Err(lost @ Error::LeaseLost { .. }) => Err(lost),
            placed => Ok(placed.is_ok()),
        }
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

    /// Puts a file of the program's own in place: a trained network, a table.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn set_file(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.place(name, bytes, Durable::Yes)
    }
}
