//! The exact GELU, `x·Φ(x)`, where Φ is the CDF of the standard normal distribution (Hendrycks &
//! Gimpel, arXiv 1606.08415, §2).
//!
//! With `t = |x|`, `E = e^(−t²/2)` and S as in [`normal_cdf`](super::normal_cdf),
//!
//! ```text
//! t·Φ(−t)        = E · v·S(v − shift)            v = t/(t + offset)
//! Φ(−t) − t·φ(t) = E · (T0 − t)·P(v − shift)
//! ```
//!
//! S and P are far from 0, so nothing cancels. The derivative's zero at −T0 is a factor, and the
//! code carries T0 in two parts. The other sign of x follows from `GELU(x) − GELU(−x) = x` and
//! `GELU′(x) + GELU′(−x) = 1`. The relative error of P is 2^-26.1 in f32, 2^-19.8 for results that
//! are rounded to 16 bits, 2^-34.6 for results that are rounded to f32, and 2^-56.8 in f64.
//! `tests/accuracy/fit_single.py` and `fit.py` print the coefficients.

use super::Function;
use super::normal_cdf::{self, Fit, widened};
use crate::arithmetic::fused::{self, FusedExponential, mul_add};
use crate::arithmetic::{Arithmetic, Digits, Exponential};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Gelu;

impl Function for Gelu {
    const NAME: &str = "gelu";
    const LABEL: &str = "GELU";
    const ALIASES: &[&str] = &["gelu-exact", "gelu-erf", "gelu-none", "gelu-python"];

    /// Returns −0 for −0 and −∞, and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let fit = normal_cdf::fit(x.digits());
        let t = x.clone().abs().at_most(fit.reach);
        let v = t.clone().over(t.clone() + fit.offset);
        let q = v.clone() - fit.shift;
        let (high, low) = q.polynomial_in_parts(fit.coefficients, fit.constant_low);
        let tail = t.normal_exponential().times_parts(v.clone() * high, v * low);
        x.positive_part() - tail
    }

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let fit = fit(x.digits());
        let t = x.clone().abs().at_most(fit.reach);
        let q = t.clone().over(t.clone() + fit.offset) - fit.shift;
        let (high, low) = q.polynomial_in_parts(fit.coefficients, fit.constant_low);
        let zero = x.by_digits(ZERO_SINGLE as f64, ZERO, ZERO);
        let zero_low = x.by_digits(ZERO - ZERO_SINGLE as f64, 0.0, ZERO_LOW);
        // Both factors, T0 − t and P, are carried in two parts.
        let distance = -(t.clone() - zero);
        let low = distance.clone() * low + high.clone() * zero_low;
        let slope = t.normal_exponential().times_parts(distance * high, low);
        A::on_its_side(&x, slope)
    }

    /// Returns `(2 − x²)·φ(x)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(normal_cdf::fit(x.digits()).reach);
        let factor = (-(t.clone() * t.clone()) + 2.0) * normal_cdf::FRAC_1_SQRT_2_PI;
        t.normal_exponential().times(factor)
    }

    #[inline(always)]
    fn fused(x: f32, _: f64) -> f32 {
        let t = fused::at_most(x.abs(), T_MAX);
        let e = normal_exponential(t);
        let v = t / (t + 2.625);
        let (high, low) = in_two_parts(v - normal_cdf::SHIFT, &normal_cdf::SINGLE, e.s);
        let tail = mul_add(v, high, v * low);
        mul_add(tail * e.scale, -fused::unbias::<BIAS>(), fused::positive_part(x))
    }

    #[inline(always)]
    fn fused_derivative(x: f32, _: f64) -> f32 {
        let t = fused::at_most(x.abs(), T_MAX);
        let e = normal_exponential(t);
        let v = t / (t + 3.5);
        // `distance` is T0 − t, and `lost` its rounding error.
        let distance = ZERO_SINGLE - t;
        let lost = (ZERO_SINGLE - (distance + t)) + (ZERO - ZERO_SINGLE as f64) as f32;
        let (high, low) = in_two_parts(v - SHIFT, &SINGLE, e.s);
        let rest = mul_add(distance, low, mul_add(lost, low, lost * high));
        let slope = mul_add(distance, high, rest) * e.scale;
        fused::on_its_side(x, slope, fused::unbias::<BIAS>(), 0.0, 1.0)
    }
}

