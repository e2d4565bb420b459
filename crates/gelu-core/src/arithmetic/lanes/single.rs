//! The f32 arithmetic of [`Lanes`].

use super::vector::{biased_power, constant, masked};
use super::{Lanes, Power, Precision, Register};
use burn_cubecl::cubecl;
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::arithmetic::fused::SERIES_HALF;
use gelu_kernels::arithmetic::{Arithmetic, Digits};

const LN_2: f64 = core::f64::consts::LN_2;
/// 1.5·2²³: the sum of this number and a number below 2²² has no bits after the binary point.
const ROUNDER: f64 = 12_582_912.0;
/// The bits that such a sum can have.
const ROUNDER_BITS: u32 = 0x4BFF_FFFF;
/// The binary logarithm of the factor by which a scale is too large.
const BIAS: u32 = 24;

impl Precision for f32 {
    const DIGITS_NEEDED: Digits = Digits::Single;
    const LN_2: &'static [f64] = &[22_713.0 / 32_768.0, LN_2 - 22_713.0 / 32_768.0];
    const SERIES: &'static [f64] = &[
        -2.0 * SERIES_HALF[0] as f64,
        4.0 * SERIES_HALF[1] as f64,
        -8.0 * SERIES_HALF[2] as f64,
        16.0 * SERIES_HALF[3] as f64,
        -32.0 * SERIES_HALF[4] as f64,
        64.0 * SERIES_HALF[5] as f64,
    ];
    const TERMS: i32 = 8;

    fn constant<N: Size>(scope: &Scope, value: f64) -> Register<Self, N> {
        constant::expand::<N>(scope, value as f32)
    }

    fn leading(constant: f64) -> f64 {
        f64::from(Self::from_bits((constant as Self).to_bits() & 0xFFFF_F000))
    }

    fn top<N: Size>(scope: &Scope, x: Register<Self, N>) -> Register<Self, N> {
        masked::expand::<N>(scope, x, 0xFFFF_F000)
    }

    fn wall<N: Size>(scope: &Scope, x: Register<Self, N>) -> Register<Self, N> {
        masked::expand::<N>(scope, x, 0xFFFF_FFFC)
    }

    /// Rounds x to an integer by adding [`ROUNDER`]. The integer is in the last bits of the sum, so no
    /// conversion is needed; GPUs compute eight sums in the time of one conversion.
    fn power<N: Size>(scope: &Scope, x: Register<Self, N>) -> Power<Self, N> {
        let sum = Lanes::new(scope, x) + ROUNDER;
        // Without the mask, a compiler would subtract what it has just added.
        let sum = sum.with(masked::expand::<N>(scope, sum.value, ROUNDER_BITS));
        let scale = biased_power::expand::<N>(scope, sum.value, 127 + BIAS);
        let unbias = sum.constant(1.0 / f64::from(1u32 << BIAS));
        Power { n: (sum - ROUNDER).value, scale: [scale, unbias.value] }
    }
}
