//! The same functions for f64 tensors, by libm.
//!
//! Products that end in an exponent are carried with their rounding error (`fma`), since the
//! exponential turns an absolute error of its argument into a relative one of the result.

use super::logistic::{SIGMOID_SLOPE, TANH_CUBIC, TANH_SLOPE};
use core::f64::consts::{FRAC_1_PI, FRAC_1_SQRT_2};
use libm::{atan, erfc, exp, expm1, fma};

mod zero;

/// What [`FRAC_1_SQRT_2`] lacks of 1/√2.
const FRAC_1_SQRT_2_LOW: f64 = -4.833_646_656_726_457e-17;
const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;
const FRAC_1_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;
/// What [`SIGMOID_SLOPE`] lacks of 1.702.
const SIGMOID_SLOPE_LOW: f64 = 4.263256414560601e-17;
/// What [`TANH_SLOPE`] lacks of 2√(2/π).
const TANH_SLOPE_LOW: f64 = -9.96930880911092e-17;
/// What [`TANH_CUBIC`] lacks of 0.044715.
const TANH_CUBIC_LOW: f64 = 2.1960211427085595e-18;
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
    if let Some(slope) = zero::GELU.series(Exact { high: x, low: 0.0 }) {
        return slope;
    }
    let t = magnitude(x);
    let slope = normal_tail(t) - t * FRAC_1_SQRT_2_PI * normal_exponential(t);
    if x < 0.0 { slope } else { 1.0 - slope }
}

pub(crate) fn cdf(x: f64) -> f64 {
    let tail = normal_tail(magnitude(x));
    if x < 0.0 { tail } else { 1.0 - tail }
}

pub(crate) fn pdf(x: f64) -> f64 {
    normal_exponential(magnitude(x)) * FRAC_1_SQRT_2_PI
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

    /// With something small added to the low part.
    fn and(self, low: f64) -> Self {
        Self { low: self.low + low, ..self }
    }

    fn plus(self, b: f64) -> Self {
        let high = self.high + b;
        let from_b = high - self.high;
        let lost = (self.high - (high - from_b)) + (b - from_b);
        Self { high, low: lost + self.low }
    }
}

fn sigmoid_argument(x: f64) -> Exact {
    let Exact { high, low } = Exact::product(SIGMOID_SLOPE, x);
    Exact { high, low: low + x * SIGMOID_SLOPE_LOW }
}

/// `2√(2/π)·(x + factor·0.044715·x³)`.
fn tanh_argument(x: f64, factor: f64) -> Exact {
    // Past this the gate is 0 or 1, and the cube would overflow.
    let x = x.clamp(-30.0, 30.0);
    let square = Exact::product(x, x);
    let cubic = square.times(TANH_CUBIC).and(square.high * TANH_CUBIC_LOW).times(factor);
    let slope = cubic.plus(1.0).times(x);
    slope.times(TANH_SLOPE).and(slope.high * TANH_SLOPE_LOW)
}

/// σ(u) and σ(−u), the larger of them with what its rounding lost.
struct Gate {
    sigma: f64,
    other: Exact,
}

impl Gate {
    fn of(u: Exact) -> Self {
        let magnitude = u.high.abs();
        let e = match magnitude > U_MAX {
            true => 0.0,
            false => exp(-magnitude) * (1.0 - if u.high < 0.0 { -u.low } else { u.low }),
        };
        let sum = 1.0 + e;
        let large = 1.0 / sum;
        let lost = fma(-large, sum, 1.0) - large * (e - (sum - 1.0));
        let (small, large) = (e * large, Exact { high: large, low: large * lost });
        if u.high < 0.0 {
            Self { sigma: small, other: large }
        } else {
            Self { sigma: large.high, other: Exact { high: small, low: 0.0 } }
        }
    }
}

/// `√e^u` for u so far below 0, where e^u is subnormal or nearly so: multiplied by it twice, a
/// result is rounded into the subnormals once.
fn root_of_tiny(u: Exact) -> Option<f64> {
    const TINY: f64 = -690.0;
    (u.high < TINY && u.high > -U_MAX).then(|| exp(0.5 * u.high) * (1.0 + 0.5 * u.low))
}

