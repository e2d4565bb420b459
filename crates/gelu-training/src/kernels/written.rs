//! Memory for results, which is not set to 0 before it is written.

use std::mem::MaybeUninit;

/// A vector without numbers yet, but room for so many.
///
/// # Panics
///
/// If there is no memory for them; plain vectors would end the process.
#[track_caller]
pub(crate) fn with_room<T>(count: usize) -> Vec<T> {
    let mut numbers = Vec::new();
    if let Err(error) = numbers.try_reserve_exact(count) {
        panic!("there is no memory for a result of {count} numbers: {error}");
    }
    numbers
}

/// Zeros.
///
/// # Panics
///
/// As [`with_room`].
#[track_caller]
pub(crate) fn zeros(count: usize) -> Vec<f32> {
    /// Below, memory is not what there is too little of.
    const LARGE: usize = 1 << 24;
    if count >= LARGE {
        drop(with_room::<f32>(count));
    }
    // From here, as the system has zeros ready.
    vec![0.0; count]
}

/// Numbers that `write` writes all of. With debug assertions it is checked that it does.
///
/// # Safety
///
/// `write` has to write every number that it is given.
///
/// # Panics
///
/// As [`with_room`].
pub(crate) unsafe fn written(
    count: usize,
    write: impl FnOnce(&mut [MaybeUninit<f32>]),
) -> Vec<f32> {
    /// A NaN that no arithmetic makes.
    const MARK: u32 = 0x7FC0_DEAD;
    let mut numbers = with_room(count);
    let place = &mut numbers.spare_capacity_mut()[..count];
    if cfg!(debug_assertions) {
        place.fill(MaybeUninit::new(f32::from_bits(MARK)));
    }
    write(place);
    // SAFETY: they have been written, as the caller promises.
    unsafe {
        numbers.set_len(count);
    }
    debug_assert!(numbers.iter().all(|number| number.to_bits() != MARK), "all were written");
    numbers
}
