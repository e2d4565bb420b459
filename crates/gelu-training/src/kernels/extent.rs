//! How small and how large numbers are.

use gelu_kernels::threads::{self, Chunks, Threads};
use gelu_kernels::{Level, Work};

/// The size of the smallest and of the largest number of some, zeros left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// One less than the bits of the smallest size, so that 0 comes after all others.
    least: u32,
    /// The bits of the largest size.
    greatest: u32,
}

impl Extent {
    /// Of no numbers, or of zeros.
    pub(crate) const NONE: Self = Self { least: u32::MAX, greatest: 0 };

    pub(crate) fn of(numbers: &[f32]) -> Self {
        /// Fewer are looked through before another thread wakes up.
        const PARALLEL: usize = 1 << 17;
        let level = Level::best();
        let threads = Threads::for_work(numbers.len(), PARALLEL);
        let chunks = Chunks::new(numbers.len(), 0);
        let extent = |index| level.run(Look(&numbers[chunks.range(index)]));
        threads::map(chunks.count(), threads, extent).into_iter().fold(Self::NONE, Self::with)
    }

    /// Of few numbers, in code compiled for the level that calls it.
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

    /// Of sums and differences of up to four such numbers, of which none but 0 is smaller than the last bit of
    /// the smallest.
    pub(crate) fn of_sums(self) -> Self {
        const BINARY: u32 = 1 << FRACTION;
        let least = match self.least {
            u32::MAX => u32::MAX,
            least => least.saturating_sub(FRACTION * BINARY),
        };
        Self { least, greatest: self.greatest.saturating_add(2 * BINARY) }
    }

    /// Whether any of them is subnormal.
    pub(crate) fn has_subnormals(self) -> bool {
        self.least < f32::MIN_POSITIVE.to_bits() - 1
    }

    /// Whether any that is no 0 is so small that its product with another like it is subnormal.
    pub(crate) fn has_tiny(self) -> bool {
        self.least_exponent() < LEAST_NORMAL / 2
    }

    /// A power of two for the first of two factors of these extents, by which no product of two of their
    /// numbers is subnormal, as far as no sum of `depth` products can overflow; subnormal numbers count as
    /// 0. 1 where none is anyway, or where a number is not finite.
    pub(crate) fn scale(self, other: Self, depth: usize) -> f32 {
        let needed = LEAST_NORMAL - (self.least_exponent() + other.least_exponent());
        let [ours, theirs] = [self, other].map(|extent| exponent(extent.greatest) + 1);
        if needed <= 0 || ours.max(theirs) > LARGEST {
            return 1.0;
        }
        let terms = (usize::BITS - depth.leading_zeros()) as i32;
        let room = LARGEST - ours.max(ours + theirs + terms);
        // So that one divided by it is not subnormal either.
        power(needed.min(room).clamp(0, -LEAST_NORMAL))
    }

    /// Far up where there are only zeros.
    fn least_exponent(self) -> i32 {
        match self.least {
            u32::MAX => LARGEST,
            least => exponent(least + 1).max(LEAST_NORMAL),
        }
    }
}

/// The exponent of the smallest number that is not subnormal.
const LEAST_NORMAL: i32 = f32::MIN_EXP - 1;
/// That of the largest finite one.
const LARGEST: i32 = f32::MAX_EXP - 1;
const FRACTION: u32 = f32::MANTISSA_DIGITS - 1;

/// `⌊log₂⌋` of a number of these bits that is not subnormal.
fn exponent(bits: u32) -> i32 {
    (bits >> FRACTION) as i32 - LARGEST
}

/// `2^exponent` of a normal number.
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
