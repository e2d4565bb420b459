//! Subnormal numbers, below 2⁻¹²⁶ in size: x86 processors multiply them by microcode, some hundred times
//! more slowly than others, and each number of a matrix goes into as many products as the other matrix
//! has columns. Where a ReLU and its gradient are 0, those of smooth activations run through all sizes:
//! with a few subnormal numbers in a thousand, a network takes several times as long.

use crate::level::{Level, Work};
use std::borrow::Cow;
use std::vec::Vec;

/// The numbers with 0 in place of what is subnormal; a copy only if there are any.
pub(crate) fn without_subnormals(numbers: &[f32]) -> Cow<'_, [f32]> {
    let level = Level::best();
    if level.run(Any(numbers)) {
        Cow::Owned(level.run(Replaced(numbers)))
    } else {
        Cow::Borrowed(numbers)
    }
}

/// Whether the number is subnormal, by its bits: comparing it would cost what this is to save.
#[inline(always)]
fn is_subnormal(number: f32) -> bool {
    const MAGNITUDE: u32 = u32::MAX >> 1;
    const FIRST_NORMAL: u32 = f32::MIN_POSITIVE.to_bits();
    // 0 becomes the largest of all.
    (number.to_bits() & MAGNITUDE).wrapping_sub(1) < FIRST_NORMAL - 1
}

/// The number, or 0 for one that is subnormal.
#[inline(always)]
pub(crate) fn unless_subnormal(number: f32) -> f32 {
    if is_subnormal(number) { 0.0 } else { number }
}

/// Whether any of the numbers is subnormal.
struct Any<'a>(&'a [f32]);

impl Work for Any<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        /// Looked at as a whole, so that the loop has no branch.
        const BLOCK: usize = 4096;
        let any = |block: &[f32]| block.iter().fold(false, |any, &x| any | is_subnormal(x));
        self.0.chunks(BLOCK).any(any)
    }
}

/// The numbers with 0 in place of what is subnormal.
struct Replaced<'a>(&'a [f32]);

impl Work for Replaced<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Vec<f32> {
        self.0.iter().map(|&x| unless_subnormal(x)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn subnormal_numbers_alone_become_0() {
        let least = f32::MIN_POSITIVE;
        let kept = [0.0, -0.0, least, -least, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let lost = [f32::from_bits(1), -f32::from_bits(1), least.next_down(), -least.next_down()];
        for number in kept {
            assert!(!number.is_subnormal() && !is_subnormal(number), "{number:e}");
        }
        for number in lost {
            assert!(number.is_subnormal() && is_subnormal(number), "{number:e}");
        }
        for level in Level::available() {
            let numbers: Vec<f32> = kept.into_iter().chain(lost).cycle().take(10_001).collect();
            let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let expected: Vec<f32> =
                numbers.iter().map(|&x| if x.is_subnormal() { 0.0 } else { x }).collect();
            assert_eq!(bits(&level.run(Replaced(&numbers))), bits(&expected), "{level:?}");
        }
    }

    #[test]
    fn one_subnormal_number_is_found_wherever_it_is_and_nothing_copied_without() {
        for length in [1, 31, 4096, 4097, 10_000] {
            let mut numbers = vec![0.5; length];
            assert!(matches!(without_subnormals(&numbers), Cow::Borrowed(_)), "{length}");
            for place in [0, length / 2, length - 1] {
                numbers[place] = 1e-40;
                for level in Level::available() {
                    assert!(level.run(Any(&numbers)), "{level:?}: {place} of {length}");
                }
                assert_eq!(without_subnormals(&numbers)[place], 0.0);
                numbers[place] = 0.5;
            }
        }
    }
}
