use super::{ClaimedRun, Phase, Progress, Spec};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The interval between writes: that between refreshes of a dashboard.
const INTERVAL: Duration = Duration::from_millis(200);

/// Writes the progress of the current epoch to the run's folder from time to time.
#[derive(Debug)]
pub struct ProgressSink<S> {
    run: Arc<ClaimedRun<S>>,
    state: Mutex<(Progress, Option<Instant>)>,
}

impl<S: Spec> ProgressSink<S> {
    /// Creates the sink for a run.
    pub fn new(run: Arc<ClaimedRun<S>>) -> Self {
        let start = Progress { epoch: 1, phase: Phase::Train, done: 0, total: 0, batch_loss: None };
        Self { run, state: Mutex::new((start, None)) }
    }

    /// Returns whether the next update will be written. Use it to skip costly computations otherwise.
    pub fn is_due(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        is_due(state.1)
    }

    /// Changes the progress, and writes it if the last write is long enough ago.
    pub fn update(&self, change: impl FnOnce(&mut Progress)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (progress, written) = &mut *state;
        change(progress);
        if is_due(*written) {
            self.run.set_progress(progress);
            *written = Some(Instant::now());
        }
    }
}

fn is_due(written: Option<Instant>) -> bool {
    written.is_none_or(|written| written.elapsed() >= INTERVAL)
}
