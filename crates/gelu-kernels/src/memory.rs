/// Makes this process keep the memory that it frees, for later allocations. Returns whether the setting took
/// effect.
///
/// A training step allocates the same tensors as the step before. By default glibc returns large ones to the
/// system as soon as they are freed, and the system clears every page of the next ones, which takes a sixth
/// of a CNN's step. Call this function before training begins: it tells glibc never to return memory, so the
/// process holds its peak memory until it ends. The function does nothing on other systems, or if a
/// `MALLOC_…_` or `GLIBC_TUNABLES` environment variable already configures glibc.
pub fn keep_memory() -> bool {
    let said = |(name, _): (std::ffi::OsString, std::ffi::OsString)| {
        let name = name.to_string_lossy();
        name == "GLIBC_TUNABLES" || name.starts_with("MALLOC_") && name.ends_with('_')
    };
    !std::env::vars_os().any(said) && glibc::keep()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use core::ffi::c_int;

    // The values are from glibc's malloc.h.
    const TRIM_THRESHOLD: c_int = -1;
    const TOP_PAD: c_int = -2;
    const MMAP_MAX: c_int = -4;

    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    pub(super) fn keep() -> bool {
        /// The size of the arenas that threads other than the first allocate from, so that an empty arena is
        /// kept, too.
        const AREA: c_int = 64 << 20;
        // With these settings glibc maps nothing separately, so it unmaps nothing, and it never returns the
        // end of the heap.
        [(MMAP_MAX, 0), (TRIM_THRESHOLD, -1), (TOP_PAD, AREA)].iter().all(|&(parameter, value)| {
            // SAFETY: the function takes plain numbers, and glibc allows this call while other threads
            // allocate.
            unsafe { mallopt(parameter, value) == 1 }
        })
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod glibc {
    pub(super) fn keep() -> bool {
        false
    }
}
