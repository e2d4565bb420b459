//! The tanh form of GELU and its derivative.
//!
//! `0.5·x·(1 + tanh z) = x·σ(2z)`, so with `t = |x|`, `u = 2√(2/π)·(t + 0.044715·t³)`, `E = e^−u`
//! and `w = σ(u) = 1/(1 + E)`,
//!
//! ```text
//! t·σ(−u)                = E · t·w
//! σ(−u) − t·u′·σ(−u)·σ(u) = E · w·(1 − t·u′·w)
//! ```
//!
//! and the other sign follows as for the exact form. `u` and `t·u′` are carried in two parts:
//! what is lost of them would be multiplied in the tail.

use super::exponential::{Exponential, unbias};
use super::on_its_side;
use crate::math::real::Real;

/// Where `E` is 0 with the power of two's bias.
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

/// `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))`. −0 for −0 and −∞, +∞ for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn gelu_tanh<R: Real>(x: R) -> R {
    let t = x.abs().at_most(T_MAX);
    let e = exponential(Square::of(t));
    let gated = t / (R::of(1.0) + value(e));
    let tail = gated.mul_add(e.s, gated);
    (tail * e.scale).mul_add(-unbias::<R, BIAS>(), x.positive_part())
}

/// The derivative of [`gelu_tanh`]. 0 for −∞, 1 for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn gelu_tanh_derivative<R: Real>(x: R) -> R {
    let one = R::of(1.0);
    let t = x.abs().at_most(T_MAX);
    let square = Square::of(t);
    let e = exponential(square);
    let small = value(e);
    // 1/(1 + E) as 1 − E/(1 + E): where E is small, so is what the division loses.
    let w = (-small).mul_add(one / (one + small), one);
    // t·u′
    let rise = square.high.mul_add(R::of(CUBIC_SLOPE), R::of(SLOPE_HIGH));
    let rise_low = square.high.mul_add_exact(R::of(CUBIC_SLOPE), R::of(SLOPE_HIGH) - rise)
        + square.low.mul_add(R::of(CUBIC_SLOPE), R::of(SLOPE_LOW));
    let product = t * rise;
    let product_low = t.mul_add(rise_low, t.mul_add_exact(rise, -product));
    let bracket = (-product).mul_add(w, one);
    let gated = w * bracket;
    let gated_low = w.mul_add(-product_low * w, w.mul_add_exact(bracket, -gated));
    let slope = (gated + gated.mul_add(e.s, gated_low.mul_add(e.s, gated_low))) * e.scale;
    on_its_side(x, slope, unbias::<R, BIAS>(), 0.0, 1.0)
}

/// `t²` and what its rounding lost.
#[derive(Clone, Copy)]
struct Square<R> {
    t: R,
    high: R,
    low: R,
}

impl<R: Real> Square<R> {
    #[inline(always)]
    fn of(t: R) -> Self {
        let high = t * t;
        Self { t, high, low: t.mul_add_exact(t, -high) }
    }
}

/// `E`.
#[inline(always)]
fn exponential<R: Real>(square: Square<R>) -> Exponential<R> {
    let Square { t, high, low } = square;
    let slope = high.mul_add(R::of(CUBIC_HIGH), R::of(SLOPE_HIGH));
    let slope_low = high.mul_add_exact(R::of(CUBIC_HIGH), R::of(SLOPE_HIGH) - slope)
        + low.mul_add(R::of(CUBIC_HIGH), high.mul_add(R::of(CUBIC_LOW), R::of(SLOPE_LOW)));
    let u = t * slope;
    Exponential::of::<BIAS>(u, t.mul_add(slope_low, t.mul_add_exact(slope, -u)))
}

/// `E` as a number, 0 where it would be subnormal.
#[inline(always)]
fn value<R: Real>(e: Exponential<R>) -> R {
    e.s.mul_add(e.scale, e.scale) * unbias::<R, BIAS>()
}
