//! How long threads spin before they sleep.

use super::wait::Wait;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Microseconds, where nobody says otherwise.
const USUAL: u64 = 300;
/// What is left of the spin time, as a power of two, each time that it was for nothing.
const LESS: u32 = 2;

/// In microseconds.
fn chosen() -> &'static AtomicU64 {
    static CHOSEN: OnceLock<AtomicU64> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let wanted = std::env::var_os("GELU_SPIN_TIME").unwrap_or_default();
        AtomicU64::new(parsed(&wanted.to_string_lossy()))
    })
}

/// # Panics
///
/// If it is not a number.
pub(super) fn parsed(wanted: &str) -> u64 {
    if wanted.is_empty() {
        return USUAL;
    }
    wanted.parse().unwrap_or_else(|_| {
        panic!(
            "GELU_SPIN_TIME={wanted} is not a number of microseconds: set it to 0 for threads that do not \
             spin, to {USUAL}, or to nothing"
        )
    })
}

pub(super) fn spin_time() -> Duration {
    Duration::from_micros(chosen().load(Relaxed))
}

/// How long the kernels' own threads look out for the next kernel before they sleep; 0 for threads that never spin,
/// which suits a service on a machine with other work. In whole microseconds, at first those that the environment
/// variable `GELU_SPIN_TIME` says, or 300. No result depends on it.
///
/// A thread that spun for nothing spins a quarter of the time next, so that kernels which come one by one cost
/// little of it anyway.
///
/// # Panics
///
/// If `GELU_SPIN_TIME` is not a number.
pub fn set_spin_time(time: Duration) {
    chosen().store(time.as_micros().try_into().unwrap_or(u64::MAX), Relaxed);
}

/// A thread's wait for its next kernel.
pub(super) struct Spin {
    wait: Wait,
    /// Times in a row that it was for nothing.
    fruitless: u32,
    /// The same when the next kernel is done.
    next: u32,
}

impl Spin {
    pub(super) fn new() -> Self {
        Self { wait: Wait::new(), fruitless: 0, next: 0 }
    }

    /// A kernel has come, and is done: the next wait begins.
    pub(super) fn again(&mut self) {
        *self = Self { wait: Wait::new(), fruitless: self.next, next: 0 };
    }

    /// Waits a moment; whether it is time to sleep.
    pub(super) fn is_over(&mut self) -> bool {
        self.wait.pause();
        self.wait.time() >= spin_time() / (1 << (LESS * self.fruitless))
    }

    #[cfg(all(test, not(gelu_model)))]
    pub(super) fn fruitless(&self) -> u32 {
        self.fruitless
    }

    /// A kernel has come while it slept. If it came soon, to have spun would have been right.
    pub(super) fn slept(&mut self) {
        /// Of a 256th of the time nothing is left.
        const MOST: u32 = 4;
        let came_soon = self.wait.time() <= spin_time();
        self.next = if came_soon { 0 } else { (self.fruitless + 1).min(MOST) };
    }
}
