//! f32 arithmetic with a fused multiply-add, by hardware or without it, to the same last bit.

use core::ops::{Add, Div, Mul, Neg, Sub};

/// What the formulas in [`single`](super::single) need of a number, or of several side by side
/// that are worked on in step. Every operation rounds once, to f32; NaN passes through all of them.
pub(crate) trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// How many numbers it is.
    const LANES: usize;

    /// The numbers themselves, lane by lane.
    fn of_lanes(number: impl Fn(usize) -> f32) -> Self;

    /// The number in a lane as f32, without loss.
    fn lane(&self, lane: usize) -> f32;

    /// Has the highest bit set where a rounding on the way here may have gone wrong, so that the
    /// lane's result has to be computed again in another way.
    fn doubt(&self, lane: usize) -> u64;

    /// The same number in every lane.
    #[inline(always)]
    fn of(value: f32) -> Self {
        Self::of_lanes(|_| value)
    }

    /// Any function of one number.
    #[inline(always)]
    fn map(self, function: impl Fn(f32) -> f32) -> Self {
        Self::of_lanes(|lane| function(self.lane(lane)))
    }

    /// `self·b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;

    /// As [`mul_add`](Self::mul_add), where the sum is known to need no more digits than an f64
    /// has, as what a rounding lost never does: there is nothing to doubt.
    fn mul_add_exact(self, b: Self, c: Self) -> Self;

    /// `|self|`.
    fn abs(self) -> Self;

    /// `then` where `self < 0`, else `otherwise`.
    fn if_negative(self, then: Self, otherwise: Self) -> Self;

    /// `max(self, −0)`, which keeps the sign of a zero and lets NaN pass.
    fn positive_part(self) -> Self;

    /// `min(self, limit)` that lets NaN pass.
    fn at_most(self, limit: f32) -> Self;

    /// The f32 whose exponent field is what stands in the low nine bits of `self`'s bits.
    fn low_bits_as_exponent(self) -> Self;
}

impl Real for f32 {
    const LANES: usize = 1;

    #[inline(always)]
    fn of_lanes(number: impl Fn(usize) -> f32) -> Self {
        number(0)
    }

    #[inline(always)]
    fn lane(&self, _: usize) -> f32 {
        *self
    }

    #[inline(always)]
    fn doubt(&self, _: usize) -> u64 {
        0
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        #[cfg(feature = "std")]
        return self.mul_add(b, c);
        #[cfg(not(feature = "std"))]
        return libm::fmaf(self, b, c);
    }

    #[inline(always)]
    fn mul_add_exact(self, b: Self, c: Self) -> Self {
        Real::mul_add(self, b, c)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn if_negative(self, then: Self, otherwise: Self) -> Self {
        if self < 0.0 { then } else { otherwise }
    }

    #[inline(always)]
    fn positive_part(self) -> Self {
        // In this order it is one instruction.
        if -0.0 > self { -0.0 } else { self }
    }

    #[inline(always)]
    fn at_most(self, limit: f32) -> Self {
        if self > limit { limit } else { self }
    }

    #[inline(always)]
    fn low_bits_as_exponent(self) -> Self {
        Self::from_bits(self.to_bits() << 23)
    }
}

/// f32 kept in f64, for processors without a fused multiply-add: a product of two is exact there,
/// and sums, products and quotients rounded to f64 and then to f32 are rounded correctly, since
/// 53 ≥ 2·24 + 2 (Figueroa 1995). Only the sum in [`Real::mul_add`] may round wrongly, where it
/// comes to lie halfway between two f32; that is what is remembered as doubt.
///
/// Four at a time, as their operations are long chains that wait for one another: in step, they
/// fill one another's gaps.
#[derive(Clone, Copy)]
pub(crate) struct Emulated {
    values: [f64; LANES],
    /// As of [`Real::doubt`].
    doubts: [u64; LANES],
}

const LANES: usize = 4;

impl Emulated {
    #[inline(always)]
    fn round(value: impl Fn(usize) -> f64, doubt: impl Fn(usize) -> u64) -> Self {
        Self::exactly(|lane| f64::from(value(lane) as f32), doubt)
    }

    #[inline(always)]
    fn exactly(value: impl Fn(usize) -> f64, doubt: impl Fn(usize) -> u64) -> Self {
        let mut result = Self { values: [0.0; LANES], doubts: [0; LANES] };
        for lane in 0..LANES {
            result.values[lane] = value(lane);
            result.doubts[lane] = doubt(lane);
        }
        result
    }

    /// Of one number, with the doubts there were.
    #[inline(always)]
    fn each(self, function: impl Fn(f64) -> f64) -> Self {
        Self::exactly(|lane| function(self.values[lane]), |lane| self.doubts[lane])
    }

    #[inline(always)]
    fn of_both(self, other: Self, function: impl Fn(f64, f64) -> f64) -> Self {
        Self::round(
            |lane| function(self.values[lane], other.values[lane]),
            |lane| self.doubts[lane] | other.doubts[lane],
        )
    }
}

impl Real for Emulated {
    const LANES: usize = LANES;

