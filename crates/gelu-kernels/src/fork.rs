//! Whether this process was forked from one that had used threads.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// Asked before threads are used, as the system is told then to say so. A fork before that is no matter to the
/// threads of this crate, which start afterwards.
pub(crate) fn is_forked() -> bool {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        #[cfg(unix)]
        watch();
    });
    IS_FORKED.load(Relaxed)
}

/// In the child of a fork, sets the flag.
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

    // Without memory for the handler it is as it would be without this module.
    // SAFETY: the function has the signature of POSIX's, and what it is given stores to a static.
    let _ = unsafe { pthread_atfork(None, None, Some(child)) };
}
