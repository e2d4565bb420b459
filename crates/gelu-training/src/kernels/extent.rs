//! The range of magnitudes of numbers.

use gelu_kernels::threads::{self, Chunks, Threads};
use gelu_kernels::{Level, Work};

/// The magnitudes of the smallest and of the largest of some numbers, ignoring zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The bits of the smallest magnitude, minus 1, so that 0 wraps to the largest value.
    least: u32,
    /// The bits of the largest magnitude.
    greatest: u32,
}

impl Extent {
    /// The extent of no numbers, or of zeros.
    pub(crate) const NONE: Self = Self { least: u32::MAX, greatest: 0 };

    pub(crate) fn of(numbers: &[f32]) -> Self {
        /// The number of elements from which on another thread is worth waking.
        const PARALLEL: usize = 1 << 17;
        let level = Level::best();
        let threads = Threads::for_work(numbers.len(), PARALLEL);
        let chunks = Chunks::new(numbers.len(), 0);
        let extent = |index| level.run(Look(&numbers[chunks.range(index)]));
        threads::map(chunks.count(), threads, extent).into_iter().fold(Self::NONE, Self::with)
    }

    /// Returns the extent of a few numbers, in code compiled for the level of the caller.
    #[inline(always)]
    pub(crate) fn of_few(numbers: &[f32]) -> Self {
        const MAGNITUDE: u32 = u32::MAX >> 1;
        let (mut least, mut greatest) = (u32::MAX, 0);
        for number in numbers {
            let size = number.to_bits() & MAGNITUDE;
            least = least.min(size.wrapping_sub(1));
            greatest = greatest.max(size);
        }
        Self { least, greatest }
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
    }

    /// Returns the extent of sums and differences of up to four such numbers. Except for 0, none of these is
    /// smaller than the last bit of the smallest number.
    pub(crate) fn of_sums(self) -> Self {
        const BINARY: u32 = 1 << FRACTION;
        let least = match self.least {
            u32::MAX => u32::MAX,
            least => least.saturating_sub(FRACTION * BINARY),
        };
        Self { least, greatest: self.greatest.saturating_add(2 * BINARY) }
    }

    /// Returns whether any of the numbers is subnormal.
    pub(crate) fn has_subnormals(self) -> bool {
        self.least < f32::MIN_POSITIVE.to_bits() - 1
    }

    /// Returns whether any number other than 0 is so small that its product with another such number is
    /// subnormal.
    pub(crate) fn has_tiny(self) -> bool {
        self.least_exponent() < LEAST_NORMAL / 2
    }

    /// Returns a power of two for the first of two factors with these extents. With it, no product of two of
    /// their numbers is subnormal, as far as that is possible without overflow in sums of `depth` products;
    /// subnormal numbers count as 0. Returns 1 if no product is subnormal anyway, or if a number is not
    /// finite.
    pub(crate) fn scale(self, other: Self, depth: usize) -> f32 {
        let needed = LEAST_NORMAL - (self.least_exponent() + other.least_exponent());
        let [ours, theirs] = [self, other].map(|extent| exponent(extent.greatest) + 1);
        if needed <= 0 || ours.max(theirs) > LARGEST {
            return 1.0;
        }
        let terms = (usize::BITS - depth.leading_zeros()) as i32;
        let room = LARGEST - ours.max(ours + theirs + terms);
        // The clamp ensures that 1 divided by the scale is not subnormal either.
        power(needed.min(room).clamp(0, -LEAST_NORMAL))
    }

    /// Returns the smallest exponent, or a very large one if there are only zeros.
    fn least_exponent(self) -> i32 {
        match self.least {
            u32::MAX => LARGEST,
            least => exponent(least + 1).max(LEAST_NORMAL),
        }
    }
}

/// The exponent of the smallest normal number.
const LEAST_NORMAL: i32 = f32::MIN_EXP - 1;
/// The exponent of the largest finite number.
const LARGEST: i32 = f32::MAX_EXP - 1;
const FRACTION: u32 = f32::MANTISSA_DIGITS - 1;

/// Returns `⌊log₂⌋` of the normal number with these bits.
fn exponent(bits: u32) -> i32 {
    (bits >> FRACTION) as i32 - LARGEST
}

