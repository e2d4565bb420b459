//! Combines the files of a run's folder into one view.

use super::RunFolder;
use super::read::read_json;
use crate::Result;
use crate::extension::Extras;
use crate::measure::EpochMetrics;
use crate::runs::tables::check_metrics;
use crate::runs::{RunSnapshot, RunStatus, Spec, StatusFile, checkpoint};
use std::time::Duration;

impl RunFolder {
    /// Returns a snapshot of the run. A file that cannot be read becomes a warning; the other files still count.
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
            // Progress is only a hint, so a file that cannot be read is ignored.
            RunStatus::Running => read_json(&self.file("progress.json")).ok().flatten(),
            _ => None,
        };
        let is_finished = status == RunStatus::Finished;
        let reported = spec.reported_epoch(&epochs);
        let extras = Extras::read(self, reported, is_finished, &mut warnings);
        RunSnapshot {
            key: spec.key(),
            name: spec.name(),
            // A run's folder does not know the plan.
            planned: false,
            folder: {
                // The name on disk rather than the specification's name, which an untrusted source may have written.
                let name = self.path.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            },
            epochs_planned: planned,
            extras,
            provenance: noted(self.provenance(), &mut warnings).unwrap_or_default(),
            status,
            epochs: epochs.into(),
            progress,
            seconds,
            warnings,
        }
    }

    /// Reads the finished epochs and checks that the specification allows their values.
    fn metrics_of(&self, spec: &impl Spec) -> Result<Vec<EpochMetrics>> {
        let metrics = self.metrics()?;
        check_metrics(&self.file("metrics.csv"), spec, &metrics)?;
        Ok(metrics)
    }

    /// Returns warnings about checkpoints of a complete run that no process is about to remove.
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

    /// Derives a run's status from the other files when `status.json` cannot be read, so that a finished run is not
    /// trained again.
    pub(in crate::runs) fn status_by_evidence<S: Spec>(
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

/// Returns whether `epochs` is a possible number of epochs of a finished run: the planned number, or at least one if
/// the number is not planned.
pub(crate) fn is_whole(spec: &impl Spec, epochs: usize) -> bool {
    spec.epochs().map_or(epochs > 0, |planned| epochs == planned)
}

/// Returns the value, or adds the error to the warnings.
fn noted<T>(result: Result<T>, warnings: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| warnings.push(error.to_string())).ok()
}
