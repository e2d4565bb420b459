//! Threads that are awake while one kernel follows another.
//!
//! A step of training is a row of kernels of some ten microseconds each. Rayon's threads sleep as soon as they
//! find nothing to do, and to be woken takes them longer than that. These look out for the next kernel a while
//! longer. They are as many as Rayon's threads but for the one that calls, up to seven, and are started by the first
//! kernel that is worth them.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use std::vec::Vec;

/// How long a thread looks out for work before it sleeps.
const PATIENCE: Duration = Duration::from_micros(300);
/// How long it does so without giving way to others that want its core.
const HOLD: Duration = Duration::from_micros(50);
/// Threads that kernels so small have use for, with the one that calls.
const MOST: usize = 8;
/// Operations in kernels too small to wake anybody, after which somebody is woken all the same: they follow each
/// other.
const WORTH_WAKING: usize = 1 << 24;

/// Calls `work` with each of `0..count`, on up to so many threads; whether it did, which it does not while it
/// works for somebody else, or if it was started by who had fewer.
///
/// # Panics
///
/// If `work` does, when no thread works on it any more.
pub(crate) fn each(count: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) -> bool {
    let team = Team::of_this_process();
    team.helpers(threads).is_some_and(|helpers| team.each(count, helpers, work))
}

/// Whether any of its threads would begin at once with a kernel of so many operations. If all sleep, those
/// that were not worth waking them add up.
pub(crate) fn is_awake(threads: usize, operations: usize) -> bool {
    let team = Team::of_this_process();
    let Some(helpers) = team.helpers(threads) else { return false };
    let awake = helpers.iter().any(|helper| !helper.sleeps.load(SeqCst));
    if !awake && team.missed.fetch_add(operations, SeqCst) >= WORTH_WAKING {
        team.wake(helpers);
    }
    awake
}

struct Team {
    helpers: Vec<Helper>,
    /// Whether it works for somebody.
    taken: AtomicBool,
    job: AtomicPtr<Job<'static>>,
    /// How many jobs there were.
    jobs: AtomicUsize,
    /// How many helpers may be at the job.
    inside: AtomicUsize,
    /// Operations since all slept.
    missed: AtomicUsize,
}

struct Helper {
    thread: Thread,
    sleeps: AtomicBool,
}

struct Job<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    count: usize,
    /// The next number of each thread's share: of who asked, then of the helpers. Others stay out of it.
    next: Vec<AtomicUsize>,
    panic: Mutex<Option<std::boxed::Box<dyn Any + Send>>>,
}

impl Job<'_> {
    fn share(&self, thread: usize) -> Range<usize> {
        let [start, end] = [thread, thread + 1].map(|n| n * self.count / self.next.len());
        start..end
    }

    /// Does a thread's share, so that what follows finds its numbers in its own caches, and then what nobody
    /// else has begun.
    fn take_part(&self, thread: usize) {
        let part = AssertUnwindSafe(|| {
            for thread in (thread..self.next.len()).chain(0..thread) {
                let end = self.share(thread).end;
                loop {
                    let index = self.next[thread].fetch_add(1, SeqCst);
                    if index >= end {
                        break;
                    }
                    (self.work)(index);
                }
            }
        });
        if let Err(panic) = catch_unwind(part) {
            self.next.iter().for_each(|next| next.store(self.count, SeqCst));
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        }
    }
}

