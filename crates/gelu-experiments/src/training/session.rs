use super::checkpoint::keep_best;
use crate::measure::EpochMetrics;
use crate::randomness::{Purpose, device_seed};
use crate::runs::{ClaimedRun, RunSpec, RunStatus, Spec};
use crate::worker::Control;
use crate::{Error, Result};
use burn::tensor::Device;
use burn::train::Interrupter;
use gelu_compare::runs::ProgressSink;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What the training loop and the code around it share about one session of a run.
pub(super) struct Session {
    pub(super) run: Arc<ClaimedRun>,
    pub(super) control: Control,
    /// Burn's own way to stop, by a key in its display or by an error.
    pub(super) interrupter: Interrupter,
    pub(super) progress: Arc<ProgressSink<RunSpec>>,
    state: Mutex<State>,
}

struct State {
    metrics: Vec<EpochMetrics>,
    seconds: f64,
    epoch_started: Instant,
    outcome: Option<Result<RunStatus>>,
}

impl Session {
    pub(super) fn new(
        run: Arc<ClaimedRun>,
        control: Control,
        progress: Arc<ProgressSink<RunSpec>>,
        metrics: Vec<EpochMetrics>,
        seconds: f64,
    ) -> Self {
        let state = State { metrics, seconds, epoch_started: Instant::now(), outcome: None };
        let interrupter = Interrupter::new();
        Self { run, control, interrupter, progress, state: Mutex::new(state) }
    }

    pub(super) fn spec(&self) -> &RunSpec {
        self.run.spec()
    }

    /// Begins an epoch: whatever the network draws in it depends on seed and epoch alone.
    pub(super) fn begin_epoch(&self, epoch: usize, device: &Device) {
        device.seed(device_seed(self.spec().seed, Purpose::Training { epoch }));
        self.state().epoch_started = Instant::now();
    }

    /// Ends an epoch: saves it, then makes it visible.
    pub(super) fn end_epoch(
        &self,
        epoch: EpochMetrics,
        write_parts: impl FnOnce(&std::path::Path) -> Result<()>,
    ) -> Result<()> {
        let mut state = self.state();
        let number = epoch.epoch;
        state.metrics.push(epoch);
        let spec = self.spec();
        let best = spec.reported_epoch(&state.metrics).filter(|_| spec.best_by.is_some());
        self.run.commit_checkpoint(number, &state.metrics, |scratch| {
            write_parts(scratch)?;
            match best {
                Some(best) => keep_best(self.run.folder(), scratch, number, best.epoch),
                None => Ok(()),
            }
        })?;
        self.run.publish_metrics(&state.metrics)?;
        state.seconds += state.epoch_started.elapsed().as_secs_f64();
        self.run.set_status(RunStatus::Running, state.seconds)
    }

    /// Whether the run is to end here although epochs are left.
    pub(super) fn stops_after_epoch(&self) -> bool {
        self.control.wants_stop() || self.stops_now()
    }

    /// Whether the epoch under way is to be given up: because somebody asked for it, because
    /// something of Burn's failed, or because the run is no longer ours.
    pub(super) fn stops_now(&self) -> bool {
        self.control.wants_stop_now()
            || self.interrupter.should_stop()
            || self.run.lease().is_marked_lost()
    }

    /// Records how the session ended; the first word counts.
    pub(super) fn end(&self, outcome: Result<RunStatus>) {
        self.state().outcome.get_or_insert(outcome);
    }

    /// Whether the training loop has ended, whatever Burn still does behind it.
    pub(super) fn has_ended(&self) -> bool {
        self.state().outcome.is_some()
    }

    /// How the session ended, and the seconds of its epochs.
    pub(super) fn outcome(&self) -> (Result<RunStatus>, f64) {
        let mut state = self.state();
        let outcome = match (state.outcome.take(), self.interrupter.error()) {
            _ if self.run.lease().is_marked_lost() => {
                Err(Error::LeaseLost { run: self.run.folder().path().to_path_buf() })
            }
            (Some(outcome), _) => outcome,
            (None, Some(error)) => Err(Error::Failed(error.to_string())),
            (None, None) if state.metrics.len() == self.spec().training.epochs => {
                Ok(RunStatus::Finished)
            }
            (None, None) => Ok(RunStatus::Interrupted),
        };
        (outcome, state.seconds)
    }

    pub(super) fn metrics(&self) -> Vec<EpochMetrics> {
        self.state().metrics.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
