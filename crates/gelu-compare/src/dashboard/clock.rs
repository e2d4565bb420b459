use crate::runs::{Phase, Progress, RunSnapshot, Snapshot};
use std::time::{Duration, Instant};

/// Measures how far a comparison has come, and estimates how long it will still take from what was done since the
/// clock was started. Earlier sessions and parallel runs do not distort the estimate.
#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    done_at_start: Option<f64>,
}

/// A reading of the [`Clock`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    /// Number of epochs done, including parts of epochs.
    pub(super) done: f64,
    /// Number of epochs planned.
    pub(super) total: f64,
    /// Time since the clock was started.
    pub(super) elapsed: Duration,
    /// Time left; `None` while too little is done for an estimate.
    pub(super) left: Option<Duration>,
}

impl Default for Clock {
    fn default() -> Self {
        Self::start()
    }
}

impl Reading {
    /// Returns the part that is done, 0 to 1.
    pub(super) fn fraction(&self) -> f64 {
        if self.total > 0.0 { (self.done / self.total).clamp(0.0, 1.0) } else { 1.0 }
    }
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), done_at_start: None }
    }

    pub(super) fn read(&mut self, snapshot: &Snapshot) -> Reading {
        let done: f64 = snapshot.runs.iter().map(epochs_done).sum();
        let total = snapshot.runs.iter().map(|run| run.epochs_planned as f64).sum();
        let at_start = *self.done_at_start.get_or_insert(done);
        let elapsed = self.started.elapsed();
        Reading { done, total, elapsed, left: time_left(done - at_start, total - done, elapsed) }
    }
}

/// Returns the number of epochs of a run that need no more time.
fn epochs_done(run: &RunSnapshot) -> f64 {
    match run.status.is_over() {
        true => run.epochs_planned as f64,
        false => run.epochs.len() as f64 + run.progress.as_ref().map_or(0.0, part_done),
    }
}

/// Returns the part of the current epoch that is done. Measuring counts as its last quarter.
fn part_done(progress: &Progress) -> f64 {
    match progress.phase {
        Phase::Train => 0.75 * progress.share(),
        Phase::Evaluate => 0.75 + 0.25 * progress.share(),
    }
}

fn time_left(done: f64, remaining: f64, elapsed: Duration) -> Option<Duration> {
    if remaining <= 0.0 {
        return Some(Duration::ZERO);
    }
    // Less than half an epoch is too little for an estimate.
    let seconds = (done >= 0.5).then(|| elapsed.as_secs_f64() / done * remaining)?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::RunStatus;
    use crate::testing::{example, without_epochs};

    #[test]
    fn time_left_follows_the_pace_of_this_session() {
        let ten = Duration::from_secs(10);
        assert_eq!(time_left(5.0, 10.0, ten), Some(Duration::from_secs(20)));
        assert_eq!(time_left(0.2, 10.0, ten), None);
        assert_eq!(time_left(0.0, 0.0, ten), Some(Duration::ZERO));
        assert_eq!(time_left(1e-300, 1e300, ten), None);
    }

    #[test]
    fn diverged_and_failed_runs_need_no_more_time() {
        let mut snapshot = example();
        snapshot.runs[0].status = RunStatus::Failed { reason: "x".into() };
        snapshot.runs[0].epochs.clear();
        let reading = Clock::start().read(&snapshot);
        assert_eq!((reading.done, reading.fraction()), (reading.total, 1.0));
    }

    #[test]
    fn parts_of_epochs_count() {
        let mut snapshot = without_epochs();
        let progress =
            Progress { epoch: 1, phase: Phase::Train, done: 1, total: 2, batch_loss: None };
        snapshot.runs[3].progress = Some(progress);
        assert_eq!(Clock::start().read(&snapshot).done, 0.375);
    }
}
