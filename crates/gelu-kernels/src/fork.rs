//! Detects whether this process was forked from one that had used threads.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// Returns whether this process was forked after the first call of this function. Call it before threads are
/// used, because the first call registers the handler that detects a fork. An earlier fork does not matter:
/// this crate's threads start afterwards.
pub(crate) fn is_forked() -> bool {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        #[cfg(unix)]
        watch();
    });
    IS_FORKED.load(Relaxed)
}

/// Registers a handler that sets the flag in the child of a fork.
#[cfg(unix)]
fn watch() {
    use core::ffi::c_int;

    unsafe extern "C" {
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> c_int;
    }

    extern "C" fn child() {
        IS_FORKED.store(true, Relaxed);
    }

    // If the system has no memory for the handler, forks stay undetected.
    // SAFETY: the declared signature is that of POSIX, and the handler only stores to a static.
    let _ = unsafe { pthread_atfork(None, None, Some(child)) };
}
