//! Memory for results that is not set to 0 before it is written.

use std::mem::MaybeUninit;

/// Returns an empty vector with room for `count` elements.
///
/// # Panics
///
/// If there is not enough memory. Plain vectors would abort the process.
#[track_caller]
pub(crate) fn with_room<T>(count: usize) -> Vec<T> {
    let mut numbers = Vec::new();
    if let Err(error) = numbers.try_reserve_exact(count) {
        panic!("there is no memory for a result of {count} numbers: {error}");
    }
    numbers
}

/// Returns `count` zeros.
///
/// # Panics
///
/// If there is not enough memory.
#[track_caller]
pub(crate) fn zeros(count: usize) -> Vec<f32> {
    /// The size below which the check for available memory is unnecessary.
    const LARGE: usize = 1 << 24;
    if count >= LARGE {
        drop(with_room::<f32>(count));
    }
    // The zeros come from this call, because the system has zeroed memory ready.
    vec![0.0; count]
}

/// Returns `count` numbers that `write` has written. With debug assertions, this function checks
/// that `write` has written all of them.
///
/// # Safety
///
/// `write` must write every number that it receives.
///
/// # Panics
///
/// If there is not enough memory.
pub(crate) unsafe fn written(
    count: usize,
    write: impl FnOnce(&mut [MaybeUninit<f32>]),
) -> Vec<f32> {
    /// The bits of a NaN that no arithmetic produces.
    const MARK: u32 = 0x7FC0_DEAD;
    let mut numbers = with_room(count);
    let place = &mut numbers.spare_capacity_mut()[..count];
    if cfg!(debug_assertions) {
        place.fill(MaybeUninit::new(f32::from_bits(MARK)));
    }
    write(place);
    // SAFETY: the caller guarantees that `write` has written all numbers.
    unsafe {
        numbers.set_len(count);
    }
    debug_assert!(numbers.iter().all(|number| number.to_bits() != MARK), "all were written");
    numbers
}
