/// Has this process keep memory that it frees, for what it allocates next: whether it will.
///
/// A step of training allocates the same tensors as the step before. By default glibc gives large ones
/// back to the system as soon as they are freed, and the system clears every page of the next: a sixth of
/// a CNN's step. Called before training begins, this tells glibc to ask for memory and never to return
/// any; the process keeps what it needed at its peak. It does nothing elsewhere, nor where the environment
/// says by `MALLOC_…_` or `GLIBC_TUNABLES` what glibc is to do.
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

    // From its malloc.h.
    const TRIM_THRESHOLD: c_int = -1;
    const TOP_PAD: c_int = -2;
    const MMAP_MAX: c_int = -4;

    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    pub(super) fn keep() -> bool {
        /// As large as the areas that threads other than the first allocate from: an empty one is kept, too.
        const AREA: c_int = 64 << 20;
        // Nothing mapped by itself, so that nothing is unmapped; no end of the heap returned.
        [(MMAP_MAX, 0), (TRIM_THRESHOLD, -1), (TOP_PAD, AREA)].iter().all(|&(parameter, value)| {
            // SAFETY: it takes plain numbers, and glibc lets itself change them while others allocate.
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
