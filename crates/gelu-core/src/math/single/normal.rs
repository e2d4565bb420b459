//! The exact GELU and its derivative.
//!
//! With `t = |x|`, `E = e^(−t²/2)` and Φ the CDF of the standard normal distribution,
//!
//! ```text
//! t·Φ(−t)        = E · v · S(v − SHIFT_S)            v = t / (t + 2.625)
//! Φ(−t) − t·φ(t) = E · (T0 − t) · P(v − SHIFT_P)     v = t / (t + 3.5)
//! ```
//!
//! S and P are far from 0, so nothing cancels, and the derivative's zero at −T0 is a factor. The
//! other sign follows from `GELU(x) − GELU(−x) = x` and `GELU′(x) + GELU′(−x) = 1`.
//!
//! On 0 ≤ t ≤ 14.625, beyond which all is 0, the fits' relative errors are 2^-25.8 (S) and
//! 2^-26.1 (P); `tests/accuracy/fit_single.py` prints the coefficients. The polynomials and
//! T0 − t are carried in two parts, and the last product is rounded once, fused into its sum.

use super::exponential::{Exponential, unbias};
use super::on_its_side;
use crate::math::real::Real;

/// Where `E` is 0 with the power of two's bias.
const T_MAX: f32 = 14.625;
/// Makes the exponent field of the scale exactly 0 at [`T_MAX`].
const BIAS: u32 = 27;

pub(crate) const SHIFT_S: f32 = 0.45;
pub(crate) const S: [f32; 10] = [
    0.760_191_7,
    -0.972_596,
    0.629_108_4,
    0.031_879_04,
    -0.274_951_3,
    -0.024_045_78,
    0.157_035_32,
    0.066_536_9,
    -0.075_013_53,
    -0.069_326_445,
];
pub(crate) const SHIFT_P: f32 = 0.331_25;
pub(crate) const P: [f32; 9] = [
    0.514_498_53,
    -0.317_814_47,
    0.334_612_25,
    -0.221_972_69,
    0.056_795_005,
    0.034_938_384,
    -0.023_300_46,
    -0.010_220_638_5,
    0.009_587_436,
];

/// The derivative's zero T0 as the nearest f32, and what is left of it.
pub(crate) const ZERO_HIGH: f32 = 0.751_791_54;
pub(crate) const ZERO_LOW: f32 = -1.211_445e-8;

/// `x·Φ(x)`. −0 for −0 and −∞, +∞ for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn gelu<R: Real>(x: R) -> R {
    let t = x.abs().at_most(T_MAX);
    let e = exponential(t);
    let v = t / (t + R::of(2.625));
    let (high, low) = in_two_parts(v - R::of(SHIFT_S), &S, e.s);
    let tail = v.mul_add(high, v * low);
    (tail * e.scale).mul_add(-unbias::<R, BIAS>(), x.positive_part())
}

/// `Φ(x) + x·φ(x)`, the derivative of [`gelu`]. 0 for −∞, 1 for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn gelu_derivative<R: Real>(x: R) -> R {
    let t = x.abs().at_most(T_MAX);
    let e = exponential(t);
    let v = t / (t + R::of(3.5));
    // T0 − t and what its rounding lost.
    let distance = R::of(ZERO_HIGH) - t;
    let lost = (R::of(ZERO_HIGH) - (distance + t)) + R::of(ZERO_LOW);
    let (high, low) = in_two_parts(v - R::of(SHIFT_P), &P, e.s);
    let rest = distance.mul_add(low, lost.mul_add(low, lost * high));
    let slope = distance.mul_add(high, rest) * e.scale;
    on_its_side(x, slope, unbias::<R, BIAS>(), 0.0, 1.0)
}

/// `e^(−t²/2)`.
#[inline(always)]
fn exponential<R: Real>(t: R) -> Exponential<R> {
    let square = t * t;
    Exponential::of_half::<BIAS>(square, t.mul_add_exact(t, -square))
}

/// `polynomial(q)·(1 + s)` as the rounded polynomial and the rest.
#[inline(always)]
fn in_two_parts<R: Real, const N: usize>(q: R, polynomial: &[f32; N], s: R) -> (R, R) {
    let constant = R::of(polynomial[0]);
    let mut sum = R::of(polynomial[N - 1]);
    let mut index = N - 1;
    while index > 1 {
        index -= 1;
        sum = sum.mul_add(q, R::of(polynomial[index]));
    }
    let high = q.mul_add(sum, constant);
    (high, high.mul_add(s, q.mul_add_exact(sum, constant - high)))
}