    #[inline(always)]
    fn of_lanes(number: impl Fn(usize) -> f32) -> Self {
        Self::exactly(|lane| f64::from(number(lane)), |_| 0)
    }

    #[inline(always)]
    fn lane(&self, lane: usize) -> f32 {
        self.values[lane] as f32
    }

    #[inline(always)]
    fn doubt(&self, lane: usize) -> u64 {
        self.doubts[lane]
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        /// What an f64 has below the last digit of an f32, and half of that digit.
        const BELOW: u64 = (1 << 29) - 1;
        const HALF: u64 = 1 << 28;
        let sum = |lane: usize| self.values[lane] * b.values[lane] + c.values[lane];
        // 0 − 1 where the bits are those of a half, else a small number less 1.
        let halfway = |lane: usize| ((sum(lane).to_bits() & BELOW) ^ HALF).wrapping_sub(1);
        Self::round(sum, |lane| self.doubts[lane] | b.doubts[lane] | c.doubts[lane] | halfway(lane))
    }

    #[inline(always)]
    fn mul_add_exact(self, b: Self, c: Self) -> Self {
        Self::round(
            |lane| self.values[lane] * b.values[lane] + c.values[lane],
            |lane| self.doubts[lane] | b.doubts[lane] | c.doubts[lane],
        )
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.each(f64::abs)
    }

    #[inline(always)]
    fn if_negative(self, then: Self, otherwise: Self) -> Self {
        let negative = |lane: usize| self.values[lane] < 0.0;
        Self::exactly(
            |lane| if negative(lane) { then.values[lane] } else { otherwise.values[lane] },
            |lane| self.doubts[lane] | then.doubts[lane] | otherwise.doubts[lane],
        )
    }

    #[inline(always)]
    fn positive_part(self) -> Self {
        self.each(|value| if -0.0 > value { -0.0 } else { value })
    }

    #[inline(always)]
    fn at_most(self, limit: f32) -> Self {
        let limit = f64::from(limit);
        self.each(|value| if value > limit { limit } else { value })
    }

    #[inline(always)]
    fn low_bits_as_exponent(self) -> Self {
        self.each(|value| f64::from(f32::from_bits((value as f32).to_bits() << 23)))
    }
}

impl Add for Emulated {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.of_both(other, |a, b| a + b)
    }
}

impl Sub for Emulated {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.of_both(other, |a, b| a - b)
    }
}

impl Mul for Emulated {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.of_both(other, |a, b| a * b)
    }
}

impl Div for Emulated {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.of_both(other, |a, b| a / b)
    }
}

impl Neg for Emulated {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.each(|value| -value)
    }
}

/// Whether a [`Real::doubt`], or several joined by `|`, says so.
#[inline(always)]
pub(crate) fn is_doubtful(doubt: u64) -> bool {
    doubt >> 63 != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100_000))]

        #[test]
        fn emulated_operations_round_as_the_hardware_does(a: u32, b: u32, c: u32) {
            let (a, b, c) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
            let (x, y, z) = (Emulated::of(a), Emulated::of(b), Emulated::of(c));
            for (emulated, exact) in [
                (x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b), (-x, -a),
                (x.low_bits_as_exponent(), a.low_bits_as_exponent()),
            ] {
                let got = emulated.lane(0);
                prop_assert!(got.to_bits() == exact.to_bits() || got.is_nan() && exact.is_nan());
            }
            let fused = x.mul_add(y, z);
            let exact = libm::fmaf(a, b, c);
            if !is_doubtful(fused.doubt(0)) {
                let got = fused.lane(0);
                prop_assert!(got.to_bits() == exact.to_bits() || got.is_nan() && exact.is_nan());
            }
        }

        #[test]
        fn near_cancellation_is_fused_too(a in -4.0f32..4.0, b in -4.0f32..4.0, steps in -3i32..=3) {
            let near = f32::from_bits((-(a * b)).to_bits().wrapping_add_signed(steps));
            let fused = Emulated::of(a).mul_add(Emulated::of(b), Emulated::of(near));
            prop_assert!(is_doubtful(fused.doubt(0)) || fused.lane(0) == libm::fmaf(a, b, near));
        }
    }

    #[test]
    fn a_sum_halfway_between_two_floats_is_doubtful() {
        // 1 + 2^-24 exactly, and a hair more: f64 cannot tell them apart, the rounded f32 differ.
        let (half, hair) = (2f32.powi(-24), 2f32.powi(-90));
        let product = Emulated::of(half).mul_add(Emulated::of(1.0), Emulated::of(1.0));
        assert!(is_doubtful(product.doubt(0)));
        let tiny = Emulated::of(hair).mul_add(Emulated::of(1.0), Emulated::of(1.0));
        assert!(!is_doubtful(tiny.doubt(0)));
    }
}
