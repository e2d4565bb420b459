//! Checks of lengths before any work. Every message says which argument is wrong, how long it is, and
//! which length was expected.

use core::fmt::Arguments;

/// Checks that an argument has the expected length.
///
/// # Panics
///
/// If `argument` does not have `expected` numbers.
#[inline]
#[track_caller]
pub fn expect_length(argument: &str, found: usize, expected: usize, why: Arguments<'_>) {
    assert!(found == expected, "`{argument}` has {found} numbers, expected {expected}: {why}");
}

/// Checks that an argument consists of whole rows of `row` numbers.
///
/// # Panics
///
/// If the argument's length is not a multiple of `row`.
#[inline]
#[track_caller]
pub fn expect_rows(argument: &str, found: usize, row: usize, why: Arguments<'_>) {
    assert!(
        found.is_multiple_of(row),
        "`{argument}` has {found} numbers, expected a multiple of {row}: {why}"
    );
}
