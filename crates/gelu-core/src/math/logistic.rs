//! Units gated by the logistic function σ: SiLU and the two approximations of GELU.
//!
//! All are `x·σ(u(x))` with an odd `u`: `x` for SiLU, `1.702·x` for the sigmoid form, and
//! `2·√(2/π)·(x + 0.044715·x³)` for the tanh form, since `(1 + tanh z)/2 = σ(2z)`. The derivative
//! is `σ(u)·(1 + x·u′·σ(−u))`. Only `exp(−|u|)` is formed, so nothing overflows.

use super::exp::exp;

/// Where `exp(−|u|)` has long become 0 in f32.
const U_MAX: f64 = 150.0;

/// Slope of the sigmoid form.
pub(crate) const SIGMOID_SLOPE: f64 = 1.702;
/// `2·√(2/π)`.
pub(crate) const TANH_SLOPE: f64 = 1.595_769_121_605_730_8;
/// The cubic term's factor in the tanh form.
pub(crate) const TANH_CUBIC: f64 = 0.044_715;

/// `x·σ(x)` (SiLU, swish). −0 for −0 and −∞, +∞ for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn silu(x: f64) -> f64 {
    gated(x, x)
}

/// The derivative of [`silu`].
#[inline(always)]
pub(crate) fn silu_derivative(x: f64) -> f64 {
    gated_derivative(x, x, 1.0)
}

/// `x·σ(1.702·x)`.
#[inline(always)]
pub(crate) fn gelu_sigmoid(x: f64) -> f64 {
    gated(x, SIGMOID_SLOPE * x)
}

/// The derivative of [`gelu_sigmoid`].
#[inline(always)]
pub(crate) fn gelu_sigmoid_derivative(x: f64) -> f64 {
    gated_derivative(x, SIGMOID_SLOPE * x, SIGMOID_SLOPE)
}

/// `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))`.
#[inline(always)]
pub(crate) fn gelu_tanh(x: f64) -> f64 {
    gated(x, TANH_SLOPE * (x + TANH_CUBIC * (x * x * x)))
}

/// The derivative of [`gelu_tanh`].
#[inline(always)]
pub(crate) fn gelu_tanh_derivative(x: f64) -> f64 {
    let square = x * x;
    let u = TANH_SLOPE * (x + TANH_CUBIC * (square * x));
    gated_derivative(x, u, TANH_SLOPE * (1.0 + 3.0 * TANH_CUBIC * square))
}

/// `x·σ(u)`.
#[inline(always)]
fn gated(x: f64, u: f64) -> f64 {
    let (negative, e) = tail(u);
    let value = x * (if negative { e } else { 1.0 }) / (1.0 + e);
    // −∞·0: past the clamp the value is 0 in f32 anyway.
    if x < -1e30 { -0.0 } else { value }
}

/// `σ(u)·(1 + x·u′·σ(−u))`.
#[inline(always)]
fn gated_derivative(x: f64, u: f64, du: f64) -> f64 {
    let (negative, e) = tail(u);
    let w = 1.0 / (1.0 + e);
    let (sigma, other) = if negative { (e * w, w) } else { (w, e * w) };
    let value = sigma * (1.0 + x * du * other);
    // Far out x·u′ may be infinite; the limits are 0 and 1.
    let value = if x < -1e30 { 0.0 } else { value };
    if x > 1e30 { 1.0 } else { value }
}

#[inline(always)]
fn tail(u: f64) -> (bool, f64) {
    let magnitude = u.abs();
    let clamped = if magnitude > U_MAX { U_MAX } else { magnitude };
    let e = exp(-clamped);
    // At the clamp exactly 0, so that no factor can bring it back.
    (u < 0.0, if magnitude > U_MAX { 0.0 } else { e })
}
