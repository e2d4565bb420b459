//! The units on vectors of f32, in arithmetic that no compiler's choice can spoil: nothing here
//! needs a fused multiply-add, and nothing suffers from one. Shader compilers also regroup sums and
//! factor products out; where that would lose what was split off before, a mask or a [`barrier`]
//! stands between. Native exponentials are not used, since their accuracy differs from device to
//! device. Formulation and coefficients are those of
//! `math::single` and `math::logistic`.

use crate::Unit;
use crate::math::cauchy::Q;
use crate::math::logistic::{SIGMOID_SLOPE, TANH_CUBIC, TANH_SLOPE};
use crate::math::single::exponential::SERIES_HALF;
use crate::math::single::normal::{P, S, SHIFT_P, SHIFT_S, ZERO_HIGH, ZERO_LOW};
use burn_cubecl::cubecl;
use cubecl::prelude::*;

/// Where the normal tail is 0 or subnormal.
const T_MAX: f32 = 13.3;
/// Where the logistic tail is 0.
const U_MAX: f32 = 110.0;
const FRAC_1_PI: f32 = core::f32::consts::FRAC_1_PI;

/// `unit(x)`.
#[cube]
pub(super) fn value<N: Size>(x: Vector<f32, N>, #[comptime] unit: Unit) -> Vector<f32, N> {
    match comptime!(unit) {
        Unit::Gelu => {
            let t = magnitude::<N>(x, T_MAX);
            let (sum, high, low) = mills::<N>(t);
            let v = t / sum;
            let (s, scale) = normal_exponential::<N>(t);
            positive_part::<N>(x) - unscaled::<N>(in_parts::<N>(v * high, v * low, s), scale)
        }
        Unit::GeluTanh => {
            let t = magnitude::<N>(x, 10.5f32);
            let (s, scale) = tanh_exponential::<N>(t);
            positive_part::<N>(x) - gated_tail::<N>(t, s, scale)
        }
        Unit::GeluSigmoid => gated::<N>(x, comptime!(SIGMOID_SLOPE as f32)),
        Unit::Silu => gated::<N>(x, 1.0f32),
        Unit::Cauchy => {
            let t = x.abs();
            let far = t.greater_than(&constant::<N>(1.0f32));
            let z = select_many(far, constant::<N>(1.0f32) / t, t);
            let y = z * z;
            let arc = constant::<N>(1.0f32) / (constant::<N>(1.0f32) + y) + y * arc::<N>(y);
            let near = t * (constant::<N>(0.5f32) - z * arc * constant::<N>(FRAC_1_PI));
            positive_part::<N>(x) - select_many(far, arc * constant::<N>(FRAC_1_PI), near)
        }
        Unit::Elu => {
            let negative = x.less_than(&constant::<N>(0.0f32));
            let t = magnitude::<N>(x, U_MAX);
            // e^−t − 1 by its series near 0, where the difference would cancel.
            let near = t.less_than(&constant::<N>(0.35f32));
            let mut series = constant::<N>(1.0f32 / 40320.0f32);
            #[unroll]
            for k in 0..7u32 {
                series = constant::<N>(comptime!(FACTORIALS[k as usize])) - t * series;
            }
            let far = exponential::<N>(t) - constant::<N>(1.0f32);
            select_many(negative, select_many(near, -(t * series), far), x)
        }
        Unit::Relu => {
            let rest = x.less_equal(&constant::<N>(0.0f32));
            select_many(rest, constant::<N>(0.0f32), x)
        }
        Unit::Identity => x,
        Unit::NormalCdf => {
            let tail = normal_tail::<N>(magnitude::<N>(x, T_MAX));
            on_its_side::<N>(x, tail)
        }
    }
}

/// `1/7!, 1/6!, …, 1`: the series of `(1 − e^−t)/t` is Σ (−t)^k/(k + 1)!.
const FACTORIALS: [f32; 7] =
    [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];

