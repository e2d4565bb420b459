use super::*;
use std::panic::catch_unwind;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use std::vec;
use std::vec::Vec;

/// Returns how often each index was run over many rounds.
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
fn each_index_comes_once_whichever_threads_spin_sleep_or_are_busy() {
    assert_eq!(counts(20_000, 5, Duration::ZERO), [20_000; 5]);
    assert_eq!(counts(20, 3, 2 * spin_time()), [20; 3]);
    assert_eq!(counts(9, 0, Duration::ZERO), [0; 0]);
    thread::scope(|scope| {
        for count in 1..5 {
            scope.spawn(move || assert_eq!(counts(5000, count, Duration::ZERO), vec![5000; count]));
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

/// Runs work on `threads` threads, and tries again while the helpers are busy with another test. Returns whether the
/// work was done at all.
fn is_done_on(threads: usize) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        if each(3, threads, &|_| ()) {
            return true;
        }
        thread::yield_now();
    }
    false
}

#[test]
fn a_caller_with_more_threads_than_the_first_has_them() {
    assert!(is_done_on(2) && is_done_on(HELPERS + 1) && is_done_on(100));
    assert_eq!((TEAM.start(2), TEAM.start(HELPERS + 1), TEAM.start(100)), (1, HELPERS, HELPERS));
    assert!(!each(3, 1, &|_| panic!("there is no thread beside this one")));
}

#[test]
fn a_thread_that_spun_for_nothing_spins_for_less_until_it_is_of_use() {
    let mut spin = Spin::new();
    for expected in [1, 2, 3, 4, 4] {
        thread::sleep(2 * spin_time());
        spin.slept();
        spin.again();
        assert_eq!(spin.fruitless(), expected);
    }
    // This kernel comes while the thread spins.
    spin.again();
    assert_eq!(spin.fruitless(), 0);
}

#[test]
fn a_spin_time_is_a_number_of_microseconds_or_refused() {
    assert_eq!(["", "0", "25"].map(spin::parsed), [300, 0, 25]);
    let refused = catch_unwind(|| spin::parsed("0.3ms")).unwrap_err();
    let said = refused.downcast_ref::<std::string::String>().expect("a sentence");
    assert!(said.starts_with("GELU_SPIN_TIME=0.3ms is not a number of microseconds"), "{said}");
}