/// T0: the derivative is 0 at −T0.
const ZERO: f64 = 0.751_791_524_693_564_5;
/// The rounding error of [`ZERO`].
const ZERO_LOW: f64 = -1.495_675_917_700_988_3e-17;
/// The nearest f32 to T0.
const ZERO_SINGLE: f32 = 0.751_791_54;

/// The `t` from which on `E·2^BIAS` is 0 in f32.
const T_MAX: f32 = 14.625;
/// The bias of the power of two that makes the exponent field of the scale exactly 0 at [`T_MAX`].
const BIAS: u32 = 27;

/// Returns `e^(−t²/2)`.
#[inline(always)]
fn normal_exponential(t: f32) -> FusedExponential {
    let square = t * t;
    FusedExponential::of_half::<BIAS>(square, mul_add(t, t, -square))
}

/// Returns `polynomial(q)·(1 + s)` in two parts: the rounded polynomial, and the rest.
#[inline(always)]
fn in_two_parts<const N: usize>(q: f32, polynomial: &[f32; N], s: f32) -> (f32, f32) {
    let constant = polynomial[0];
    let mut sum = polynomial[N - 1];
    let mut index = N - 1;
    while index > 1 {
        index -= 1;
        sum = mul_add(sum, q, polynomial[index]);
    }
    let high = mul_add(q, sum, constant);
    (high, mul_add(high, s, mul_add(q, sum, constant - high)))
}

/// Returns the coefficients of P.
#[inline(always)]
fn fit(digits: Digits) -> Fit {
    match digits {
        Digits::Single => Fit {
            reach: 14.625,
            offset: 3.5,
            shift: SHIFT as f64,
            coefficients: const { &widened(SINGLE) },
            constant_low: 0.0,
        },
        Digits::Half => Fit {
            reach: 14.625,
            offset: 3.0,
            shift: 0.0,
            coefficients: const { &widened(HALF) },
            constant_low: 0.0,
        },
        Digits::Rounded => {
            Fit { reach: 15.0, offset: 2.0, shift: 0.0, coefficients: &ROUNDED, constant_low: 0.0 }
        }
        Digits::Double => Fit {
            reach: 39.0,
            offset: 4.0,
            shift: 0.45,
            coefficients: &DOUBLE,
            constant_low: -1.121_844_730_108_919_8e-17,
        },
    }
}

const SHIFT: f32 = 0.331_25;
const SINGLE: [f32; 9] = [
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

const HALF: [f32; 6] =
    [0.665_077_27, -0.529_886_6, 0.346_862_82, -0.038_106_79, -0.076_301_38, 0.031_353_496];

const ROUNDED: [f64; 14] = [
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

const DOUBLE: [f64; 23] = [
    0.4731815148336982,
    -0.23267978003266931,
    0.27790341210333114,
    -0.25648332353719416,
    0.16590860076888,
    -0.052983552530361265,
    -0.01843016695011219,
    0.024693342317559628,
    -9.925421294313507e-06,
    -0.01037930052101527,
    0.0009000127282746663,
    0.005169768319645179,
    -7.583379585527207e-05,
    -0.002936096989853313,
    -0.0005976008116445179,
    0.0016728396118603367,
    0.0009571800274691593,
    -0.000790833559070397,
    -0.0009990978212742166,
    0.00020464771696383367,
    0.0007404484774579251,
    2.2067592730863714e-05,
    -0.0003047972871615959,
];
