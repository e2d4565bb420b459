//! All that the files of a run's folder say together.

use super::RunFolder;
use super::read::read_json;
use crate::Result;
use crate::extension::Extras;
use crate::measure::EpochMetrics;
use crate::runs::tables::check_metrics;
use crate::runs::{RunSnapshot, RunStatus, Spec, StatusFile, checkpoint};
use std::time::Duration;

impl RunFolder {
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
        let is_finished = status == RunStatus::Finished;
        let reported = spec.reported_epoch(&epochs);
        let extras = Extras::read(self, reported, is_finished, &mut warnings);
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
            extras,
            provenance: noted(self.provenance(), &mut warnings).unwrap_or_default(),
            status,
            epochs: epochs.into(),
            progress,
            seconds,
            warnings,
        }
    }

    /// The finished epochs, with values that this specification can have.
    fn metrics_of(&self, spec: &impl Spec) -> Result<Vec<EpochMetrics>> {
        let metrics = self.metrics()?;
        check_metrics(&self.file("metrics.csv"), spec, &metrics)?;
        Ok(metrics)
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

/// Whether a finished run may have so many epochs: all that were planned, or where nobody knows how many, any
/// at all.
pub(crate) fn is_whole(spec: &impl Spec, epochs: usize) -> bool {
    spec.epochs().map_or(epochs > 0, |planned| epochs == planned)
}

/// The value, or its error among the warnings.
fn noted<T>(result: Result<T>, warnings: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| warnings.push(error.to_string())).ok()
}
