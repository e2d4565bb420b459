//! A forked process has none of its parent's threads, and has to compute all the same.

#![cfg(unix)]
#![allow(unsafe_code, reason = "functions of the C library")]

use gelu_kernels::{Unit, forward};
use std::ffi::c_int;
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// `WNOHANG`: returns at once if the child has not ended. The value is the same on Linux, the BSDs and
/// macOS.
const NO_WAIT: c_int = 1;
const KILL: c_int = 9;

/// Runs `work` in a child of this process, and returns the child's exit status if it ends within a
/// minute. The status is 0 if `work` returns true.
fn child(work: impl Fn() -> bool) -> Option<c_int> {
    // SAFETY: the child only calls `work`, which needs no thread and no lock that other threads held.
    let process = unsafe { fork() };
    if process == 0 {
        let is_right = work();
        // SAFETY: the child has nothing of its parent's to clean up.
        unsafe { _exit(c_int::from(!is_right)) };
    }
    let begin = Instant::now();
    let mut status = 0;
    while begin.elapsed() < Duration::from_secs(60) {
        // SAFETY: the process is our child, and `status` is a valid variable.
        if unsafe { waitpid(process, &mut status, NO_WAIT) } == process {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: as above.
    unsafe {
        kill(process, KILL);
        waitpid(process, &mut status, 0);
    }
    None
}

#[test]
fn a_forked_child_computes() {
    // The lengths are for one thread, for threads that spin, and for Rayon's threads.
    for length in [1_000, 70_000, 5_000_000] {
        let x = vec![0.5f32; length];
        let mut expected = vec![0.0; length];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
        let pool = pool.expect("the system gives a few threads");
        (0..20).for_each(|_| forward(Unit::Gelu, &x, &mut expected));
        pool.install(|| forward(Unit::Gelu, &x, &mut expected));
        let ended = child(|| {
            let mut found = vec![0.0; length];
            forward(Unit::Gelu, &x, &mut found);
            found == expected
        });
        assert_eq!(ended, Some(0), "{length} numbers: none is a child that hangs");
    }
}
