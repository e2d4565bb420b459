//! The exact GELU: `x·Φ(x)`, Φ the CDF of the standard normal distribution.
//!
//! The usual `0.5·x·(1 + erf(x/√2))` cancels for negative x. Here, with `t = |x|` and
//! `E = exp(−t²/2)`,
//!
//! ```text
//! Φ(−t)             = E · S(v) / (t + 2)
//! Φ(−t) − t·φ(t)    = E · (T0 − t) · P(v)           v = t / (t + 2)
//! ```
//!
//! with polynomials S and P that are nowhere near 0, so nothing cancels; the derivative's zero at
//! −T0 is a factor. The other sign follows from `GELU(x) − GELU(−x) = x` and
//! `GELU′(x) + GELU′(−x) = 1`. `tests/accuracy/fit.py` prints the coefficients; on 0 ≤ t ≤ 15 the
//! relative error is 2^-35.8 for S and 2^-34.6 for P. Beyond 15 both functions are 0 in f32.

use super::exp::exp;
use super::horner;

/// `T0` of the module's text: the derivative of the GELU is 0 at `−T0`.
pub(crate) const DERIVATIVE_ZERO: f64 = 0.751_791_524_693_564_5;

/// Where the tail has long become 0 in f32.
const T_MAX: f64 = 15.0;

const S: [f64; 16] = [
    0.99999999999643,
    -0.5957691195326477,
    -0.19153844363177538,
    0.08500815279623404,
    0.10599999945968064,
    0.04397000222290442,
    -0.023206302446984475,
    0.059691133788589736,
    -0.3487021620479873,
    0.9307656528434047,
    -1.9356021024985726,
    2.881593819047374,
    -2.9928702029684247,
    2.0797868261735495,
    -0.8536493713639594,
    0.1534648849037939,
];

const P: [f64; 14] = [
    0.6650779951174363,
    -0.35330689153725586,
    0.03694206501705181,
    0.05030893409883797,
    0.014054417492373161,
    -0.0028193394628553093,
    -0.017022645714043265,
    0.03277368479760401,
    -0.09693635254346233,
    0.17247086332895023,
    -0.20568875966453717,
    0.16050332920271274,
    -0.07013045384743584,
    0.012715307134703362,
];

/// `x·Φ(x)`. −0 for −0 and −∞, +∞ for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn gelu(x: f64) -> f64 {
    let t = magnitude(x);
    let w = 1.0 / (t + 2.0);
    let tail = exp(-0.5 * (t * t)) * horner(&S, t * w) * w;
    // max(x, −0) keeps the sign of a zero; written so that NaN passes through.
    let base = if -0.0 > x { -0.0 } else { x };
    base - t * tail
}

/// `Φ(x) + x·φ(x)`, the derivative of [`gelu`]. 0 for −∞, 1 for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn gelu_derivative(x: f64) -> f64 {
    let t = magnitude(x);
    let slope = exp(-0.5 * (t * t)) * (DERIVATIVE_ZERO - t) * horner(&P, t / (t + 2.0));
    if x < 0.0 { slope } else { 1.0 - slope }
}

/// `Φ(x)`. 0 for −∞, 1 for +∞, NaN for NaN.
#[inline(always)]
pub(crate) fn cdf(x: f64) -> f64 {
    let t = magnitude(x);
    let w = 1.0 / (t + 2.0);
    let tail = exp(-0.5 * (t * t)) * horner(&S, t * w) * w;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// `φ(x)`, the derivative of [`cdf`]. 0 for ±∞, NaN for NaN.
#[inline(always)]
pub(crate) fn pdf(x: f64) -> f64 {
    const FRAC_1_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;
    let t = magnitude(x);
    exp(-0.5 * (t * t)) * FRAC_1_SQRT_2_PI
}

#[inline(always)]
fn magnitude(x: f64) -> f64 {
    let t = x.abs();
    // Not `min`, which would lose a NaN.
    if t > T_MAX { T_MAX } else { t }
}
