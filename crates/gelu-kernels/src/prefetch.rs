//! Prefetches the memory that a loop reads or writes one page later. The processor's own prefetching stops at
//! the end of a page.

/// Prefetches the `COUNT` numbers one page after `from`, for reading.
#[inline(always)]
pub fn to_read<const COUNT: usize, T>(from: *const T) {
    #[cfg(target_arch = "x86_64")]
    each_line::<COUNT, T>(from, |line| {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    });
    let _ = from;
}

/// Prefetches the `COUNT` numbers one page after `to`, for writing.
#[inline(always)]
pub fn to_write<const COUNT: usize, T>(to: *const T) {
    #[cfg(target_arch = "x86_64")]
    each_line::<COUNT, T>(to, |line| {
        use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: prefetching never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(line) };
    });
    let _ = to;
}

/// Calls `fetch` with the cache lines of the numbers one page later.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn each_line<const COUNT: usize, T>(numbers: *const T, fetch: impl Fn(*const i8)) {
    const PAGE: usize = 4096;
    const LINE: usize = 64;
    let mut within = 0;
    while within < COUNT * size_of::<T>() {
        fetch(numbers.cast::<i8>().wrapping_add(PAGE + within));
        within += LINE;
    }
}
