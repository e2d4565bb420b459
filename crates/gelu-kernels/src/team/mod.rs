//! Threads that spin between two kernels.
//!
//! A training step is a sequence of kernels of some ten microseconds each. Rayon's threads sleep as soon as they
//! find no work, and waking them takes longer than such a kernel. The helpers of this module spin for a while, so
//! that they can begin the next kernel at once. There are at most seven helpers. Each starts when a kernel first
//! needs it, that is, in a Rayon pool of enough threads. The module [`protocol`] describes how helpers receive
//! work, and why that is correct.

#[cfg(all(test, gelu_model))]
mod model;
mod protocol;
mod spin;
mod wait;

pub use spin::set_spin_time;

use protocol::Protocol;
use spin::{Spin, spin_time};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{LazyLock, OnceLock};
use std::thread::{self, Thread};

/// The largest number of helpers that kernels this small can use, in addition to the calling thread.
const HELPERS: usize = 7;
/// The number of operations, summed over kernels too small to wake a thread, after which helpers are woken all the
/// same. Such a sum means that small kernels follow each other.
const WORTH_WAKING: usize = 1 << 24;

static TEAM: LazyLock<Team> = LazyLock::new(|| Team {
    protocol: Protocol::new(),
    helpers: [const { OnceLock::new() }; HELPERS],
    missed: AtomicUsize::new(0),
});

/// Runs `work(index)` for every index below `count` on at most `threads` threads. Returns `false` without running
/// anything if the helpers are busy with another kernel, or if there are no helpers.
///
/// # Panics
///
/// If `work` panics. The panic continues on the calling thread when no helper runs `work` any more.
pub(crate) fn each(count: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) -> bool {
    let team = &*TEAM;
    let helpers = team.start(threads);
    helpers > 0 && team.protocol.run(count, helpers, |helper| team.wake(helper), work)
}

/// Returns whether one of `threads` threads could begin a kernel of this many operations at once. If all helpers
/// sleep, this function adds `operations` to a count and wakes them when it is high enough.
pub(crate) fn is_active(threads: usize, operations: usize) -> bool {
    if spin_time().is_zero() {
        return false;
    }
    let team = &*TEAM;
    let helpers = team.start(threads);
    let is_active = (0..helpers).any(|helper| !team.protocol.sleeps(helper));
    if !is_active && team.missed.fetch_add(operations, Relaxed) >= WORTH_WAKING {
        team.missed.store(0, Relaxed);
        (0..helpers).for_each(|helper| team.wake(helper));
    }
    is_active
}

struct Team {
    protocol: Protocol,
    /// The helpers that were started, up to the first one that the system failed to start.
    helpers: [OnceLock<Option<Thread>>; HELPERS],
    /// Operations since all helpers slept.
    missed: AtomicUsize,
}

impl Team {
    /// Starts the helpers that `threads` threads need, and returns the number of helpers.
    fn start(&'static self, threads: usize) -> usize {
        let start = |index: usize| {
            let name = std::format!("gelu-kernels-{index}");
            let handle = thread::Builder::new().name(name).spawn(move || self.serve(index));
            handle.ok().map(|handle| handle.thread().clone())
        };
        let wanted = threads.saturating_sub(1).min(HELPERS);
        let is_there = |index: &usize| self.helpers[*index].get_or_init(|| start(*index)).is_some();
        (0..wanted).take_while(is_there).count()
    }

    fn wake(&self, helper: usize) {
        if let Some(Some(thread)) = self.helpers[helper].get() {
            thread.unpark();
        }
    }

    /// Runs a helper. It never returns.
    fn serve(&self, helper: usize) {
        let (mut seen, mut spin) = (0, Spin::new());
        loop {
            if self.protocol.help(helper, &mut seen) {
                spin.again();
            } else if spin.is_over() {
                self.protocol.sleep(helper, seen);
                if self.protocol.has_posted(seen) {
                    spin.slept();
                } else {
                    spin = Spin::new();
                }
            }
        }
    }
}

#[cfg(all(test, not(gelu_model)))]
mod tests;
