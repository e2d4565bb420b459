//! Threads that spin while one kernel follows another.
//!
//! A step of training is a row of kernels of some ten microseconds each. Rayon's threads sleep as soon as they
//! find nothing to do, and to wake them takes longer than that. These look out for the next kernel a while longer.
//! There are at most seven of them. Each is started when a kernel first has a use for it: that is in a Rayon pool
//! of so many threads. How they are handed their work, and why that is right, is said in [`protocol`].

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

/// Threads that kernels so small have use for, beside the one that asks.
const HELPERS: usize = 7;
/// Operations in kernels too small to wake a thread, after which one is woken all the same: they follow each other.
const WORTH_WAKING: usize = 1 << 24;

static TEAM: LazyLock<Team> = LazyLock::new(|| Team {
    protocol: Protocol::new(),
    helpers: [const { OnceLock::new() }; HELPERS],
    missed: AtomicUsize::new(0),
});

/// Runs `work(index)` for every index below `count` on at most so many threads. Returns `false` without running
/// anything if the threads work for another kernel, or there is none beside this one.
///
/// # Panics
///
/// If `work` does, when no thread works on it any more.
pub(crate) fn each(count: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) -> bool {
    let team = &*TEAM;
    let helpers = team.start(threads);
    helpers > 0 && team.protocol.run(count, helpers, |helper| team.wake(helper), work)
}

/// Whether one of so many threads would begin at once with a kernel of so many operations. If all sleep, the
/// operations that were not worth waking them add up.
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
    /// Those that were started, up to the first that the system did not let be.
    helpers: [OnceLock<Option<Thread>>; HELPERS],
    /// Operations since all slept.
    missed: AtomicUsize,
}

impl Team {
    /// How many helpers there are for so many threads.
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

    /// What a helper does as long as the process lives.
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