fn gated(x: f64, u: Exact) -> f64 {
    if let Some(root) = root_of_tiny(u) {
        return (x * root) * root;
    }
    let Gate { sigma, .. } = Gate::of(u);
    match (x.is_nan(), sigma == 0.0) {
        (true, _) => x,
        (_, true) => -0.0,
        _ => x * sigma,
    }
}

/// `σ(u)·(1 + x·u′·σ(−u))`, given `x·u′`.
fn gated_derivative(x: f64, u: Exact, rise: Exact) -> f64 {
    if let Some(root) = root_of_tiny(u) {
        return ((1.0 + rise.high) * root) * root;
    }
    let Gate { sigma, other } = Gate::of(u);
    if x.is_nan() {
        return x;
    }
    if sigma == 0.0 || other.high == 0.0 {
        return sigma;
    }
    // Fused, and with the low parts, since it cancels around the derivative's zero.
    let low = rise.low * other.high + rise.high * other.low;
    sigma * (fma(rise.high, other.high, 1.0) + low)
}

pub(crate) fn silu(x: f64) -> f64 {
    gated(x, Exact { high: x, low: 0.0 })
}

pub(crate) fn silu_derivative(x: f64) -> f64 {
    let u = Exact { high: x, low: 0.0 };
    zero::SILU.series(u).unwrap_or_else(|| gated_derivative(x, u, u))
}

pub(crate) fn gelu_sigmoid(x: f64) -> f64 {
    gated(x, sigmoid_argument(x))
}

pub(crate) fn gelu_sigmoid_derivative(x: f64) -> f64 {
    // The sigmoid form is silu(1.702·x)/1.702, so this is SiLU's derivative at 1.702·x.
    let u = sigmoid_argument(x);
    zero::SILU.series(u).unwrap_or_else(|| gated_derivative(x, u, u))
}

pub(crate) fn gelu_tanh(x: f64) -> f64 {
    gated(x, tanh_argument(x, 1.0))
}

pub(crate) fn gelu_tanh_derivative(x: f64) -> f64 {
    if let Some(slope) = zero::GELU_TANH.series(Exact { high: x, low: 0.0 }) {
        return slope;
    }
    gated_derivative(x, tanh_argument(x, 1.0), tanh_argument(x, 3.0))
}

pub(crate) fn elu(x: f64) -> f64 {
    if x < 0.0 { expm1(x) } else { x }
}

pub(crate) fn elu_derivative(x: f64) -> f64 {
    if x > 0.0 { 1.0 } else { exp(x) }
}

pub(crate) fn cauchy(x: f64) -> f64 {
    let t = x.abs();
    let tail = match t {
        // t·P(C ≤ −t) tends to 1/π.
        _ if t.is_infinite() => FRAC_1_PI,
        _ if t > 1.0 => t * (atan(1.0 / t) * FRAC_1_PI),
        _ => t * (0.5 - atan(t) * FRAC_1_PI),
    };
    let base = if -0.0 > x { -0.0 } else { x };
    base - tail
}

pub(crate) fn cauchy_derivative(x: f64) -> f64 {
    let t = x.abs();
    let slope =
        if t > 1.0 { arc_excess(1.0 / t) } else { 0.5 - (atan(t) + t / (1.0 + t * t)) * FRAC_1_PI };
    if x < 0.0 { slope } else { 1.0 - slope }
}

/// `(atan z − z/(1 + z²))/π` for 0 ≤ z ≤ 1: by its series where the difference would cancel.
fn arc_excess(z: f64) -> f64 {
    if z > 0.5 {
        return (atan(z) - z / (1.0 + z * z)) * FRAC_1_PI;
    }
    // Σ (−1)^(k+1)·2k/(2k + 1)·z^(2k+1), to a term below 2^-56 of the first.
    let y = z * z;
    let sum = (1..=27).rev().fold(0.0, |sum, k| {
        let k = f64::from(k);
        2.0 * k / (2.0 * k + 1.0) - y * sum
    });
    z * y * sum * FRAC_1_PI
}
