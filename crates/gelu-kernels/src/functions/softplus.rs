//! Softplus, `ln(1 + e^(β·x))/β` (Dugas et al., NIPS 2000), which is a smooth ReLU, and `ln σ(x)`,
//! which is `−softplus(−x)`.
//!
//! The value is `max(x, 0) + ln(1 + E)/β` with `E = e^(−β·|x|)`. The logarithm is computed as
//! `ln(1 + E) = 2·artanh(E/(2 + E))`, whose argument is at most 1/3.

use super::{Function, Parameter, sigmoid};
use crate::arithmetic::{Arithmetic, Digits, Exponential};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Softplus;

impl Function for Softplus {
    const NAME: &str = "softplus";
    const LABEL: &str = "softplus";
    const PARAMETER: Option<Parameter> = Some(Parameter::positive("beta", 1.0));

    /// Returns 0 for −∞ and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, beta: A::Parameter) -> A {
        let beta = x.parameter(beta);
        let rest = log1p(exponential(x.clone(), beta.clone()), beta);
        x.at_least(0.0) + rest
    }

    /// Returns `σ(β·x)`.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, beta: A::Parameter) -> A {
        let e = exponential(x.clone(), x.parameter(beta));
        sigmoid::open(&x, e)
    }

    /// Returns `β·σ(β·x)·σ(−β·x)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, beta: A::Parameter) -> A {
        let beta = x.parameter(beta);
        let e = exponential(x.clone(), beta.clone());
        let sum = e.clone().value() + 1.0;
        e.times(beta / (sum.clone() * sum))
    }
}

/// The logarithm of the logistic function, `−ln(1 + e^−x)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSigmoid;

impl Function for LogSigmoid {
    const NAME: &str = "log-sigmoid";
    const LABEL: &str = "log-sigmoid";

    /// Returns −∞ for −∞ and −0 for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let e = (-x.clone().abs().at_most(sigmoid::reach(&x))).exp();
        let rest = log1p(e, x.constant(1.0));
        A::choose(x.above(0.0), x.constant(-0.0), x) - rest
    }

    /// Returns `σ(−x)`; 1 for −∞ and 0 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        sigmoid::Sigmoid::value(-x, parameter)
    }

    /// Returns `−σ(x)·σ(−x)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        -sigmoid::Sigmoid::derivative(x, parameter)
    }
}

/// Returns `ln(1 + e)/β` for e ≤ 1, computed as `ln(1 + e) = 2·artanh(e/(2 + e))`.
#[inline(always)]
fn log1p<A: Arithmetic>(e: A::Exponential, beta: A) -> A {
    let ratio = log1p_ratio(e.clone().value(), beta);
    e.times(ratio)
}

/// Returns `ln(1 + e)/(β·e)` for 0 ≤ e ≤ 1; 1/β for e = 0.
#[inline(always)]
pub(super) fn log1p_ratio<A: Arithmetic>(e: A, beta: A) -> A {
    let sum = e.clone() + 2.0;
    let z = e / sum.clone();
    let series = artanh_series(z.clone() * z) * 2.0;
    series / (sum * beta)
}

/// Returns `e^(−β·|x|)`, with the product in two parts.
#[inline(always)]
fn exponential<A: Arithmetic>(x: A, beta: A) -> A::Exponential {
    let reach = sigmoid::reach(&x);
    // The limit keeps the product from overflowing.
    let (high, low) = x.abs().at_most(1e30).product(beta);
    let low = A::choose(high.below(reach), low, high.constant(0.0));
    (-high.at_most(reach)).exponential(-low)
}

/// Returns `artanh(z)/z`, given `y = z² ≤ 1/9`.
#[inline(always)]
fn artanh_series<A: Arithmetic>(y: A) -> A {
    let terms = match y.digits() {
        Digits::Single | Digits::Half => 8,
        Digits::Rounded => 12,
        Digits::Double => SERIES.len(),
    };
    y.polynomial(&SERIES[..terms])
}

/// The Taylor coefficients `1/(2k + 1)`.
const SERIES: [f64; 17] = [
    1.0,
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
    1.0 / 25.0,
    1.0 / 27.0,
    1.0 / 29.0,
    1.0 / 31.0,
    1.0 / 33.0,
];