/// `unit′(x)`.
#[cube]
pub(super) fn derivative<N: Size>(x: Vector<f32, N>, #[comptime] unit: Unit) -> Vector<f32, N> {
    let one = constant::<N>(1.0f32);
    match comptime!(unit) {
        Unit::Gelu => {
            let t = magnitude::<N>(x, T_MAX);
            let q = t / (t + constant::<N>(3.5f32)) - constant::<N>(SHIFT_P);
            let mut sum = constant::<N>(comptime!(P[8]));
            #[unroll]
            for k in 0..7u32 {
                sum = sum * q + constant::<N>(comptime!(P[7 - k as usize]));
            }
            let (high, low) = last_step::<N>(sum * q, comptime!(P[0]));
            // (T0 − t)·P, T0 in two parts: their sum first would be a constant's rounding.
            let near = constant::<N>(ZERO_HIGH) - t;
            let low = near * low + constant::<N>(ZERO_LOW) * high;
            let (s, scale) = normal_exponential::<N>(t);
            on_its_side::<N>(x, unscaled::<N>(in_parts::<N>(near * high, low, s), scale))
        }
        Unit::GeluTanh => {
            let t = magnitude::<N>(x, 10.5f32);
            let (s, scale) = tanh_exponential::<N>(t);
            let rise = constant::<N>(comptime!((3.0 * TANH_SLOPE * TANH_CUBIC) as f32));
            let slope = rise * t * t + constant::<N>(comptime!(TANH_SLOPE as f32));
            on_its_side::<N>(x, gated_slope::<N>(t * slope, s, scale))
        }
        Unit::GeluSigmoid => gated_derivative::<N>(x, comptime!(SIGMOID_SLOPE as f32)),
        Unit::Silu => gated_derivative::<N>(x, 1.0f32),
        Unit::Cauchy => {
            let t = x.abs();
            let far = t.greater_than(&one);
            let z = select_many(far, one / t, t);
            let y = z * z;
            let rest = z * y * arc::<N>(y);
            let near = z * constant::<N>(2.0f32) / (one + y) + rest;
            let near = constant::<N>(0.5f32) - near * constant::<N>(FRAC_1_PI);
            on_its_side::<N>(x, select_many(far, rest * constant::<N>(FRAC_1_PI), near))
        }
        Unit::Elu => {
            let t = magnitude::<N>(x, U_MAX);
            let below = exponential::<N>(t);
            let above = x.greater_than(&constant::<N>(0.0f32));
            select_many(above, one, below)
        }
        Unit::Relu => {
            let above = x.greater_than(&constant::<N>(0.0f32));
            let rest = x.less_equal(&constant::<N>(0.0f32));
            // What is neither is NaN.
            select_many(above, one, select_many(rest, constant::<N>(0.0f32), x))
        }
        Unit::Identity => select_many(x.equal(&x), one, x),
        Unit::NormalCdf => {
            let t = magnitude::<N>(x, T_MAX);
            let (s, scale) = normal_exponential::<N>(t);
            let height = constant::<N>(0.398_942_28f32);
            unscaled::<N>(height + height * s, scale)
        }
    }
}

#[cube]
fn constant<N: Size>(value: f32) -> Vector<f32, N> {
    Vector::new(value)
}

/// `min(|x|, limit)`; NaN stays.
#[cube]
fn magnitude<N: Size>(x: Vector<f32, N>, #[comptime] limit: f32) -> Vector<f32, N> {
    let t = x.abs();
    select_many(t.greater_than(&constant::<N>(limit)), constant::<N>(limit), t)
}

/// `x` for x > 0, else a zero of its sign; NaN stays.
#[cube]
fn positive_part<N: Size>(x: Vector<f32, N>) -> Vector<f32, N> {
    select_many(x.less_than(&constant::<N>(0.0f32)), constant::<N>(-0.0f32), x)
}

/// `tail` for x < 0, `1 − tail` otherwise.
#[cube]
fn on_its_side<N: Size>(x: Vector<f32, N>, tail: Vector<f32, N>) -> Vector<f32, N> {
    let negative = x.less_than(&constant::<N>(0.0f32));
    select_many(negative, tail, constant::<N>(1.0f32) - tail)
}

/// `Φ(−t)`.
#[cube]
fn normal_tail<N: Size>(t: Vector<f32, N>) -> Vector<f32, N> {
    let (sum, high, low) = mills::<N>(t);
    let (s, scale) = normal_exponential::<N>(t);
    unscaled::<N>(in_parts::<N>(high / sum, low / sum, s), scale)
}

/// The sum `t + 2.625`, and in two parts what `Φ(−t)/e^(−t²/2)` is times it.
#[cube]
fn mills<N: Size>(t: Vector<f32, N>) -> (Vector<f32, N>, Vector<f32, N>, Vector<f32, N>) {
    let sum = t + constant::<N>(2.625f32);
    let q = t / sum - constant::<N>(SHIFT_S);
    let mut series = constant::<N>(comptime!(S[9]));
    #[unroll]
    for k in 0..8u32 {
        series = series * q + constant::<N>(comptime!(S[8 - k as usize]));
    }
    let (high, low) = last_step::<N>(series * q, comptime!(S[0]));
    (sum, high, low)
}

/// `constant + product`, and what rounding took from it.
#[cube]
fn last_step<N: Size>(
    product: Vector<f32, N>,
    #[comptime] first: f32,
) -> (Vector<f32, N>, Vector<f32, N>) {
    let first = constant::<N>(first);
    let high = barrier::<N>(first + product, 0.1f32);
    (high, product - (high - first))
}

