use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a worker is told on its standard input, to end after the epoch under way.
pub const STOP_AFTER_EPOCH: &str = "stop";
/// What a worker is told on its standard input, to end after the batch under way.
pub const STOP_NOW: &str = "now";

/// How training is stopped from outside. Clones stop the same runs.
#[derive(Clone, Debug, Default)]
pub struct Control {
    after_epoch: Arc<AtomicBool>,
    now: Arc<AtomicBool>,
    terminal_gone: Arc<AtomicBool>,
}

impl Control {
    /// Ends the run once the epoch under way is finished and saved.
    pub fn stop_after_epoch(&self) {
        self.after_epoch.store(true, Ordering::SeqCst);
    }

    /// Ends the run after the batch under way; the epoch is lost.
    pub fn stop_now(&self) {
        self.now.store(true, Ordering::SeqCst);
    }

    /// From now on nothing is shown.
    pub fn terminal_is_gone(&self) {
        self.terminal_gone.store(true, Ordering::SeqCst);
    }

    /// Whether an end was asked for, in whatever way.
    pub fn wants_stop(&self) -> bool {
        self.wants_stop_now() || self.after_epoch.load(Ordering::SeqCst)
    }

    /// Whether the epoch under way is to be given up.
    pub fn wants_stop_now(&self) -> bool {
        self.now.load(Ordering::SeqCst)
    }

    /// Whether there is nothing to show anything on.
    pub fn has_no_terminal(&self) -> bool {
        self.terminal_gone.load(Ordering::SeqCst)
    }
}
