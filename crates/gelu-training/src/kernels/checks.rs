//! Checks of sizes before any work. Every message says which argument is wrong, what it is, and what was
//! expected.

pub(crate) use gelu_kernels::checks::{expect_length, expect_rows};

/// The largest product of an argument's sizes. The loops compute offsets in panels, frames and tiles from these
/// sizes, which are at most about ten times as large, so they cannot overflow.
const MOST: usize = isize::MAX as usize / 64;

/// Checks that sizes are positive.
///
/// # Panics
///
/// If one of the sizes is 0.
#[track_caller]
pub(crate) fn expect_positive(argument: &str, sizes: &[usize]) {
    assert!(!sizes.contains(&0), "`{argument}` is {sizes:?}, expected at least 1");
}

/// Checks that ε is a finite number that is not negative.
///
/// # Panics
///
/// If ε is negative or not finite.
#[track_caller]
pub(crate) fn expect_epsilon(epsilon: f64) {
    let is_right = epsilon >= 0.0 && epsilon.is_finite();
    assert!(is_right, "`epsilon` is {epsilon}, expected a finite number that is not negative");
}

/// Returns the product of sizes.
///
/// # Panics
///
/// If the product of all sizes that are not 0 is more than [`MOST`].
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
