//! The f64 arithmetic of [`Lanes`].

use super::vector::{double_constant, double_power_of_two, through_single};
use super::{Lanes, Power, Precision, Register};
use burn_cubecl::cubecl;
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::arithmetic::Digits;

impl Precision for f64 {
    const DIGITS_NEEDED: Digits = Digits::Double;
    /// Three parts of ln 2, of twelve digits each. Their sum is exact.
    const LN_2: &'static [f64] = &[LN_2_FIRST, LN_2_SECOND, LN_2_REST];
    const SERIES: &'static [f64] = &TAYLOR;
    const TERMS: i32 = 15;

    fn constant<N: Size>(scope: &Scope, value: f64) -> Register<Self, N> {
        double_constant::expand::<N>(scope, value)
    }

    fn leading(constant: f64) -> f64 {
        Self::from(constant as f32)
    }

    /// Converts to f32 and back.
    fn top<N: Size>(scope: &Scope, x: Register<Self, N>) -> Register<Self, N> {
        through_single::expand::<N>(scope, x)
    }

    /// Rebuilds the number from three parts, which hold all digits.
    fn wall<N: Size>(scope: &Scope, x: Register<Self, N>) -> Register<Self, N> {
        let x = Lanes::new(scope, x);
        let first = x.with(Self::top(scope, x.value));
        let rest = x - first.clone();
        let second = rest.with(Self::top(scope, rest.value));
        let rest = rest - second.clone();
        let third = rest.with(Self::top(scope, rest.value));
        (first + (second + third)).value
    }

    /// Computes the scale as the 16th power of `2^−⌈n/16⌉`, which f32 can hold, times the remaining
    /// power of two.
    fn power<N: Size>(scope: &Scope, x: Register<Self, N>) -> Power<Self, N> {
        let n = (Lanes::new(scope, x) + 0.5).floor();
        let sixteenth = -((-n.clone() * (1.0 / 16.0)).floor());
        let left = sixteenth.clone() * 16.0 - n.clone();
        let power = |exponent: Lanes<'_, Self, N>| {
            let biased = exponent + 127.0;
            Lanes::new(scope, double_power_of_two::expand::<N>(scope, biased.value))
        };
        let second = power(-sixteenth);
        let fourth = second.clone() * second;
        let eighth = fourth.clone() * fourth;
        let half = eighth.clone() * eighth;
        Power { n: n.value, scale: [(half.clone() * power(left)).value, half.value] }
    }
}

const LN_2_FIRST: f64 = 2_839.0 / 4_096.0;
const LN_2_SECOND: f64 = 535.0 / 16_777_216.0;
const LN_2_REST: f64 = 5.7699990475432854e-08;

/// The Taylor coefficients `1/(k + 1)!`.
const TAYLOR: [f64; 13] = {
    let mut coefficients = [1.0; 13];
    let mut k = 1;
    while k < 13 {
        coefficients[k] = coefficients[k - 1] / (k + 1) as f64;
        k += 1;
    }
    coefficients
};
