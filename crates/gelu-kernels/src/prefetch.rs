//! Prefetching what a loop reads or writes a page later: the processor's own prefetching stops at a page's end.

/// Prefetches the `COUNT` numbers a page behind `from`, to be read.
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

/// Prefetches the `COUNT` numbers a page behind `to`, to be written.
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

/// The lines of the caches that numbers a page later lie in.
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
