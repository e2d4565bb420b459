//! The tanh form of GELU, `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))` (Hendrycks & Gimpel, §2).
//!
//! Because `(1 + tanh z)/2 = σ(2z)`, the function is `x·σ(u)` with `u = 2√(2/π)·(x + 0.044715·x³)`;
//! see [`sigmoid`](super::sigmoid). The code carries `u` and `x·u′` in two parts, because the tail
//! would multiply their rounding errors.

use super::{Function, sigmoid};
use crate::arithmetic::fused::{self, FusedExponential, mul_add};
use crate::arithmetic::{Arithmetic, Zero};

#[derive(Clone, Copy, Debug)]
pub(crate) struct GeluTanh;

impl Function for GeluTanh {
    const NAME: &str = "gelu-tanh";
    const LABEL: &str = "GELU (tanh)";
    const ALIASES: &[&str] = &[
        "gelu-new",
        "gelu-pytorch-tanh",
        "gelu-python-tanh",
        "gelu-fast",
        "gelu-approximate",
        "gelu-accurate",
    ];

    /// Returns −0 for −0 and −∞, and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let reach = reach(&x);
        let e = exponential(x.clone().abs().at_most(reach));
        sigmoid::gated(x.at_least(-reach), e)
    }

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(reach(&x));
        let (top, rest, slope, slope_low) = argument(t.clone(), CUBIC_RISE, LEFT_OF_CUBIC_RISE);
        let rise_low = rest * slope.clone() + t.clone() * slope_low;
        let result = sigmoid::gated_derivative(&x, top * slope, rise_low, exponential(t));
        let nothing = x.constant(0.0);
        DERIVATIVE_ZERO.or_elsewhere(x, nothing, result)
    }

    /// Returns 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(reach(&x));
        let square = t.clone() * t.clone();
        let u = t.clone() * (square.clone() * CUBIC + SLOPE);
        let slope = square.clone() * CUBIC_RISE + SLOPE;
        sigmoid::gated_second_derivative(t, u, slope, square * (2.0 * CUBIC_RISE))
    }

    #[inline(always)]
    fn fused(x: f32, _: f64) -> f32 {
        let t = fused::at_most(x.abs(), T_MAX);
        let e = fused_exponential(Square::of(t));
        let gated = t / (1.0 + fused_biased(e) * fused::unbias::<BIAS>());
        let tail = mul_add(gated, e.s, gated);
        mul_add(tail * e.scale, -fused::unbias::<BIAS>(), fused::positive_part(x))
    }

    /// Returns, with `E = e^−u`, the small side `E·(1 − t·u′ + E)/(1 + E)²` on the side of `x`.
    #[inline(always)]
    fn fused_derivative(x: f32, _: f64) -> f32 {
        let t = fused::at_most(x.abs(), T_MAX);
        let square = Square::of(t);
        let biased = fused_biased(fused_exponential(square));
        let small = biased * fused::unbias::<BIAS>();
        // The next lines compute t·u′ in two parts.
        let rise = mul_add(square.high, CUBIC_SLOPE, SLOPE_HIGH);
        let rise_low = mul_add(square.high, CUBIC_SLOPE, SLOPE_HIGH - rise)
            + mul_add(square.low, CUBIC_SLOPE, SLOPE_LOW);
        let product = t * rise;
        let product_low = mul_add(t, rise_low, mul_add(t, rise, -product));
        let bracket = (1.0 - product) + small;
        let bracket_low = ((1.0 - product) - bracket) + small - product_low;
        let factor = biased / mul_add(small, 2.0 + small, 1.0);
        let slope = mul_add(bracket, factor, bracket_low * factor);
        fused::on_its_side(x, slope, fused::unbias::<BIAS>(), 0.0, 1.0)
    }
}

/// `2·√(2/π)`, the factor of x in u.
const SLOPE: f64 = 1.595_769_121_605_730_8;
/// The rounding error of [`SLOPE`].
const LEFT_OF_SLOPE: f64 = -9.969_308_809_110_92e-17;
/// `2·√(2/π)·0.044715`, the factor of x³ in u.
const CUBIC: f64 = 0.07135481627260025;
/// The rounding error of [`CUBIC`].
const LEFT_OF_CUBIC: f64 = -6.175149918155315e-19;
/// Three times [`CUBIC`], the factor of x² in u′.
const CUBIC_RISE: f64 = 0.21406444881780073;
/// The rounding error of [`CUBIC_RISE`].
const LEFT_OF_CUBIC_RISE: f64 = 1.2025242832367862e-17;

