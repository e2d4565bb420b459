//! f32.

use super::vector::{constant, masked, power_of_two};
use super::{Lanes, Precision, Register};
use burn_cubecl::cubecl;
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::arithmetic::fused::SERIES_HALF;
use gelu_kernels::arithmetic::{Arithmetic, Digits};

const LN_2: f64 = core::f64::consts::LN_2;

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
    const BIAS: f64 = 24.0;
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

    fn scale<N: Size>(scope: &Scope, n: Register<Self, N>) -> [Register<Self, N>; 2] {
        let n = Lanes::new(scope, n);
        let exponent = n.constant(127.0 + Self::BIAS) - n.clone();
        let scale = n.with(power_of_two::expand::<N>(scope, exponent.value));
        let gone = n.above(126.0 + Self::BIAS);
        let scale = Lanes::choose(gone, n.constant(0.0), scale);
        [scale.value, n.constant(1.0 / 16_777_216.0).value]
    }
}
