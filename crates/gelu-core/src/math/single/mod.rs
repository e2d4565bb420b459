//! GELU and its tanh form in f32 alone: the formulas that the vector units run fastest.
//!
//! Written on [`Real`](super::real::Real), so that processors with and without a fused
//! multiply-add get the same bits. Branch-free, so that a loop over them vectorises.

mod exponential;
pub(crate) mod normal;
pub(crate) mod tanh;

use super::real::Real;

/// `Σ coefficients[k]·v^k`.
#[inline(always)]
fn horner<R: Real, const N: usize>(coefficients: &[f32; N], v: R) -> R {
    let mut sum = R::of(coefficients[N - 1]);
    let mut index = N - 1;
    while index > 0 {
        index -= 1;
        sum = sum.mul_add(v, R::of(coefficients[index]));
    }
    sum
}

/// `min(t, limit)` that lets NaN pass.
#[inline(always)]
fn at_most<R: Real>(t: R, limit: f32) -> R {
    if t.exceeds(limit) { R::of(limit) } else { t }
}

/// `max(x, −0)` that lets NaN pass and keeps the sign of a zero.
#[inline(always)]
fn positive_part<R: Real>(x: R) -> R {
    if x.is_negative() { R::of(-0.0) } else { x }
}
