//! Model checks of the protocol, in every order of events that loom finds (`.ci/full models`).

use super::protocol::Protocol;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use std::vec::Vec;

/// Checks `body` in all orders of events with at most `preemptions` preemptions.
fn check(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(body);
}

/// One number per index. The checker fails if two threads write a number at once, or if a thread reads one
/// before a write to it has finished.
struct Places(Vec<UnsafeCell<usize>>);

// SAFETY: the checker detects unsynchronised accesses.
unsafe impl Sync for Places {}

impl Places {
    fn new(count: usize) -> Self {
        Self((0..count).map(|_| UnsafeCell::new(0)).collect())
    }

    fn add(&self, index: usize) {
        // SAFETY: the checker fails if another thread accesses the number.
        self.0[index].with_mut(|place| unsafe { *place += 1 });
    }

    /// Returns whether all numbers are `expected`. No job may be running.
    fn are(&self, expected: usize) -> bool {
        // SAFETY: as for `add`.
        self.0.iter().all(|place| place.with(|place| unsafe { *place }) == expected)
    }

    /// Runs a job that adds 1 to each number.
    fn run(&self, protocol: &Protocol, helpers: &[JoinHandle<()>]) -> bool {
        let wake = |helper: usize| helpers[helper].thread().unpark();
        protocol.run(self.0.len(), helpers.len(), wake, &|index| self.add(index))
    }
}

/// Spawns a helper that takes part in `jobs` jobs, or finds them finished, and sleeps in between.
fn helper(protocol: &Arc<Protocol>, index: usize, jobs: usize) -> JoinHandle<()> {
    let protocol = Arc::clone(protocol);
    thread::spawn(move || {
        let mut seen = 0;
        while seen < jobs {
            if !protocol.help(index, &mut seen) {
                protocol.sleep(index, seen);
            }
        }
    })
}

#[test]
fn a_job_is_done_once_and_no_helper_sleeps_through_it() {
    check(3, || {
        let protocol = Arc::new(Protocol::new());
        let helpers = [helper(&protocol, 0, 1)];
        let places = Places::new(2);
        assert!(places.run(&protocol, &helpers) && places.are(1));
        // Joining would block forever if the helper slept through the job.
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
    });
}

#[test]
fn a_helper_that_is_late_takes_no_job_for_another() {
    check(3, || {
        let protocol = Arc::new(Protocol::new());
        let helpers = [helper(&protocol, 0, 2)];
        let places = Places::new(1);
        assert!(places.run(&protocol, &helpers) && places.are(1));
        assert!(places.run(&protocol, &helpers) && places.are(2));
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
    });
}

#[test]
fn two_helpers_share_a_job() {
    check(1, || {
        let protocol = Arc::new(Protocol::new());
        let helpers = [helper(&protocol, 0, 1), helper(&protocol, 1, 1)];
        let places = Places::new(2);
        assert!(places.run(&protocol, &helpers) && places.are(1));
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
    });
}

#[test]
fn of_two_that_ask_each_is_served_or_told_so() {
    check(3, || {
        let protocol = Arc::new(Protocol::new());
        let ask = |protocol: &Protocol| {
            let places = Places::new(1);
            let is_done = places.run(protocol, &[]);
            assert!(places.are(usize::from(is_done)));
        };
        let other = {
            let protocol = Arc::clone(&protocol);
            thread::spawn(move || ask(&protocol))
        };
        ask(&protocol);
        other.join().unwrap();
        // The protocol is free again because no thread asks any more.
        assert!(protocol.run(0, 0, |_| (), &|_| ()));
    });
}
