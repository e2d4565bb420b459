//! Checks of lengths, made before any work. Every message says which argument is wrong, what it is, and
//! what was expected.

use core::fmt::Arguments;

/// # Panics
///
/// If an argument does not have as many numbers as expected.
#[inline]
#[track_caller]
pub fn expect_length(argument: &str, found: usize, expected: usize, why: Arguments<'_>) {
    assert!(found == expected, "`{argument}` has {found} numbers, expected {expected}: {why}");
}

/// # Panics
///
/// If an argument is not a whole number of rows of so many numbers.
#[inline]
#[track_caller]
pub fn expect_rows(argument: &str, found: usize, row: usize, why: Arguments<'_>) {
    assert!(
        found.is_multiple_of(row),
        "`{argument}` has {found} numbers, expected a multiple of {row}: {why}"
    );
}
