//! f32 arithmetic with a fused multiply-add, by hardware or without it, to the same last bit.

use core::ops::{Add, Div, Mul, Neg, Sub};

/// What the formulas in [`single`](super::single) need of a number. Every operation rounds once,
/// to f32; NaN passes through all of them.
pub(crate) trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The number itself.
    fn of(value: f32) -> Self;

    /// As f32, without loss.
    fn to_f32(self) -> f32;

    /// `self·b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;

    /// As [`mul_add`](Self::mul_add), where the sum is known to need no more digits than an f64
    /// has, as what a rounding lost never does: there is nothing to doubt.
    fn mul_add_exact(self, b: Self, c: Self) -> Self;

    /// `|self|`.
    fn abs(self) -> Self;

    /// Whether `self < 0`.
    fn is_negative(self) -> bool;

    /// `max(self, −0)`, which keeps the sign of a zero and lets NaN pass.
    fn positive_part(self) -> Self;

    /// Whether `self > limit`.
    fn exceeds(self, limit: f32) -> bool;

    /// The f32 whose exponent field is what stands in the low nine bits of `self`'s bits.
    fn low_bits_as_exponent(self) -> Self;

    /// Has the highest bit set where a rounding on the way here may have gone wrong, so that the
    /// result has to be computed again in another way.
    fn doubt(self) -> u64;
}

impl Real for f32 {
    #[inline(always)]
    fn of(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
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
    fn is_negative(self) -> bool {
        self < 0.0
    }

    #[inline(always)]
    fn positive_part(self) -> Self {
        // In this order it is one instruction.
        if -0.0 > self { -0.0 } else { self }
    }

    #[inline(always)]
    fn exceeds(self, limit: f32) -> bool {
        self > limit
    }

    #[inline(always)]
    fn low_bits_as_exponent(self) -> Self {
        Self::from_bits(self.to_bits() << 23)
    }

    #[inline(always)]
    fn doubt(self) -> u64 {
        0
    }
}

/// An f32 kept in an f64, for processors without a fused multiply-add: a product of two is exact
/// there, and sums, products and quotients rounded to f64 and then to f32 are rounded correctly,
/// since 53 ≥ 2·24 + 2 (Figueroa 1995). Only the sum in [`Real::mul_add`] may round wrongly,
/// where it comes to lie halfway between two f32; that is what is remembered as doubt.
#[derive(Clone, Copy)]
pub(crate) struct Emulated {
    value: f64,
    /// As of [`Real::doubt`].
    doubt: u64,
}

impl Emulated {
    #[inline(always)]
    fn round(value: f64, doubt: u64) -> Self {
        Self { value: f64::from(value as f32), doubt }
    }
}

impl Real for Emulated {
    #[inline(always)]
    fn of(value: f32) -> Self {
        Self { value: f64::from(value), doubt: 0 }
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self.value as f32
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        /// What an f64 has below the last digit of an f32, and half of that digit.
        const BELOW: u64 = (1 << 29) - 1;
        const HALF: u64 = 1 << 28;
        let sum = self.value * b.value + c.value;
        // 0 − 1 where the bits are those of a half, else a small number less 1.
        let halfway = ((sum.to_bits() & BELOW) ^ HALF).wrapping_sub(1);
        Self::round(sum, self.doubt | b.doubt | c.doubt | halfway)
    }

    #[inline(always)]
    fn mul_add_exact(self, b: Self, c: Self) -> Self {
        Self::round(self.value * b.value + c.value, self.doubt | b.doubt | c.doubt)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self { value: self.value.abs(), ..self }
    }

    #[inline(always)]
    fn is_negative(self) -> bool {
        self.value < 0.0
    }

    #[inline(always)]
    fn positive_part(self) -> Self {
        Self { value: if -0.0 > self.value { -0.0 } else { self.value }, ..self }
    }

    #[inline(always)]
    fn exceeds(self, limit: f32) -> bool {
        self.value > f64::from(limit)
    }

    #[inline(always)]
    fn low_bits_as_exponent(self) -> Self {
        let value = f32::from_bits((self.value as f32).to_bits() << 23);
        Self { value: f64::from(value), ..self }
    }

    #[inline(always)]
    fn doubt(self) -> u64 {
        self.doubt
    }
}

impl Add for Emulated {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::round(self.value + other.value, self.doubt | other.doubt)
    }
}

impl Sub for Emulated {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::round(self.value - other.value, self.doubt | other.doubt)
    }
}

impl Mul for Emulated {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self::round(self.value * other.value, self.doubt | other.doubt)
    }
}

impl Div for Emulated {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self::round(self.value / other.value, self.doubt | other.doubt)
    }
}

impl Neg for Emulated {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { value: -self.value, ..self }
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
                let got = emulated.to_f32();
                prop_assert!(got.to_bits() == exact.to_bits() || got.is_nan() && exact.is_nan());
            }
            let fused = x.mul_add(y, z);
            let exact = libm::fmaf(a, b, c);
            if !is_doubtful(fused.doubt()) {
                let got = fused.to_f32();
                prop_assert!(got.to_bits() == exact.to_bits() || got.is_nan() && exact.is_nan());
            }
        }

        #[test]
        fn near_cancellation_is_fused_too(a in -4.0f32..4.0, b in -4.0f32..4.0, steps in -3i32..=3) {
            let near = f32::from_bits((-(a * b)).to_bits().wrapping_add_signed(steps));
            let fused = Emulated::of(a).mul_add(Emulated::of(b), Emulated::of(near));
            prop_assert!(is_doubtful(fused.doubt()) || fused.to_f32() == libm::fmaf(a, b, near));
        }
    }

    #[test]
    fn a_sum_halfway_between_two_floats_is_doubtful() {
        // 1 + 2^-24 exactly, and a hair more: f64 cannot tell them apart, the rounded f32 differ.
        let (half, hair) = (2f32.powi(-24), 2f32.powi(-90));
        let product = Emulated::of(half).mul_add(Emulated::of(1.0), Emulated::of(1.0));
        assert!(is_doubtful(product.doubt()));
        let tiny = Emulated::of(hair).mul_add(Emulated::of(1.0), Emulated::of(1.0));
        assert!(!is_doubtful(tiny.doubt()));
    }
}