/// `(high + low)·(1 + s)`, rounded once but for the small parts.
#[cube]
fn in_parts<N: Size>(
    high: Vector<f32, N>,
    low: Vector<f32, N>,
    s: Vector<f32, N>,
) -> Vector<f32, N> {
    high + (low + (high + low) * s)
}

/// `e^(−t²/2)` as `(1 + s)·scale`; the scale is 0 at the clamp. The square is split where it is
/// exact.
#[cube]
fn normal_exponential<N: Size>(t: Vector<f32, N>) -> (Vector<f32, N>, Vector<f32, N>) {
    let top = masked::<N>(t, 0xFFFF_F000u32);
    let (s, scale) = exponential_parts::<N>(top * top, (t - top) * (t + top));
    let gone = t.greater_equal(&constant::<N>(T_MAX));
    (s, select_many(gone, constant::<N>(0.0f32), scale))
}

/// `e^−u` of the tanh form as [`series`] gives it, `u = 2√(2/π)·(t + 0.044715·t³)`. With `h` the multiple of 1/16 next to
/// `t`, `u` is three products that are exact, of `h` and its cube, and a rest below 2.
#[cube]
fn tanh_exponential<N: Size>(t: Vector<f32, N>) -> (Vector<f32, N>, Vector<f32, N>) {
    const SLOPE_HIGH: f32 = 3_268.0 / 2_048.0;
    const SLOPE_LOW: f32 = (TANH_SLOPE - 3_268.0 / 2_048.0) as f32;
    // 1/16 + 1/128 and what is left of the factor of t³.
    const CUBIC_LOW: f32 = (TANH_SLOPE * TANH_CUBIC - 9.0 / 128.0) as f32;
    const CUBIC: f32 = (TANH_SLOPE * TANH_CUBIC) as f32;
    let sixteenths = (t * constant::<N>(16.0f32) + constant::<N>(0.5f32)).floor();
    let h = sixteenths * constant::<N>(0.0625f32);
    let cube = h * h * h;
    // All twice, as the series wants it.
    let most = masked::<N>(cube * constant::<N>(0.125f32), 0xFFFF_FFFEu32);
    let some = masked::<N>(cube * constant::<N>(0.015_625f32), 0xFFFF_FFFEu32);
    let linear = masked::<N>(h * constant::<N>(comptime!(2.0 * SLOPE_HIGH)), 0xFFFF_FFFCu32);
    let powers = h * h + t * (h + t);
    let rest = h * constant::<N>(SLOPE_LOW)
        + cube * constant::<N>(CUBIC_LOW)
        + (t - h) * (powers * constant::<N>(CUBIC) + constant::<N>(comptime!(TANH_SLOPE as f32)));
    let rest = rest + rest;
    let n = halvings::<N>(most + some + linear + rest);
    let r = (most - whole::<N>(n)) + linear + some + (rest - n * constant::<N>(STEP_LOW));
    series::<N>(r, n)
}

/// `x·σ(slope·x)`.
#[cube]
fn gated<N: Size>(x: Vector<f32, N>, #[comptime] slope: f32) -> Vector<f32, N> {
    let t = magnitude::<N>(x, comptime!(U_MAX / slope));
    let (s, scale) = logistic_exponential::<N>(t, slope);
    positive_part::<N>(x) - gated_tail::<N>(t, s, scale)
}

/// `σ(u)·(1 + u·σ(−u))`, `u = slope·x`.
#[cube]
fn gated_derivative<N: Size>(x: Vector<f32, N>, #[comptime] slope: f32) -> Vector<f32, N> {
    let t = magnitude::<N>(x, comptime!(U_MAX / slope));
    let (s, scale) = logistic_exponential::<N>(t, slope);
    on_its_side::<N>(x, gated_slope::<N>(t * constant::<N>(slope), s, scale))
}

/// `t·σ(−u)`, given `e^−u`.
#[cube]
fn gated_tail<N: Size>(
    t: Vector<f32, N>,
    s: Vector<f32, N>,
    scale: Vector<f32, N>,
) -> Vector<f32, N> {
    let one = constant::<N>(1.0f32);
    let tail = t / (one + unscaled::<N>(one + s, scale));
    unscaled::<N>(tail + tail * s, scale)
}

/// `σ(−u)·(1 − t·u′·σ(u))`, given `t·u′` and `e^−u`.
#[cube]
fn gated_slope<N: Size>(
    rise: Vector<f32, N>,
    s: Vector<f32, N>,
    scale: Vector<f32, N>,
) -> Vector<f32, N> {
    let one = constant::<N>(1.0f32);
    let w = one / (one + unscaled::<N>(one + s, scale));
    let slope = w * (one - rise * w);
    unscaled::<N>(slope + slope * s, scale)
}

