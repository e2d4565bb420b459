//! The "Laplace" activation, `Φ((x − 0.707107)/0.282095)`: the CDF that approximates a squared ReLU
//! (Ma et al., arXiv 2209.10655; transformers' `laplace`).
//!
//! The code carries `x − μ` and the square in the exponential in two parts, because far out the
//! square multiplies their rounding errors.

use super::Function;
use super::normal_cdf::{self, FRAC_1_SQRT_2_PI};
use crate::arithmetic::{Arithmetic, Exponential};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Laplace;

impl Function for Laplace {
    const NAME: &str = "laplace";
    const LABEL: &str = "Laplace";

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let (distance, e) = standardised(x);
        let t = distance.clone().abs() * PER_SIGMA;
        A::on_its_side(&distance, normal_cdf::tail(t, e))
    }

    /// Returns `φ((x − μ)/σ)/σ`; 0 for ±∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let height = x.constant(FRAC_1_SQRT_2_PI * PER_SIGMA);
        standardised(x).1.times(height)
    }

    /// Returns `−(x − μ)/σ²` times the derivative; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let (distance, e) = standardised(x);
        e.times(distance * (-FRAC_1_SQRT_2_PI * PER_SIGMA * PER_SIGMA * PER_SIGMA))
    }
}

#[allow(clippy::approx_constant, reason = "six digits of 1/√2 are the function's definition")]
const MEAN: f64 = 0.707_107;
const LEFT_OF_MEAN: f64 = -4.106_226_469_957_619e-17;
/// The factor `1/σ`.
const PER_SIGMA: f64 = 3.544_905_085_166_344_6;
/// The factor `1/(2·σ²)` in the exponent.
const SCALE: f64 = 6.283_176_031_419_105;
const LEFT_OF_SCALE: f64 = -6.258_852_415_519_257e-17;

/// Returns `x − μ`, clamped to the range where the result is not rounded to 0 or 1, and
/// `e^(−(x − μ)²/(2σ²))`.
#[inline(always)]
fn standardised<A: Arithmetic>(x: A) -> (A, A::Exponential) {
    let limit = normal_cdf::fit(x.digits()).reach / PER_SIGMA;
    let x = x.at_most(MEAN + limit).at_least(MEAN - limit);
    let leading = x.leading(MEAN);
    let high = (x.clone() - MEAN).split().0;
    let low = (x - (high.clone() + leading)) - ((MEAN - leading) + LEFT_OF_MEAN);
    let distance = high.clone() + low.clone();
    let square = high.clone() * high.clone();
    let (scaled, lost) = square.clone().product(high.constant(SCALE));
    let rest = low * (high + distance.clone()) * SCALE;
    let left = distance.left_of(SCALE, LEFT_OF_SCALE);
    let e = (-scaled).exponential(-(rest + lost + square * left));
    (distance, e)
}
