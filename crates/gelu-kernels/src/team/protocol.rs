//! The protocol that hands a job to helper threads and waits for its end.
//!
//! The *asking thread* posts a job, which is on its own stack. *Helpers* do part of the job. They share this state:
//!
//! | | | written by |
//! |---|---|---|
//! | `taken` | a thread is asking | the asking thread |
//! | `job` | a pointer to the job, or null | the asking thread |
//! | `jobs` | the number of jobs so far | the asking thread |
//! | `inside` | the number of helpers that may hold a pointer to a job | helpers |
//! | `sleeping[i]` | helper i is parked, or about to park | helper i |
//! | `next[t]` of a job | the first index of share t that no thread has begun | both |
//!
//! The protocol has the following properties. "F" is a sequentially consistent fence; all threads agree which of two
//! fences comes first.
//!
//! 1. **There is one job at a time.** Only the thread whose `compare_exchange` changed `taken` from false to true posts
//!    a job. It sets `taken` back to false at the very end.
//! 2. **Every index is done once.** An index of a share belongs to the thread whose `fetch_add` on `next` returned the
//!    index. The asking thread goes through all shares, so the result does not depend on whether a helper comes.
//! 3. **No helper holds a job that has ended.** A helper does `inside += 1`, F, reads `job`, works, and does
//!    `inside -= 1`. The asking thread does `job = null`, F, and waits until `inside` is 0. If the helper's F comes
//!    first, the asking thread sees the helper inside and waits. Otherwise the helper reads null, or a later job, whose
//!    asking thread waits for the helper likewise.
//! 4. **The asking thread sees all completed work.** It reads 0 from `inside` (acquire) where the last helper left the
//!    0 (release). All changes of `inside` are read-modify-write operations, so the asking thread also sees the work of
//!    helpers that left earlier. A helper sees the job because it reads `job` (acquire) as posted (release).
//! 5. **No helper sleeps through a job.** A helper does `sleeping = true`, F, reads `jobs`, and parks if `jobs` is the
//!    number that it knows. The asking thread does `jobs += 1`, F, and wakes all helpers that are `sleeping`. If the
//!    helper's F comes first, the asking thread wakes the helper; a wake-up before the parking makes the parking return
//!    at once. Otherwise the helper sees the job. (A helper that missed a job would cost time, but by 2. no result.)
//! 6. **A panic ends a job early and continues on the asking thread** when no helper is inside any more. The panicking
//!    thread empties all shares.
//!
//! `model.rs` makes a checker go through the possible orders of these events.

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

/// The state that the asking thread and the helpers share.
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
    /// The first index of each share that no thread has begun. Share 0 belongs to the asking thread, the others to
    /// helpers.
    next: Vec<AtomicUsize>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Lets the checker detect a use of the job after its end.
    #[cfg(all(test, gelu_model))]
    life: loom::cell::UnsafeCell<()>,
}

/// Returns the indices of share `index` out of `of` shares.
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

    /// Runs the thread's own share first, so that a later job finds its numbers in the same thread's caches. Then runs
    /// the indices of other shares that no thread has begun.
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

    /// Returns whether a helper is parked, or about to park.
    pub(super) fn sleeps(&self, helper: usize) -> bool {
        self.sleeping[helper].load(Relaxed)
    }

    /// Runs `work(index)` for every index below `count` on this thread and on the first `helpers` helpers; `wake` has
    /// to unpark a helper. Returns `false` without running anything if another thread is asking.
    ///
    /// # Panics
    ///
    /// If `work` panics. The panic continues on the calling thread when no helper runs `work` any more.
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
        // SAFETY: the cast only changes the lifetime. A thread that reads the pointer is inside, and this thread waits
        // below until no thread is inside (3.).
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

    /// Returns whether a job was posted since `seen`.
    pub(super) fn has_posted(&self, seen: usize) -> bool {
        self.jobs.load(Acquire) != seen
    }

    /// Takes part in the job if one was posted since `seen`, and returns whether one was.
    pub(super) fn help(&self, helper: usize, seen: &mut usize) -> bool {
        let jobs = self.jobs.load(Acquire);
        if jobs == *seen {
            return false;
        }
        *seen = jobs;
        self.inside.fetch_add(1, AcqRel);
        fence(SeqCst);
        // SAFETY: the job exists as long as this thread is inside (3.).
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

    /// Parks a helper until it is woken, unless a job was posted since `seen`.
    pub(super) fn sleep(&self, helper: usize, seen: usize) {
        self.sleeping[helper].store(true, Relaxed);
        fence(SeqCst);
        if !self.has_posted(seen) {
            park();
        }
        self.sleeping[helper].store(false, Relaxed);
    }
}