/// `e^(−slope·t)` as [`series`] gives it, the product split where it is exact.
#[cube]
fn logistic_exponential<N: Size>(
    t: Vector<f32, N>,
    #[comptime] slope: f32,
) -> (Vector<f32, N>, Vector<f32, N>) {
    let slope_top = comptime!(f32::from_bits(slope.to_bits() & 0xFFFF_F000));
    let top = masked::<N>(t, 0xFFFF_F000u32);
    let low = top * constant::<N>(comptime!(slope - slope_top)) + (t - top) * constant::<N>(slope);
    exponential_parts::<N>(top * constant::<N>(comptime!(2.0 * slope_top)), low + low)
}

/// `e^−t` for t ≥ 0.
#[cube]
fn exponential<N: Size>(t: Vector<f32, N>) -> Vector<f32, N> {
    let (s, scale) = exponential_parts::<N>(t + t, t - t);
    unscaled::<N>(constant::<N>(1.0f32) + s, scale)
}

/// `e^(−(high + low)/2)` for high ≥ 0 and a small low, as [`series`] gives it.
#[cube]
fn exponential_parts<N: Size>(
    high: Vector<f32, N>,
    low: Vector<f32, N>,
) -> (Vector<f32, N>, Vector<f32, N>) {
    let n = halvings::<N>(high);
    let r = (high - whole::<N>(n)) + (low - n * constant::<N>(STEP_LOW));
    series::<N>(r, n)
}

/// 2 ln 2 in two parts, n times the first of which is exact and ends in at least two zeros.
const STEP_HIGH: f32 = 22_713.0 / 16_384.0;
const STEP_LOW: f32 = (2.0 * core::f64::consts::LN_2 - 22_713.0 / 16_384.0) as f32;

/// How often `e^(−u/2)` is halved: the nearest integer to `u/(2 ln 2)`.
#[cube]
fn halvings<N: Size>(u: Vector<f32, N>) -> Vector<f32, N> {
    const PER_STEP: f32 = 0.5 * core::f32::consts::LOG2_E;
    (u * constant::<N>(PER_STEP) + constant::<N>(0.5f32)).floor()
}

/// The exact part of `2n ln 2`.
#[cube]
fn whole<N: Size>(n: Vector<f32, N>) -> Vector<f32, N> {
    masked::<N>(n * constant::<N>(STEP_HIGH), 0xFFFF_FFFCu32)
}

/// `e^(−r/2)·2^−n` as `(1 + s)·scale`, the scale [`BIAS`] powers of two too large, so that it is
/// no subnormal where its product with a large number is none; 0 where that would be one.
#[cube]
fn series<N: Size>(r: Vector<f32, N>, n: Vector<f32, N>) -> (Vector<f32, N>, Vector<f32, N>) {
    let mut sum = constant::<N>(comptime!(SERIES_HALF[5]));
    #[unroll]
    for k in 0..5u32 {
        sum = sum * r + constant::<N>(comptime!(SERIES_HALF[4 - k as usize]));
    }
    let exponent = Vector::<u32, N>::cast_from(constant::<N>(comptime!(127.0 + BIAS)) - n);
    let scale = Vector::<f32, N>::reinterpret(exponent << Vector::new(23u32));
    let gone = n.greater_than(&constant::<N>(comptime!(126.0 + BIAS)));
    (r * sum, select_many(gone, constant::<N>(0.0f32), scale))
}

const BIAS: f32 = 24.0;

/// The product with a scale, without its bias.
#[cube]
fn unscaled<N: Size>(x: Vector<f32, N>, scale: Vector<f32, N>) -> Vector<f32, N> {
    x * scale * constant::<N>(1.0f32 / 16_777_216.0f32)
}

/// `x` with only some of its bits. Where those are all that it has, a wall that no compiler
/// regroups a sum or a product across.
#[cube]
fn masked<N: Size>(x: Vector<f32, N>, #[comptime] mask: u32) -> Vector<f32, N> {
    Vector::<f32, N>::reinterpret(Vector::<u32, N>::reinterpret(x) & Vector::new(mask))
}

/// `x`, which is never below `least`: no compiler regroups a sum across it.
#[cube]
fn barrier<N: Size>(x: Vector<f32, N>, #[comptime] least: f32) -> Vector<f32, N> {
    select_many(x.less_than(&constant::<N>(least)), constant::<N>(least), x)
}

/// `Q(y)` of the Cauchy unit.
#[cube]
fn arc<N: Size>(y: Vector<f32, N>) -> Vector<f32, N> {
    let mut sum = constant::<N>(comptime!(Q[14] as f32));
    #[unroll]
    for k in 0..14u32 {
        sum = sum * y + constant::<N>(comptime!(Q[13 - k as usize] as f32));
    }
    sum
}
