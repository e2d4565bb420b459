//! The exact GELU and its derivative.
//!
//! With `t = |x|`, `E = e^(−t²/2)` and Φ the CDF of the standard normal distribution,
//!
//! ```text
//! t·Φ(−t)        = E · v · S(v − V_S)            v = t / (t + 2.625)
//! Φ(−t) − t·φ(t) = E · (T0 − t) · P(v − V_P)     v = t / (t + 4)
//! ```
//!
//! S and P are far from 0, so nothing cancels, and the derivative's zero at −T0 is a factor. The
//! other sign follows from `GELU(x) − GELU(−x) = x` and `GELU′(x) + GELU′(−x) = 1`.
//!
//! On 0 ≤ t ≤ 14.625, beyond which all is 0, the fits' relative errors are 2^-26.5 (S) and
//! 2^-24.5 (P); `tests/accuracy/fit_single.py` prints the coefficients. The constant term, its
//! rounding error and the product with the first factor are carried in two parts.

use super::exponential::{Exponential, unbias};
use super::{at_most, positive_part};
use crate::math::real::Real;

/// Where `E` is 0 with the power of two's bias.
const T_MAX: f32 = 14.625;
/// Makes the exponent field of the scale exactly 0 at [`T_MAX`].
const BIAS: u32 = 27;

const SHIFT_S: f32 = 0.268_75;
const S: [f32; 10] = [0.956_665_1, -1.191_252, 0.561_218_9, 0.207_765_8, -0.193_560_76, -0.133_782_12, 0.038_551_267, 0.096_408_606, 0.031_182_399, -0.065_012_6];
const SHIFT_P: f32 = 0.468_75;
const P: [f32; 8] = [0.468_914_8, -0.222_524_21, 0.263_820_56, -0.244_256_15, 0.160_921_89, -0.054_307_554, -0.015_880_523, 0.020_291_507];

/// The derivative's zero T0 in three parts: 20 bits behind the point, from which `t` is subtracted
/// without rounding near it; the rest of the nearest f32; and the rest.
const ZERO: [f32; 3] = [0.751_791_95, -4.172325e-07, -1.211445e-08];

/// `x·Φ(x)`. −0 for −0 and −∞, +∞ for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn gelu<R: Real>(x: R) -> R {
    let t = at_most(x.abs(), T_MAX);
    let e = exponential(t);
    let v = t / (t + R::of(2.625));
    let tail = product(v, v - R::of(SHIFT_S), &S, e.s);
    (tail * e.scale).mul_add(-unbias::<R, BIAS>(), positive_part(x))
}

/// `Φ(x) + x·φ(x)`, the derivative of [`gelu`]. 0 for −∞, 1 for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn gelu_derivative<R: Real>(x: R) -> R {
    let t = at_most(x.abs(), T_MAX);
    let e = exponential(t);
    let v = t / (t + R::of(4.0));
    let distance = ((R::of(ZERO[0]) - t) + R::of(ZERO[1])) + R::of(ZERO[2]);
    let slope = product(distance, v - R::of(SHIFT_P), &P, e.s) * e.scale;
    if x.is_negative() {
        slope.mul_add(unbias::<R, BIAS>(), R::of(0.0))
    } else {
        slope.mul_add(-unbias::<R, BIAS>(), R::of(1.0))
    }
}

/// `e^(−t²/2)`.
#[inline(always)]
fn exponential<R: Real>(t: R) -> Exponential<R> {
    let square = t * t;
    Exponential::of_half::<BIAS>(square, t.mul_add(t, -square))
}

/// `factor · polynomial(q) · (1 + s)`, rounded little more than once.
#[inline(always)]
fn product<R: Real, const N: usize>(factor: R, q: R, polynomial: &[f32; N], s: R) -> R {
    let constant = R::of(polynomial[0]);
    let mut rest = R::of(polynomial[N - 1]);
    let mut index = N - 1;
    while index > 1 {
        index -= 1;
        rest = rest.mul_add(q, R::of(polynomial[index]));
    }
    let high = q.mul_add(rest, constant);
    let low = q.mul_add(rest, constant - high);
    let low = high.mul_add(s, low);
    let whole = factor * high;
    whole + factor.mul_add(low, factor.mul_add(high, -whole))
}
