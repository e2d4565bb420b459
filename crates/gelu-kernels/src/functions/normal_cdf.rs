//! `Φ(x)`, the CDF of the standard normal distribution. It is not an activation by itself, but a factor of
//! `x·Φ((x − μ)/σ)`.
//!
//! The usual `(1 + erf(x/√2))/2` cancels for negative x. Here, with `t = |x|`,
//!
//! ```text
//! Φ(−t) = e^(−t²/2) · S(v − shift)/(t + offset)        v = t/(t + offset)
//! ```
//!
//! where S is nowhere near 0, and `Φ(x) + Φ(−x) = 1`. Up to where the tail vanishes, the relative error of S is 2^-25.8
//! in f32, 2^-20.3 for results that are rounded to 16 bits, 2^-35.8 for results that are rounded to f32, and 2^-54.8 in
//! f64. `tests/accuracy/fit.py` and `fit_single.py` print the coefficients.

use super::Function;
use crate::arithmetic::{Arithmetic, Digits, Exponential};

#[derive(Clone, Copy, Debug)]
pub(crate) struct NormalCdf;

impl Function for NormalCdf {
    const NAME: &str = "normal-cdf";
    const LABEL: &str = "normal CDF";

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(fit(x.digits()).reach);
        let tail = tail(t.clone(), t.normal_exponential());
        A::on_its_side(&x, tail)
    }

    /// Returns `φ(x)`; 0 for ±∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(fit(x.digits()).reach);
        let height = t.constant(FRAC_1_SQRT_2_PI);
        t.normal_exponential().times(height)
    }

    /// Returns `−x·φ(x)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(fit(x.digits()).reach);
        let factor = t.clone() * FRAC_1_SQRT_2_PI;
        A::odd(&x, -t.normal_exponential().times(factor))
    }
}

/// The constant `1/√(2π)`.
pub(super) const FRAC_1_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;

/// Returns `Φ(−t)`, given `t` and `e = e^(−t²/2)`.
#[inline(always)]
pub(super) fn tail<A: Arithmetic>(t: A, e: A::Exponential) -> A {
    let fit = fit(t.digits());
    let sum = t.clone() + fit.offset;
    let (high, low) =
        (t.over(sum.clone()) - fit.shift).polynomial_in_parts(fit.coefficients, fit.constant_low);
    e.times_parts(high.over(sum.clone()), low.over(sum))
}

/// A polynomial of `t/(t + offset) − shift`.
pub(super) struct Fit {
    /// The largest t for which the polynomial holds; the tail is 0 there and beyond.
    pub(super) reach: f64,
    pub(super) offset: f64,
    pub(super) shift: f64,
    pub(super) coefficients: &'static [f64],
    /// The rounding error of the first coefficient.
    pub(super) constant_low: f64,
}

/// Returns the coefficients of S.
#[inline(always)]
pub(super) fn fit(digits: Digits) -> Fit {
    match digits {
        Digits::Single => Fit {
            reach: 14.625,
            offset: 2.625,
            shift: SHIFT as f64,
            coefficients: const { &widened(SINGLE) },
            constant_low: 0.0,
        },
        Digits::Half => Fit {
            reach: 14.625,
            offset: 3.75,
            shift: 0.0,
            coefficients: const { &widened(HALF) },
            constant_low: 0.0,
        },
        Digits::Rounded => {
            Fit { reach: 15.0, offset: 2.0, shift: 0.0, coefficients: &ROUNDED, constant_low: 0.0 }
        }
        Digits::Double => Fit {
            reach: 39.0,
            offset: 3.0,
            shift: 0.45,
            coefficients: &DOUBLE,
            constant_low: 1.941_862_554_669_516_2e-17,
        },
    }
}

/// Returns the same coefficients as f64.
pub(super) const fn widened<const N: usize>(coefficients: [f32; N]) -> [f64; N] {
    let mut result = [0.0; N];
    let mut index = 0;
    while index < N {
        result[index] = coefficients[index] as f64;
        index += 1;
    }
    result
}

pub(super) const SHIFT: f32 = 0.45;
pub(super) const SINGLE: [f32; 10] = [
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

const HALF: [f32; 7] = [
    1.874_998_6,
    -3.734_939_3,
    3.834_251_4,
    -1.667_234_3,
    -0.450_809_03,
    0.787_681_94,
    -0.245_321_26,
];

const ROUNDED: [f64; 16] = [
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

const DOUBLE: [f64; 27] = [
    0.7823632136665591,
    -1.1134162952919326,
    0.9740035303689016,
    -0.3392373821343901,
    -0.22016653566905314,
    0.19688167433171883,
    0.10729983461224293,
    -0.10172470543652194,
    -0.09186521000467861,
    0.037137848311415915,
    0.08297748506030742,
    0.0160013900474153,
    -0.05652201514203461,
    -0.052144984514028124,
    0.009634585065261094,
    0.05445265249299321,
    0.03851620186004238,
    -0.015542546390498835,
    -0.0524985789894044,
    -0.041441285927600754,
    0.010001517746689259,
    0.06926940859243118,
    0.061436673816387524,
    -0.04588058458219393,
    -0.09218947600750729,
    0.009492467020666655,
    0.050130751909703695,
];
