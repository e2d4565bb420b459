use super::{ClaimedRun, Phase, Progress, Spec};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The interval between writes of one run: that between refreshes of a dashboard.
const INTERVAL: Duration = Duration::from_millis(200);

/// Writes the progress of the current epoch to the run's folder from time to time.
#[derive(Debug)]
pub struct ProgressSink<S> {
    run: Arc<ClaimedRun<S>>,
    interval: Duration,
    state: Mutex<(Progress, Option<Instant>)>,
}

impl<S: Spec> ProgressSink<S> {
    /// Creates the sink for one of `sharing` runs that this process trains as one program. The more there are, the less
    /// often each is written, so that together they write as often as one.
    pub fn new(run: Arc<ClaimedRun<S>>, sharing: usize) -> Self {
        let start = Progress { epoch: 1, phase: Phase::Train, done: 0, total: 0, batch_loss: None };
        let interval = INTERVAL * u32::try_from(sharing).unwrap_or(u32::MAX);
        Self { run, interval, state: Mutex::new((start, None)) }
    }

    /// Returns the time between two writes.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns whether the next update will be written. Use it to skip costly computations otherwise.
    pub fn is_due(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_due_after(state.1)
    }

    /// Changes the progress, and writes it if the last write is long enough ago.
    pub fn update(&self, change: impl FnOnce(&mut Progress)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (progress, written) = &mut *state;
        change(progress);
        if self.is_due_after(*written) {
            self.run.set_progress(progress);
            *written = Some(Instant::now());
        }
    }

    fn is_due_after(&self, written: Option<Instant>) -> bool {
        written.is_none_or(|written| written.elapsed() >= self.interval)
    }
}
