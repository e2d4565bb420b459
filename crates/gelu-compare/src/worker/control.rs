use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The line on a worker's standard input that makes the worker end after the current epoch.
pub(crate) const STOP_AFTER_EPOCH: &str = "stop";
/// The line on a worker's standard input that makes the worker end after the current batch.
pub(crate) const STOP_NOW: &str = "now";

/// Stops training from outside. Clones stop the same runs.
#[derive(Clone, Debug, Default)]
pub struct Control {
    after_epoch: Arc<AtomicBool>,
    now: Arc<AtomicBool>,
    terminal_gone: Arc<AtomicBool>,
}

impl Control {
    /// Ends the run after the current epoch is finished and saved.
    pub fn stop_after_epoch(&self) {
        self.after_epoch.store(true, Ordering::SeqCst);
    }

    /// Ends the run after the current batch; the current epoch is lost.
    pub fn stop_now(&self) {
        self.now.store(true, Ordering::SeqCst);
    }

    /// Records that the terminal is gone, so that nothing is displayed from now on.
    pub fn terminal_is_gone(&self) {
        self.terminal_gone.store(true, Ordering::SeqCst);
    }

    /// Returns whether the run should end, either way.
    pub fn wants_stop(&self) -> bool {
        self.wants_stop_now() || self.after_epoch.load(Ordering::SeqCst)
    }

    /// Returns whether the run should abandon the current epoch.
    pub fn wants_stop_now(&self) -> bool {
        self.now.load(Ordering::SeqCst)
    }

    /// Returns whether the terminal is gone.
    pub fn has_no_terminal(&self) -> bool {
        self.terminal_gone.load(Ordering::SeqCst)
    }
}
