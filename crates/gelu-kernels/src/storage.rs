//! Types that numbers are stored in.

use crate::float::Float;
#[cfg(feature = "loops")]
use crate::kernel::Loops;
use crate::sealed::Sealed;
#[cfg(feature = "half")]
use half::{bf16, f16};

/// A type that numbers are stored in: `f32`, `f64`, and with the feature `half` also `f16` and
/// `bf16`.
pub trait Storage: Sealed + Copy + Send + Sync + 'static {
    /// The type that computation is done in: f32 for types of 16 bits.
    #[cfg(feature = "loops")]
    type Float: Float + Loops;

    /// The type that computation is done in: f32 for types of 16 bits.
    #[cfg(not(feature = "loops"))]
    type Float: Float;

    /// Whether the storage type and the computation type are the same.
    const DIRECT: bool;

    /// Converts to the computation type, without loss.
    fn widen(self) -> Self::Float;

    /// Rounds to the nearest number of this type, ties to even.
    fn narrow(value: Self::Float) -> Self;
}

impl Storage for f32 {
    type Float = Self;
    const DIRECT: bool = true;

    #[inline(always)]
    fn widen(self) -> Self {
        self
    }

    #[inline(always)]
    fn narrow(value: Self) -> Self {
        value
    }
}

impl Storage for f64 {
    type Float = Self;
    const DIRECT: bool = true;

    #[inline(always)]
    fn widen(self) -> Self {
        self
    }

    #[inline(always)]
    fn narrow(value: Self) -> Self {
        value
    }
}

/// Converts `bf16` and `f16` with integer and f32 arithmetic without branches, so that a loop over
/// them vectorises on every level. The conversions of `half` detect instructions on each call.
#[cfg(feature = "half")]
impl Storage for bf16 {
    type Float = f32;
    const DIRECT: bool = false;

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + ((bits >> 16) & 1)) >> 16;
        let nan = (bits >> 16) | 0x40;
        Self::from_bits(if value.is_nan() { nan } else { rounded } as u16)
    }
}

#[cfg(feature = "half")]
impl Storage for f16 {
    type Float = f32;
    const DIRECT: bool = false;

    #[inline(always)]
    fn widen(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let (sign, rest) = ((bits & 0x8000) << 16, (bits & 0x7FFF) << 13);
        // The exponents' biases differ by 112. The product is exact, subnormal or not.
        let scaled = f32::from_bits(rest) * f32::from_bits((127 + 112) << 23);
        let special = rest | 0x7F80_0000;
        let magnitude = if rest >= 0x0F80_0000 { special } else { scaled.to_bits() };
        f32::from_bits(magnitude | sign)
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        /// The f32 bits from which f16 is infinite, and those from which it is not subnormal.
        const OVER: u32 = (127 + 16) << 23;
        const NORMAL: u32 = (127 - 14) << 23;
        /// Adding this number rounds to the last place of subnormals and leaves the result in the
        /// low bits.
        const MAGIC: u32 = (127 - 14 - 10 + 23) << 23;
        let sign = value.to_bits() & 0x8000_0000;
        let bits = value.to_bits() ^ sign;
        let odd = (bits >> 13) & 1;
        let normal = bits.wrapping_add(0xFFF + odd).wrapping_sub((127 - 15) << 23) >> 13;
        let sum = f32::from_bits(bits) + f32::from_bits(MAGIC);
        let subnormal = sum.to_bits().wrapping_sub(MAGIC);
        let over = if bits > 0x7F80_0000 { 0x7E00 } else { 0x7C00 };
        let small = if bits < NORMAL { subnormal } else { normal };
        let magnitude = if bits >= OVER { over } else { small };
        Self::from_bits((magnitude | (sign >> 16)) as u16)
    }
}

#[cfg(all(test, feature = "half"))]
mod tests {
    use super::*;

    #[test]
    fn all_16_bit_floats_are_widened_and_narrowed_as_the_types_own_conversions_do() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            for (got, exact, back, same) in [
                (half.widen(), half.to_f32(), f16::narrow(half.widen()).to_bits(), bits),
                (brain.widen(), brain.to_f32(), bf16::narrow(brain.widen()).to_bits(), bits),
            ] {
                let both_nan = got.is_nan() && exact.is_nan();
                assert!(both_nan || got.to_bits() == exact.to_bits(), "{bits:#x}: {got} {exact}");
                assert!(both_nan || back == same, "{bits:#x}");
            }
        }
    }

    #[test]
    fn f32_are_rounded_to_16_bits_as_the_types_own_conversions_do() {
        // Tests every 10,007th f32, and both neighbours of every tie and of every 16-bit number.
        let strided = (0..=u32::MAX).step_by(10_007);
        let near = (0..=u16::MAX).flat_map(|bits| {
            let half = f16::from_bits(bits).to_f32().to_bits();
            let brain = u32::from(bits) << 16;
            [half, half ^ 0x1000, brain, brain ^ 0x8000]
        });
        let near = near.flat_map(|bits| [bits.wrapping_sub(1), bits, bits.wrapping_add(1)]);
        for bits in strided.chain(near) {
            let x = f32::from_bits(bits);
            let (half, brain) = (f16::narrow(x), bf16::narrow(x));
            if x.is_nan() {
                assert!(half.is_nan() && brain.is_nan());
                continue;
            }
            assert_eq!(half.to_bits(), f16::from_f32(x).to_bits(), "{x:e}");
            assert_eq!(brain.to_bits(), bf16::from_f32(x).to_bits(), "{x:e}");
        }
    }
}
