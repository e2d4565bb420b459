//! ELU with α = 1: `x` for x > 0, `e^x − 1` below.

use super::exp::{exp, exp_m1};

/// Where `e^x` has long become 0 beside 1.
const X_MIN: f64 = -150.0;

/// `x` for x > 0, else `e^x − 1`. Keeps the sign of a zero; −1 for −∞, +∞ for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn elu(x: f64) -> f64 {
    let below = exp_m1(clamped(x));
    // Adding x·0 would be the other way to keep −0; a selection costs less.
    if x < 0.0 { below } else { x }
}

/// 1 for x > 0, else `e^x`. 0 for −∞, NaN for NaN.
#[inline(always)]
pub(crate) fn elu_derivative(x: f64) -> f64 {
    let below = if x < X_MIN { 0.0 } else { exp(clamped(x)) };
    if x > 0.0 { 1.0 } else { below }
}

#[inline(always)]
fn clamped(x: f64) -> f64 {
    let x = if x > 0.0 { 0.0 } else { x };
    if x < X_MIN { X_MIN } else { x }
}
