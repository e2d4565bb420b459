//! The same functions for f64 tensors, by libm.
//!
//! Products that end in an exponent are carried with their rounding error (`fma`), since the
//! exponential turns an absolute error of its argument into a relative one of the result.

use super::logistic::{SIGMOID_SLOPE, TANH_CUBIC, TANH_SLOPE};
use core::f64::consts::FRAC_1_SQRT_2;
use libm::{erfc, exp, expm1, fma};

/// What [`FRAC_1_SQRT_2`] lacks of 1/√2.
const FRAC_1_SQRT_2_LOW: f64 = -4.833_646_656_726_457e-17;
const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;
const FRAC_1_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;
/// Where the normal tail is 0 even as a subnormal.
const T_MAX: f64 = 39.0;
/// Where the logistic tail is 0 even as a subnormal.
const U_MAX: f64 = 760.0;

/// `exp(−t²/2)` with the rounding error of the square put back.
fn normal_exponential(t: f64) -> f64 {
    let square = t * t;
    let low = fma(t, t, -square);
    exp(-0.5 * square) * (1.0 - 0.5 * low)
}

/// `Φ(−t)` for t ≥ 0.
fn normal_tail(t: f64) -> f64 {
    let z = t * FRAC_1_SQRT_2;
    let low = fma(t, FRAC_1_SQRT_2, -z) + t * FRAC_1_SQRT_2_LOW;
    0.5 * erfc(z) - low * exp(-z * z) * FRAC_1_SQRT_PI
}

fn magnitude(x: f64) -> f64 {
    let t = x.abs();
    if t > T_MAX { T_MAX } else { t }
}

pub(crate) fn gelu(x: f64) -> f64 {
    let t = magnitude(x);
    let base = if -0.0 > x { -0.0 } else { x };
    base - t * normal_tail(t)
}

pub(crate) fn gelu_derivative(x: f64) -> f64 {
    let t = magnitude(x);
    let slope = normal_tail(t) - t * FRAC_1_SQRT_2_PI * normal_exponential(t);
    if x < 0.0 { slope } else { 1.0 - slope }
}

/// A product or sum as its rounded value and what the rounding lost.
#[derive(Clone, Copy)]
struct Exact {
    high: f64,
    low: f64,
}

impl Exact {
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: fma(a, b, -high) }
    }

    fn times(self, b: f64) -> Self {
        let Self { high, low } = Self::product(self.high, b);
        Self { high, low: low + self.low * b }
    }

    fn plus(self, b: f64) -> Self {
        let high = self.high + b;
        let from_b = high - self.high;
        let lost = (self.high - (high - from_b)) + (b - from_b);
        Self { high, low: lost + self.low }
    }
}

fn sigmoid_argument(x: f64) -> Exact {
    Exact::product(SIGMOID_SLOPE, x)
}

fn tanh_argument(x: f64) -> Exact {
    // Past this the gate is 0 or 1, and the cube would overflow.
    let x = x.clamp(-30.0, 30.0);
    Exact::product(x, x).times(TANH_CUBIC).plus(1.0).times(x).times(TANH_SLOPE)
}

/// σ(u) and σ(−u).
fn gate(u: Exact) -> (f64, f64) {
    let magnitude = u.high.abs();
    let e = match magnitude > U_MAX {
        true => 0.0,
        false => exp(-magnitude) * (1.0 - if u.high < 0.0 { -u.low } else { u.low }),
    };
    let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
    if u.high < 0.0 { (small, large) } else { (large, small) }
}

fn gated(x: f64, u: Exact) -> f64 {
    let (sigma, _) = gate(u);
    match (x.is_nan(), sigma == 0.0) {
        (true, _) => x,
        (_, true) => -0.0,
        _ => x * sigma,
    }
}

fn gated_derivative(x: f64, u: Exact, du: f64) -> f64 {
    let (sigma, other) = gate(u);
    if x.is_nan() {
        return x;
    }
    if sigma == 0.0 || other == 0.0 {
        return sigma;
    }
    sigma * (1.0 + x * du * other)
}

pub(crate) fn silu(x: f64) -> f64 {
    gated(x, Exact { high: x, low: 0.0 })
}

pub(crate) fn silu_derivative(x: f64) -> f64 {
    gated_derivative(x, Exact { high: x, low: 0.0 }, 1.0)
}

pub(crate) fn gelu_sigmoid(x: f64) -> f64 {
    gated(x, sigmoid_argument(x))
}

pub(crate) fn gelu_sigmoid_derivative(x: f64) -> f64 {
    gated_derivative(x, sigmoid_argument(x), SIGMOID_SLOPE)
}

pub(crate) fn gelu_tanh(x: f64) -> f64 {
    gated(x, tanh_argument(x))
}

pub(crate) fn gelu_tanh_derivative(x: f64) -> f64 {
    gated_derivative(x, tanh_argument(x), TANH_SLOPE * (1.0 + 3.0 * TANH_CUBIC * (x * x)))
}

pub(crate) fn elu(x: f64) -> f64 {
    if x < 0.0 { expm1(x) } else { x }
}

pub(crate) fn elu_derivative(x: f64) -> f64 {
    if x > 0.0 { 1.0 } else { exp(x) }
}
