//! Records how a session of a run ends.

use crate::measure::EpochMetrics;
use crate::names::printable_in_one_line;
use crate::output::complain;
use crate::runs::{ClaimedRun, RunStatus, Spec};
use crate::{Error, Result};
use std::time::Duration;

/// Records the end of a session in the run's folder, and returns the run's new status. If `outcome` is an error,
/// records that the run failed.
///
/// # Errors
///
/// Returns the error in `outcome`, and an error if the end cannot be written.
pub fn conclude<S: Spec>(
    run: &ClaimedRun<S>,
    outcome: Result<RunStatus>,
    metrics: &[EpochMetrics],
    seconds: f64,
) -> Result<RunStatus> {
    let epochs = metrics.len();
    let outcome = outcome.and_then(|status| {
        if status.is_complete() {
            insistently(|| run.keep_metrics(metrics))?;
        }
        insistently(|| run.set_status(status.clone(), seconds))?;
        if status.is_complete() {
            run.clear_checkpoints()?;
        }
        run.end_session(&status, epochs)?;
        Ok(status)
    });
    match outcome {
        Ok(_) | Err(Error::LeaseLost { .. }) => outcome,
        Err(error) => match fail(run, &error.to_string(), seconds, epochs) {
            Ok(status) if status.is_complete() => Ok(status),
            // On a full disk `fail` may fail too; the caller still gets the original error.
            _ => Err(error),
        },
    }
}

/// Records that a run failed, and returns the run's new status. A complete run stays complete, even if something goes
/// wrong afterwards; its log then gets a warning.
///
/// # Errors
///
/// Returns an error if the failure cannot be written.
pub fn fail<S: Spec>(
    run: &ClaimedRun<S>,
    reason: &str,
    seconds: f64,
    epochs: usize,
) -> Result<RunStatus> {
    let complete = run.status().status;
    if complete.is_complete() {
        log::<S>(&format!("warning: the run is {complete}; afterwards: {reason}"));
        if let Err(error) = run.end_troubled_session(&complete, epochs) {
            log::<S>(&format!("warning: {error}"));
        }
        return Ok(complete);
    }
    let status = RunStatus::Failed { reason: printable_in_one_line(reason) };
    let ended = insistently(|| run.end_troubled_session(&status, epochs));
    insistently(|| run.set_status(status.clone(), seconds))?;
    ended.map(|()| status)
}

/// The waits before each new attempt to write. A brief failure of a disk must not cost the results of a run.
const AGAIN: [Duration; 3] =
    [Duration::from_millis(10), Duration::from_millis(100), Duration::from_millis(400)];

/// Calls `write` up to four times until it succeeds. Stops early if another worker has taken the run.
fn insistently(mut write: impl FnMut() -> Result<()>) -> Result<()> {
    for pause in AGAIN {
        match write() {
            Err(error) if !matches!(error, Error::LeaseLost { .. }) => std::thread::sleep(pause),
            written => return written,
        }
    }
    write()
}

fn log<S: Spec>(line: &str) {
    complain(&format!("{}: {line}\n", S::TOOL));
}
