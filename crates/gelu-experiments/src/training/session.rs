use super::progress::ProgressSink;
use crate::measure::EpochMetrics;
use crate::randomness::{Purpose, device_seed};
use crate::runs::{RunFolder, RunSpec, RunStatus};
use crate::{Error, Result};
use burn::tensor::Device;
use burn::train::Interrupter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How a run is stopped from outside. Clones stop the same run.
#[derive(Clone, Default)]
pub struct Control {
    stop_after_epoch: Arc<AtomicBool>,
    interrupter: Interrupter,
}

impl Control {
    /// Ends the run once the epoch under way is finished and saved.
    pub fn stop_after_epoch(&self) {
        self.stop_after_epoch.store(true, Ordering::Relaxed);
    }

    /// Ends the run after the batch under way; the epoch is lost.
    pub fn stop_now(&self) {
        self.interrupter.stop(Some("asked to stop"));
    }

    pub(super) fn interrupter(&self) -> &Interrupter {
        &self.interrupter
    }

    fn wants_stop_after_epoch(&self) -> bool {
        self.stop_after_epoch.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("stop_after_epoch", &self.stop_after_epoch).finish()
    }
}

/// What the training loop and the code around it share about one sitting of a run.
pub(super) struct Session {
    pub(super) folder: RunFolder,
    pub(super) spec: RunSpec,
    pub(super) control: Control,
    pub(super) progress: Arc<ProgressSink>,
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
        folder: RunFolder,
        spec: RunSpec,
        control: Control,
        progress: Arc<ProgressSink>,
        metrics: Vec<EpochMetrics>,
        seconds: f64,
    ) -> Self {
        let state = State { metrics, seconds, epoch_started: Instant::now(), outcome: None };
        Self { folder, spec, control, progress, state: Mutex::new(state) }
    }

    /// Begins an epoch: whatever the network draws in it depends on seed and epoch alone.
    pub(super) fn begin_epoch(&self, epoch: usize, device: &Device) {
        let seed = device_seed(self.spec.seed, Purpose::Training { epoch });
        device.seed(seed);
        gelu_core::random::seed(seed);
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
        self.folder.commit_checkpoint(number, &state.metrics, write_parts)?;
        self.folder.publish_metrics(&state.metrics)?;
        state.seconds += state.epoch_started.elapsed().as_secs_f64();
        self.folder.set_status(RunStatus::Running, state.seconds)
    }

    /// Whether the run is to end here although epochs are left.
    pub(super) fn stops_after_epoch(&self) -> bool {
        self.control.wants_stop_after_epoch() || self.control.interrupter.should_stop()
    }

    /// Records how the sitting ended; the first word counts.
    pub(super) fn end(&self, outcome: Result<RunStatus>) {
        self.state().outcome.get_or_insert(outcome);
    }

    /// How the sitting ended, and the seconds of its epochs.
    pub(super) fn outcome(&self) -> (Result<RunStatus>, f64) {
        let mut state = self.state();
        let outcome = match (state.outcome.take(), self.control.interrupter.error()) {
            (Some(outcome), _) => outcome,
            (None, Some(error)) => Err(Error::Device(error.to_string())),
            (None, None) if state.metrics.len() == self.spec.training.epochs => {
                Ok(RunStatus::Finished)
            }
            (None, None) => Ok(RunStatus::Interrupted),
        };
        (outcome, state.seconds)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
