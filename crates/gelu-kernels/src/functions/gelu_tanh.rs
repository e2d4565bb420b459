//! The tanh form of GELU, `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))` (Hendrycks & Gimpel, §2).
//!
//! `(1 + tanh z)/2 = σ(2z)`, so it is `x·σ(u)` with `u = 2√(2/π)·(x + 0.044715·x³)`; see
//! [`sigmoid`](super::sigmoid). `u` and `x·u′` are carried in two parts: what is lost of them would
//! be multiplied in the tail.

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

    /// −0 for −0 and −∞, +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let reach = reach(&x);
        let e = exponential(x.clone().abs().at_most(reach));
        sigmoid::gated(x.at_least(-reach), e)
    }

    /// 0 for −∞, 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(reach(&x));
        let (top, rest, slope, slope_low) = argument(t.clone(), CUBIC_RISE, LEFT_OF_CUBIC_RISE);
        let rise_low = rest * slope.clone() + t.clone() * slope_low;
        let result = sigmoid::gated_derivative(&x, top * slope, rise_low, exponential(t));
        let nothing = x.constant(0.0);
        DERIVATIVE_ZERO.or_elsewhere(x, nothing, result)
    }

    /// 0 for ±∞.
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

    /// With `E = e^−u`, the small side is `E·(1 − t·u′ + E)/(1 + E)²`.
    #[inline(always)]
    fn fused_derivative(x: f32, _: f64) -> f32 {
        let t = fused::at_most(x.abs(), T_MAX);
        let square = Square::of(t);
        let biased = fused_biased(fused_exponential(square));
        let small = biased * fused::unbias::<BIAS>();
        // t·u′
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

/// `2·√(2/π)`.
const SLOPE: f64 = 1.595_769_121_605_730_8;
/// What is left of it.
const LEFT_OF_SLOPE: f64 = -9.969_308_809_110_92e-17;
/// `2·√(2/π)·0.044715`.
const CUBIC: f64 = 0.07135481627260025;
/// What is left of it.
const LEFT_OF_CUBIC: f64 = -6.175149918155315e-19;
/// Three times that.
const CUBIC_RISE: f64 = 0.21406444881780073;
/// What is left of it.
const LEFT_OF_CUBIC_RISE: f64 = 1.2025242832367862e-17;

/// Where the tail is 0.
#[inline(always)]
fn reach<A: Arithmetic>(x: &A) -> f64 {
    x.by_digits(11.0, 12.0, 22.0)
}

/// `t` in two parts and `2√(2/π) + factor·t²` in two parts, the first of which have an exact product.
#[inline(always)]
fn argument<A: Arithmetic>(t: A, factor: f64, left_of_factor: f64) -> (A, A, A, A) {
    let (top, rest) = t.clone().split();
    let square = top.clone() * top.clone();
    let (cubic, low) = square.clone().product(t.constant(factor));
    let left = t.left_of(factor, left_of_factor);
    let low = low + rest.clone() * (t.clone() + top.clone()) * factor + square * left;
    let slope = (cubic.clone() + SLOPE).split().0;
    let leading = t.leading(SLOPE);
    // The sum's own rounding, and what was split off it.
    // Behind a wall, or a compiler would put the two parts of the constant together again.
    let rounding = (cubic - (slope.clone() - leading)).walled();
    let low = rounding + (SLOPE - leading) + (low + LEFT_OF_SLOPE);
    (top, rest, slope, low)
}

/// `e^−u`.
#[inline(always)]
fn exponential<A: Arithmetic>(t: A) -> A::Exponential {
    let (top, rest, slope, slope_low) = argument(t.clone(), CUBIC, LEFT_OF_CUBIC);
    let low = rest * slope.clone() + t * slope_low;
    (-(top * slope)).exponential(-low)
}

/// Where `E` is 0 in f32 with the power of two's bias.
const T_MAX: f32 = 11.0;
/// Makes the exponent field of the scale exactly 0 at [`T_MAX`].
const BIAS: u32 = 35;

/// `2√(2/π)`, of which the first part has 19 bits behind the point, so that it is subtracted from
/// the sums below without rounding.
const SLOPE_HIGH: f32 = 1.595_769_9;
const SLOPE_LOW: f32 = -7.605_964_4e-7;
/// `2√(2/π)·0.044715`, and what its rounding lost.
const CUBIC_HIGH: f32 = 0.071_354_814;
const CUBIC_LOW: f32 = 2.398_832_5e-9;
/// Three times that; the rounding happens to lose next to nothing.
const CUBIC_SLOPE: f32 = 0.214_064_45;

/// `t²` and what its rounding lost.
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

/// `E`.
#[inline(always)]
fn fused_exponential(square: Square) -> FusedExponential {
    let Square { t, high, low } = square;
    let slope = mul_add(high, CUBIC_HIGH, SLOPE_HIGH);
    let slope_low = mul_add(high, CUBIC_HIGH, SLOPE_HIGH - slope)
        + mul_add(low, CUBIC_HIGH, mul_add(high, CUBIC_LOW, SLOPE_LOW));
    let u = t * slope;
    FusedExponential::of::<BIAS>(u, mul_add(t, slope_low, mul_add(t, slope, -u)))
}

/// `E·2^BIAS`.
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
