//! How a job is handed to threads, and taken back.
//!
//! A thread that *asks* posts a job, which lies on its own stack; *helpers* do some of it. State that they share:
//!
//! | | | written by |
//! |---|---|---|
//! | `taken` | a thread asks | who asks |
//! | `job` | where its job is, or null | who asks |
//! | `jobs` | how many jobs there were | who asks |
//! | `inside` | helpers that may hold a pointer to a job | helpers |
//! | `sleeping[i]` | helper i is parked, or about to park | helper i |
//! | `next[t]` of a job | the first index of share t that nobody has begun | both |
//!
//! What holds, and why. "F" is a sequentially consistent fence; of two fences, one comes first for all threads.
//!
//! 1. **There is one job at a time.** Only the thread whose `compare_exchange` turned `taken` from false to true posts, and it
//!    turns it back when all else is done.
//! 2. **Every index is done once.** An index of a share belongs to the thread whose `fetch_add` on `next` gave it.
//!    All shares are gone through by who asks, so that nothing depends on whether a helper comes.
//! 3. **No helper holds a job that is gone.** A helper: `inside += 1`, F, reads `job`, works, `inside -= 1`. Who
//!    asks: `job = null`, F, waits until `inside` is 0. If the helper's F is first, who asks sees it inside and
//!    waits. Else the helper reads null, or a later job, whose poster waits for it likewise.
//! 4. **Who asks sees all that was done.** It reads 0 from `inside` (acquire) where the last helper left it
//!    (release); all that changes `inside` reads and writes it at once, so that helpers that left before are seen,
//!    too. A helper sees the job, since it reads `job` (acquire) as posted (release).
//! 5. **No helper sleeps through a job.** A helper: `sleeping = true`, F, reads `jobs`, parks if it is the number it
//!    knows. Who asks: `jobs += 1`, F, wakes all that are `sleeping`. If the helper's F is first, it is woken, and a
//!    wake before the parking ends that at once. Else it sees the job. (A helper that missed a job would cost time,
//!    by 2. no result.)
//! 6. **A panic ends a job early and comes to who asked,** when no helper is inside any more: it empties all shares.
//!
//! `model.rs` has a checker go through the orders in which this can happen.

#[cfg(all(test, gelu_model))]
use loom::{
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence},
    thread::park,
};
#[cfg(not(all(test, gelu_model)))]
use std::{
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence},
    thread::park,
};

use super::HELPERS;
use super::wait::Wait;
use std::any::Any;
use std::boxed::Box;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::{Mutex, PoisonError};
use std::vec::Vec;

/// What who asks and helpers share.
pub(super) struct Protocol {
    taken: AtomicBool,
    job: AtomicPtr<Job<'static>>,
    jobs: AtomicUsize,
    inside: AtomicUsize,
    sleeping: [AtomicBool; HELPERS],
}

struct Job<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    count: usize,
    /// Share 0 is of who asks, the others are of helpers.
    next: Vec<AtomicUsize>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Lets the checker see whether a job is used when it is gone.
    #[cfg(all(test, gelu_model))]
    life: loom::cell::UnsafeCell<()>,
}

/// The indices of a share.
fn share(index: usize, of: usize, count: usize) -> Range<usize> {
    index * count / of..(index + 1) * count / of
}

impl<'a> Job<'a> {
    fn new(count: usize, shares: usize, work: &'a (dyn Fn(usize) + Sync)) -> Self {
        let start = |index| AtomicUsize::new(share(index, shares, count).start);
        Self {
            work,
            count,
            next: (0..shares).map(start).collect(),
            panic: Mutex::new(None),
            #[cfg(all(test, gelu_model))]
            life: loom::cell::UnsafeCell::new(()),
        }
    }

    /// Does a thread's share first, so that what follows finds its numbers in the thread's own caches, and then what
    /// nobody has begun.
    fn take_part(&self, thread: usize) {
        let part = AssertUnwindSafe(|| {
            for thread in (thread..self.next.len()).chain(0..thread) {
                let end = share(thread, self.next.len(), self.count).end;
                loop {
                    let index = self.next[thread].fetch_add(1, Relaxed);
                    if index >= end {
                        break;
                    }
                    (self.work)(index);
                }
            }
        });
        if let Err(panic) = catch_unwind(part) {
            self.next.iter().for_each(|next| next.store(self.count, Relaxed));
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        }
    }
}

impl Protocol {
    pub(super) fn new() -> Self {
        Self {
            taken: AtomicBool::new(false),
            job: AtomicPtr::new(null_mut()),
            jobs: AtomicUsize::new(0),
            inside: AtomicUsize::new(0),
            sleeping: std::array::from_fn(|_| AtomicBool::new(false)),
        }
    }

    /// Whether a helper is parked, or about to park.
    pub(super) fn sleeps(&self, helper: usize) -> bool {
        self.sleeping[helper].load(Relaxed)
    }

    /// Runs `work(index)` for every index below `count` on this thread and on the first `helpers`, of which `wake`
    /// unparks one. Returns `false` without running anything if another thread asks.
    ///
    /// # Panics
    ///
    /// If `work` does, when no helper works on it any more.
    pub(super) fn run(
        &self,
        count: usize,
        helpers: usize,
        wake: impl Fn(usize),
        work: &(dyn Fn(usize) + Sync),
    ) -> bool {
        if self.taken.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            return false;
        }
        let job = Job::new(count, helpers + 1, work);
        // SAFETY: only the lifetime is another. Who reads the pointer is inside, and this thread waits below until
        // nobody is (3.).
        let place: *const Job<'static> = unsafe { std::mem::transmute(&raw const job) };
        self.job.store(place.cast_mut(), Release);
        self.jobs.fetch_add(1, AcqRel);
        fence(SeqCst);
        (0..helpers).filter(|&helper| self.sleeps(helper)).for_each(wake);
        job.take_part(0);
        self.job.store(null_mut(), Release);
        fence(SeqCst);
        let mut wait = Wait::new();
        while self.inside.load(Acquire) > 0 {
            wait.pause();
        }
        #[cfg(all(test, gelu_model))]
        job.life.with_mut(|_| ());
        self.taken.store(false, Release);
        let panic = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        true
    }

    /// Whether there was a new job since `seen`.
    pub(super) fn has_posted(&self, seen: usize) -> bool {
        self.jobs.load(Acquire) != seen
    }

    /// Takes part in the job, if there was a new one since `seen`; whether there was.
    pub(super) fn help(&self, helper: usize, seen: &mut usize) -> bool {
        let jobs = self.jobs.load(Acquire);
        if jobs == *seen {
            return false;
        }
        *seen = jobs;
        self.inside.fetch_add(1, AcqRel);
        fence(SeqCst);
        // SAFETY: it is there as long as this thread is inside (3.).
        let job = unsafe { self.job.load(Acquire).as_ref() };
        if let Some(job) = job.filter(|job| helper + 1 < job.next.len()) {
            #[cfg(all(test, gelu_model))]
            job.life.with(|_| ());
            job.take_part(helper + 1);
            #[cfg(all(test, gelu_model))]
            job.life.with(|_| ());
        }
        self.inside.fetch_sub(1, AcqRel);
        true
    }

    /// Parks a helper until it is woken, unless there was a new job since `seen`.
    pub(super) fn sleep(&self, helper: usize, seen: usize) {
        self.sleeping[helper].store(true, Relaxed);
        fence(SeqCst);
        if !self.has_posted(seen) {
            park();
        }
        self.sleeping[helper].store(false, Relaxed);
    }
}
