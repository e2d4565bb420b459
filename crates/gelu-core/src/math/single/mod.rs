//! GELU and its tanh form in f32 alone: the formulas that the vector units run fastest.
//!
//! Written on [`Real`](super::real::Real), so that processors with and without a fused
//! multiply-add get the same bits. Branch-free, so that a loop over them vectorises.

pub(crate) mod exponential;
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

/// Adds a tail to what the function is without it on that side: `below + tail·unbias` for x < 0,
/// `above − tail·unbias` otherwise.
#[inline(always)]
fn on_its_side<R: Real>(x: R, tail: R, unbias: R, below: f32, above: f32) -> R {
    // Selecting operands costs less than computing both.
    let factor = x.if_negative(unbias, -unbias);
    let base = x.if_negative(R::of(below), R::of(above));
    tail.mul_add(factor, base)
}
