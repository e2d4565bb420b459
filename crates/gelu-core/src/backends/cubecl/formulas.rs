//! The units on vectors of f32, in arithmetic that no compiler's choice can spoil: nothing here
//! needs a fused multiply-add, and nothing suffers from one. Native exponentials are not used,
//! since their accuracy differs from device to device. Formulation and coefficients are those of
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
/// Where the logistic tail is 0 or subnormal.
const U_MAX: f32 = 88.0;
const FRAC_1_PI: f32 = core::f32::consts::FRAC_1_PI;

/// `unit(x)`.
#[cube]
pub(super) fn value<N: Size>(x: Vector<f32, N>, #[comptime] unit: Unit) -> Vector<f32, N> {
    match comptime!(unit) {
        Unit::Gelu => {
            let t = magnitude::<N>(x, T_MAX);
            let tail = t * normal_tail::<N>(t);
            positive_part::<N>(x) - tail
        }
        Unit::GeluTanh => {
            let t = magnitude::<N>(x, 10.5f32);
            let e = tanh_exponential::<N>(t);
            positive_part::<N>(x) - t * (e / (constant::<N>(1.0f32) + e))
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
            let far = exponential::<N>(t, t - t) - constant::<N>(1.0f32);
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
            let v = t / (t + constant::<N>(3.5f32));
            let q = v - constant::<N>(SHIFT_P);
            let mut sum = constant::<N>(comptime!(P[8]));
            #[unroll]
            for k in 0..8u32 {
                sum = sum * q + constant::<N>(comptime!(P[7 - k as usize]));
            }
            let distance = (constant::<N>(ZERO_HIGH) - t) + constant::<N>(ZERO_LOW);
            let slope = distance * sum * normal_exponential::<N>(t);
            on_its_side::<N>(x, slope)
        }
        Unit::GeluTanh => {
            let t = magnitude::<N>(x, 10.5f32);
            let e = tanh_exponential::<N>(t);
            let w = one / (one + e);
            let rise = constant::<N>(comptime!(3.0 * TANH_SLOPE as f32 * TANH_CUBIC as f32));
            let slope = rise * t * t + constant::<N>(comptime!(TANH_SLOPE as f32));
            on_its_side::<N>(x, e * w * (one - t * slope * w))
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
            let below = exponential::<N>(t, t - t);
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
            normal_exponential::<N>(t) * constant::<N>(0.398_942_28f32)
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
    let sum = t + constant::<N>(2.625f32);
    let q = t / sum - constant::<N>(SHIFT_S);
    let mut series = constant::<N>(comptime!(S[9]));
    #[unroll]
    for k in 0..9u32 {
        series = series * q + constant::<N>(comptime!(S[8 - k as usize]));
    }
    normal_exponential::<N>(t) * (series / sum)
}

/// `e^(−t²/2)`, 0 at the clamp. The square is split where it is exact.
#[cube]
fn normal_exponential<N: Size>(t: Vector<f32, N>) -> Vector<f32, N> {
    let bits = Vector::<u32, N>::reinterpret(t) & Vector::new(0xFFFF_F000u32);
    let top = Vector::<f32, N>::reinterpret(bits);
    let half = constant::<N>(0.5f32);
    let e = exponential::<N>(top * top * half, (t - top) * (t + top) * half);
    select_many(t.greater_equal(&constant::<N>(T_MAX)), constant::<N>(0.0f32), e)
}

/// `e^−u` of the tanh form, `u` summed in an exact and a small part.
#[cube]
fn tanh_exponential<N: Size>(t: Vector<f32, N>) -> Vector<f32, N> {
    // The first 12 bits of the slope, and few bits of the cubic's, times which the powers of an h
    // of 8 bits are exact.
    let slope_high = constant::<N>(comptime!(SLOPE_HIGH));
    let cubic_high = constant::<N>(comptime!(CUBIC_HIGH));
    let h = (t * constant::<N>(16.0f32)).floor() * constant::<N>(0.0625f32);
    let cube = h * h * h;
    let cubic = constant::<N>(comptime!((TANH_SLOPE * TANH_CUBIC) as f32));
    let powers = h * h + t * (h + t);
    let rest = h * constant::<N>(comptime!((TANH_SLOPE - SLOPE_HIGH as f64) as f32))
        + cube * constant::<N>(comptime!((TANH_SLOPE * TANH_CUBIC - CUBIC_HIGH as f64) as f32))
        + (t - h) * (powers * cubic + constant::<N>(comptime!(TANH_SLOPE as f32)));
    let linear = exponential::<N>(h * slope_high, rest);
    linear * exponential::<N>(cube * cubic_high, rest - rest)
}

const SLOPE_HIGH: f32 = 1634.0 / 1024.0;
const CUBIC_HIGH: f32 = 9.0 / 128.0;

/// `x·σ(slope·x)`.
#[cube]
fn gated<N: Size>(x: Vector<f32, N>, #[comptime] slope: f32) -> Vector<f32, N> {
    let t = magnitude::<N>(x, comptime!(100.0 / slope));
    let e = logistic_exponential::<N>(t, slope);
    positive_part::<N>(x) - t * (e / (constant::<N>(1.0f32) + e))
}

/// `σ(u)·(1 + u·σ(−u))`, `u = slope·x`.
#[cube]
fn gated_derivative<N: Size>(x: Vector<f32, N>, #[comptime] slope: f32) -> Vector<f32, N> {
    let one = constant::<N>(1.0f32);
    let t = magnitude::<N>(x, comptime!(100.0 / slope));
    let e = logistic_exponential::<N>(t, slope);
    let w = one / (one + e);
    on_its_side::<N>(x, e * w * (one - t * constant::<N>(slope) * w))
}

/// `e^(−slope·t)`, the product split where it is exact.
#[cube]
fn logistic_exponential<N: Size>(t: Vector<f32, N>, #[comptime] slope: f32) -> Vector<f32, N> {
    let slope_top = comptime!(f32::from_bits(slope.to_bits() & 0xFFFF_F000));
    let bits = Vector::<u32, N>::reinterpret(t) & Vector::new(0xFFFF_F000u32);
    let top = Vector::<f32, N>::reinterpret(bits);
    let low = top * constant::<N>(comptime!(slope - slope_top)) + (t - top) * constant::<N>(slope);
    exponential::<N>(top * constant::<N>(slope_top), low)
}

/// `e^−(high + low)` for high ≥ 0 and a small low; 0 where it would be subnormal.
#[cube]
fn exponential<N: Size>(high: Vector<f32, N>, low: Vector<f32, N>) -> Vector<f32, N> {
    // ln 2 in two parts, n times the first of which is exact.
    const LN_2_HIGH: f32 = 22_713.0 / 32_768.0;
    const LN_2_LOW: f32 = (core::f64::consts::LN_2 - 22_713.0 / 32_768.0) as f32;
    let n = (high * constant::<N>(core::f32::consts::LOG2_E) + constant::<N>(0.5f32)).floor();
    let r = (high - n * constant::<N>(LN_2_HIGH)) + (low - n * constant::<N>(LN_2_LOW));
    // The series is that of e^(−r/2).
    let twice = r + r;
    let mut series = constant::<N>(comptime!(SERIES_HALF[5]));
    #[unroll]
    for k in 0..5u32 {
        series = series * twice + constant::<N>(comptime!(SERIES_HALF[4 - k as usize]));
    }
    let mantissa = twice * series + constant::<N>(1.0f32);
    let exponent = Vector::<u32, N>::cast_from(constant::<N>(127.0f32) - n);
    let scale = Vector::<f32, N>::reinterpret(exponent << Vector::new(23u32));
    let gone = n.greater_than(&constant::<N>(126.0f32));
    select_many(gone, constant::<N>(0.0f32), mantissa * scale)
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