/// Returns a t at which the tail is 0.
#[inline(always)]
fn reach<A: Arithmetic>(x: &A) -> f64 {
    x.by_digits(11.0, 12.0, 22.0)
}

/// Returns `t` and `2√(2/π) + factor·t²`, each in two parts. The product of the first parts is exact.
#[inline(always)]
fn argument<A: Arithmetic>(t: A, factor: f64, left_of_factor: f64) -> (A, A, A, A) {
    let (top, rest) = t.clone().split();
    let square = top.clone() * top.clone();
    let (cubic, low) = square.clone().product(t.constant(factor));
    let left = t.left_of(factor, left_of_factor);
    let low = low + rest.clone() * (t.clone() + top.clone()) * factor + square * left;
    let slope = (cubic.clone() + SLOPE).split().0;
    let leading = t.leading(SLOPE);
    // The rounding error of the sum, including the digits that `split` removed. Without the wall a
    // compiler would recombine the two parts of the constant.
    let rounding = (cubic - (slope.clone() - leading)).walled();
    let low = rounding + (SLOPE - leading) + (low + LEFT_OF_SLOPE);
    (top, rest, slope, low)
}

/// Returns `e^−u`.
#[inline(always)]
fn exponential<A: Arithmetic>(t: A) -> A::Exponential {
    let (top, rest, slope, slope_low) = argument(t.clone(), CUBIC, LEFT_OF_CUBIC);
    let low = rest * slope.clone() + t * slope_low;
    (-(top * slope)).exponential(-low)
}

/// The `t` from which on `E·2^BIAS` is 0 in f32.
const T_MAX: f32 = 11.0;
/// The bias of the power of two that makes the exponent field of the scale exactly 0 at [`T_MAX`].
const BIAS: u32 = 35;

/// `2√(2/π)` in two parts. The first part has 19 bits after the binary point, so that subtracting it
/// from the sums below is exact.
const SLOPE_HIGH: f32 = 1.595_769_9;
const SLOPE_LOW: f32 = -7.605_964_4e-7;
/// `2√(2/π)·0.044715` as the nearest f32 and its rounding error.
const CUBIC_HIGH: f32 = 0.071_354_814;
const CUBIC_LOW: f32 = 2.398_832_5e-9;
/// Three times [`CUBIC_HIGH`]; its rounding error is negligible.
const CUBIC_SLOPE: f32 = 0.214_064_45;

/// `t²` and its rounding error.
#[derive(Clone, Copy)]
struct Square {
    t: f32,
    high: f32,
    low: f32,
}

impl Square {
    #[inline(always)]
    fn of(t: f32) -> Self {
        let high = t * t;
        Self { t, high, low: mul_add(t, t, -high) }
    }
}

/// Returns `E`.
#[inline(always)]
fn fused_exponential(square: Square) -> FusedExponential {
    let Square { t, high, low } = square;
    let slope = mul_add(high, CUBIC_HIGH, SLOPE_HIGH);
    let slope_low = mul_add(high, CUBIC_HIGH, SLOPE_HIGH - slope)
        + mul_add(low, CUBIC_HIGH, mul_add(high, CUBIC_LOW, SLOPE_LOW));
    let u = t * slope;
    FusedExponential::of::<BIAS>(u, mul_add(t, slope_low, mul_add(t, slope, -u)))
}

/// Returns `E·2^BIAS`.
#[inline(always)]
fn fused_biased(e: FusedExponential) -> f32 {
    mul_add(e.s, e.scale, e.scale)
}

const DERIVATIVE_ZERO: Zero<14> = Zero {
    radius: 0.125,
    high: -0.7524614220710163,
    low: 3.635560509207687e-17,
    coefficients: [
        0.4304000910248585,
        0.38751844613578895,
        -0.01578285352184803,
        -0.11394448308095899,
        -0.01661932834305256,
        0.019682309459833118,
        0.005261059254921912,
        -0.0024227318458750974,
        -0.0009274420230205449,
        0.00026392764052681053,
        0.00012425227802639782,
        -3.4956171694436116e-05,
        -1.5950896871645105e-05,
        5.918611710894005e-06,
    ],
};
