//! The spin time: how long threads spin before they sleep.

use super::wait::Wait;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The default spin time in microseconds.
const USUAL: u64 = 300;
/// The binary logarithm of the factor that divides the spin time after each fruitless wait.
const LESS: u32 = 2;

/// Returns the chosen spin time, in microseconds.
fn chosen() -> &'static AtomicU64 {
    static CHOSEN: OnceLock<AtomicU64> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let wanted = std::env::var_os("GELU_SPIN_TIME").unwrap_or_default();
        AtomicU64::new(parsed(&wanted.to_string_lossy()))
    })
}

/// Parses `GELU_SPIN_TIME`; an empty text gives the default.
///
/// # Panics
///
/// If `wanted` is not a number.
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

/// Sets how long this crate's own threads spin before they sleep while they wait for the next kernel. With 0 they
/// never spin, which suits a service on a machine with other work. The time is rounded down to whole microseconds.
/// At the start it is that of the environment variable `GELU_SPIN_TIME`, or 300. Results do not depend on it.
///
/// A thread that spun in vain spins for a quarter of the time next. Kernels with long pauses between them therefore
/// cost little spin time anyway.
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
    /// The number of fruitless waits in a row.
    fruitless: u32,
    /// The value of `fruitless` after the next kernel.
    next: u32,
}

impl Spin {
    pub(super) fn new() -> Self {
        Self { wait: Wait::new(), fruitless: 0, next: 0 }
    }

    /// Begins the next wait, after a kernel is done.
    pub(super) fn again(&mut self) {
        *self = Self { wait: Wait::new(), fruitless: self.next, next: 0 };
    }

    /// Waits a moment, and returns whether it is time to sleep.
    pub(super) fn is_over(&mut self) -> bool {
        self.wait.pause();
        self.wait.time() >= spin_time() / (1 << (LESS * self.fruitless))
    }

    #[cfg(all(test, not(gelu_model)))]
    pub(super) fn fruitless(&self) -> u32 {
        self.fruitless
    }

    /// Notes that a kernel came while the thread slept. If the kernel came within the spin time, spinning would
    /// have been right.
    pub(super) fn slept(&mut self) {
        /// The largest number that is counted: it divides the spin time by 256, which leaves almost nothing.
        const MOST: u32 = 4;
        let came_soon = self.wait.time() <= spin_time();
        self.next = if came_soon { 0 } else { (self.fruitless + 1).min(MOST) };
    }
}