/// Returns `2^exponent` as a normal number.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + LARGEST) as u32) << FRACTION)
}

struct Look<'a>(&'a [f32]);

impl Work for Look<'_> {
    type Output = Extent;

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) -> Extent {
        Extent::of_few(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_and_the_largest_are_found_wherever_they_are() {
        for length in [2, 31, 4097, 300_000] {
            let mut numbers = vec![0.5, -0.25, 0.0, -0.0];
            numbers.resize(length.max(4), -0.3);
            for place in [0, length / 2, length - 1] {
                for (number, small) in [(-1e-30, true), (-1e-40, true), (7.0, false)] {
                    let before = std::mem::replace(&mut numbers[place], number);
                    let extent = Extent::of(&numbers);
                    assert_eq!(small, extent.least + 1 == number.abs().to_bits());
                    assert_eq!(!small, extent.greatest == number.to_bits());
                    assert_eq!(extent.has_subnormals(), number == -1e-40);
                    assert_eq!(extent.has_tiny(), small);
                    for level in Level::available() {
                        assert_eq!(level.run(Look(&numbers)), extent, "{level:?}");
                    }
                    numbers[place] = before;
                }
            }
        }
        assert_eq!(Extent::of(&[]), Extent::NONE);
        assert_eq!(Extent::of(&[0.0, -0.0]), Extent::NONE);
    }

    #[test]
    fn sums_and_differences_are_within_what_is_said_of_them() {
        let numbers = [1e-30f32, 1.000_001e-30, -0.3, 0.25, 3.0, -2.9];
        let of_sums = Extent::of(&numbers).of_sums();
        for a in numbers {
            for b in numbers {
                let exact = Extent::of(&[a + b, a - b]);
                assert!(exact.least >= of_sums.least && exact.greatest <= of_sums.greatest);
            }
        }
        assert_eq!(Extent::NONE.of_sums(), Extent { greatest: 2 << FRACTION, ..Extent::NONE });
        assert_eq!(Extent::of(&[f32::INFINITY]).of_sums().scale(Extent::of(&[1e-30]), 1), 1.0);
    }

    #[test]
    fn a_scaled_product_is_no_subnormal_and_its_sum_finite() {
        let sizes = [-126, -100, -64, -63, -62, -1, 0, 1, 60, 126];
        let pairs = |from: &[i32]| -> Vec<[i32; 2]> {
            from.iter().flat_map(|&a| sizes.map(|b| [a.min(b), a.max(b)])).collect()
        };
        for [least, greatest] in pairs(&sizes) {
            for [other_least, other_greatest] in pairs(&sizes) {
                let ends = |[a, b]: [i32; 2]| Extent::of(&[power(a), -power(b) * 1.5]);
                let (a, b) = (ends([least, greatest]), ends([other_least, other_greatest]));
                for depth in [1usize, 100, 1 << 20] {
                    let scale = a.scale(b, depth);
                    let most = f64::from(scale) * 2.25 * (depth as f64);
                    let most = most * 2f64.powi(greatest) * 2f64.powi(other_greatest);
                    let scaled = f64::from(scale) * 2f64.powi(greatest) * 1.5;
                    assert!(scale == 1.0 || most.max(scaled) < f64::from(f32::MAX));
                    assert!((1.0 / scale).is_normal() && 1.0 / (1.0 / scale) == scale);
                    let product = f64::from(scale) * 2f64.powi(least + other_least);
                    let full = most.max(scaled) * 16.0 > f64::from(f32::MAX);
                    assert!(
                        product >= f64::from(f32::MIN_POSITIVE) || full,
                        "{a:?} {b:?} {depth}: {scale:e}"
                    );
                }
            }
        }
        let tiny = Extent::of(&[1e-30]);
        for number in [f32::INFINITY, f32::NAN] {
            assert_eq!(Extent::of(&[1e-30, number]).scale(tiny, 3), 1.0);
            assert_eq!(tiny.scale(Extent::of(&[1e-30, number]), 3), 1.0);
        }
        assert_eq!(Extent::NONE.scale(tiny, 3), 1.0);
    }
}