impl Team {
    fn of_this_process() -> &'static Self {
        static TEAM: OnceLock<Team> = OnceLock::new();
        TEAM.get_or_init(|| {
            let start = |index: usize| {
                let name = std::format!("gelu-kernels-{index}");
                let helper =
                    thread::Builder::new().name(name).spawn(move || TEAM.wait().help(index));
                helper.map(|handle| Helper {
                    thread: handle.thread().clone(),
                    sleeps: AtomicBool::new(false),
                })
            };
            // As many as the system lets there be.
            let helpers = (1..rayon::current_num_threads().min(MOST)).map(|n| start(n - 1));
            Self {
                helpers: helpers.map_while(Result::ok).collect(),
                taken: AtomicBool::new(false),
                job: AtomicPtr::new(null_mut()),
                jobs: AtomicUsize::new(0),
                inside: AtomicUsize::new(0),
                missed: AtomicUsize::new(0),
            }
        })
    }

    /// Those beside who has so many threads, if it has as many.
    fn helpers(&self, threads: usize) -> Option<&[Helper]> {
        self.helpers.get(..threads.min(MOST).saturating_sub(1))
    }

    fn wake(&self, helpers: &[Helper]) {
        self.missed.store(0, SeqCst);
        for helper in helpers.iter().filter(|helper| helper.sleeps.load(SeqCst)) {
            helper.thread.unpark();
        }
    }

    fn each(&self, count: usize, helpers: &[Helper], work: &(dyn Fn(usize) + Sync)) -> bool {
        if helpers.is_empty() || self.taken.swap(true, SeqCst) {
            return false;
        }
        let mut job = Job { work, count, next: Vec::new(), panic: Mutex::new(None) };
        job.next.resize_with(helpers.len() + 1, AtomicUsize::default);
        for thread in 0..=helpers.len() {
            *job.next[thread].get_mut() = job.share(thread).start;
        }
        // SAFETY: only the lifetime is another; who sees the pointer is inside, and this thread waits below
        // until nobody is.
        let place: *const Job<'static> = unsafe { std::mem::transmute(&raw const job) };
        self.job.store(place.cast_mut(), SeqCst);
        self.jobs.fetch_add(1, SeqCst);
        self.wake(helpers);
        job.take_part(0);
        self.job.store(null_mut(), SeqCst);
        let mut wait = Wait::new();
        while self.inside.load(SeqCst) > 0 {
            wait.pause();
        }
        self.taken.store(false, SeqCst);
        let panic = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        true
    }

    /// What a helper does as long as the process lives.
    fn help(&self, index: usize) {
        let (mut seen, mut wait) = (0, Wait::new());
        loop {
            let jobs = self.jobs.load(SeqCst);
            if jobs == seen {
                if wait.pause() >= PATIENCE {
                    self.sleep(index, seen);
                    wait = Wait::new();
                }
                continue;
            }
            seen = jobs;
            self.inside.fetch_add(1, SeqCst);
            // SAFETY: it is there as long as this thread is inside: who made it has not yet taken it away, or the
            // pointer is null.
            let job = unsafe { self.job.load(SeqCst).as_ref() };
            if let Some(job) = job.filter(|job| index + 1 < job.next.len()) {
                job.take_part(index + 1);
            }
            self.inside.fetch_sub(1, SeqCst);
            wait = Wait::new();
        }
    }

    fn sleep(&self, index: usize, seen: usize) {
        let sleeps = &self.helpers[index].sleeps;
        sleeps.store(true, SeqCst);
        // Who makes a job after this has seen that it sleeps, and wakes it even if it does not sleep yet.
        if self.jobs.load(SeqCst) == seen {
            thread::park();
        }
        sleeps.store(false, SeqCst);
    }
}

/// Waiting awake, for less and less of its core.
struct Wait(Instant);

impl Wait {
    fn new() -> Self {
        Self(Instant::now())
    }

    /// Waits a moment; how long it has waited.
    fn pause(&mut self) -> Duration {
        let waited = self.0.elapsed();
        if waited > HOLD {
            thread::yield_now();
        } else {
            (0..16).for_each(|_| std::hint::spin_loop());
        }
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each number came, in many rounds.
    fn counts(rounds: usize, count: usize, pause: Duration) -> Vec<usize> {
        let came: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
        for _ in 0..rounds {
            let work = |index: usize| {
                came[index].fetch_add(1, SeqCst);
            };
            if !each(count, rayon::current_num_threads(), &work) {
                (0..count).for_each(work);
            }
            thread::sleep(pause);
        }
        came.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn each_number_comes_once_whoever_is_awake_or_taken() {
        assert_eq!(counts(20_000, 5, Duration::ZERO), [20_000; 5]);
        assert_eq!(counts(20, 3, 2 * PATIENCE), [20; 3]);
        assert_eq!(counts(9, 0, Duration::ZERO), [0; 0]);
        thread::scope(|scope| {
            for count in 1..5 {
                scope.spawn(move || {
                    assert_eq!(counts(5000, count, Duration::ZERO), vec![5000; count])
                });
            }
        });
    }

    #[test]
    fn work_within_work_is_done_too() {
        let inner = AtomicUsize::new(0);
        let within = |_| {
            let work = |_| {
                inner.fetch_add(1, SeqCst);
            };
            if !each(3, 8, &work) {
                (0..3).for_each(work);
            }
        };
        if !each(4, 8, &within) {
            (0..4).for_each(within);
        }
        assert_eq!(inner.into_inner(), 12);
    }

    #[test]
    fn a_panic_comes_to_who_asked_and_harms_nobody_after() {
        for _ in 0..100 {
            let refused = catch_unwind(|| {
                let work = |index: usize| assert!(index < 6, "seven is too many");
                each(8, rayon::current_num_threads(), &work) || {
                    (0..8).for_each(work);
                    true
                }
            });
            let said = refused.unwrap_err();
            let said = said.downcast_ref::<&str>().expect("the panic's own words");
            assert_eq!(*said, "seven is too many");
        }
        assert_eq!(counts(100, 4, Duration::ZERO), [100; 4]);
    }
}
