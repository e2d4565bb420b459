//! Checks of sizes and lengths, made before any work. Every message says which argument is wrong, what it is, and
//! what was expected.

use core::fmt::Arguments;

/// The most numbers that the sizes of an argument may come to. What the loops compute from such sizes (places in
/// panels, frames and tiles) is at most some ten times as large, so that nothing below wraps.
#[cfg(all(feature = "loops", feature = "std"))]
pub(crate) const MOST: usize = isize::MAX as usize / 64;

/// # Panics
///
/// If an argument does not have as many numbers as expected.
#[inline]
#[track_caller]
pub(crate) fn expect_length(argument: &str, found: usize, expected: usize, why: Arguments<'_>) {
    assert!(found == expected, "`{argument}` has {found} numbers, expected {expected}: {why}");
}

/// # Panics
///
/// If an argument is not a whole number of rows of so many numbers.
#[cfg(feature = "loops")]
#[inline]
#[track_caller]
pub(crate) fn expect_rows(argument: &str, found: usize, row: usize, why: Arguments<'_>) {
    assert!(
        found.is_multiple_of(row),
        "`{argument}` has {found} numbers, expected a multiple of {row}: {why}"
    );
}

/// # Panics
///
/// If one of some sizes is 0.
#[cfg(feature = "gemm")]
#[track_caller]
pub(crate) fn expect_positive(argument: &str, sizes: &[usize]) {
    assert!(!sizes.contains(&0), "`{argument}` is {sizes:?}, expected at least 1");
}

/// # Panics
///
/// If ε is negative or not finite.
#[cfg(feature = "std")]
#[track_caller]
pub(crate) fn expect_epsilon(epsilon: f64) {
    let is_right = epsilon >= 0.0 && epsilon.is_finite();
    assert!(is_right, "`epsilon` is {epsilon}, expected a finite number that is not negative");
}

/// The product of sizes.
///
/// # Panics
///
/// If that of all that are not 0 is more than [`MOST`].
#[cfg(all(feature = "loops", feature = "std"))]
#[track_caller]
pub(crate) fn product(argument: &str, sizes: &[usize]) -> usize {
    let others = sizes.iter().filter(|&&size| size > 0);
    let product = others.clone().try_fold(1usize, |product, &size| product.checked_mul(size));
    assert!(
        product.is_some_and(|product| product <= MOST),
        "`{argument}` of sizes {sizes:?} is larger than memory, expected at most {MOST} numbers"
    );
    sizes.iter().product()
}
