//! Softplus, `ln(1 + e^(β·x))/β` (Dugas et al., NIPS 2000): a smooth ReLU.
//!
//! `max(x, 0) + ln(1 + E)/β` with `E = e^(−β·|x|)`, and `ln(1 + E) = 2·artanh(E/(2 + E))`, whose
//! argument is at most 1/3.

use super::{Function, Parameter, sigmoid};
use crate::arithmetic::{Arithmetic, Digits, Exponential};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Softplus;

impl Function for Softplus {
    const NAME: &str = "softplus";
    const LABEL: &str = "softplus";
    const PARAMETER: Option<Parameter> = Some(Parameter::positive("beta", 1.0));

    /// 0 for −∞, +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, beta: A::Parameter) -> A {
        let beta = x.parameter(beta);
        let e = exponential(x.clone(), beta.clone());
        let value = e.clone().value();
        let sum = value.clone() + 2.0;
        let z = value / sum.clone();
        let series = artanh_series(z.clone() * z) * 2.0;
        let rest = e.times(series / (sum * beta));
        x.at_least(0.0) + rest
    }

    /// `σ(β·x)`.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, beta: A::Parameter) -> A {
        let e = exponential(x.clone(), x.parameter(beta));
        sigmoid::open(&x, e)
    }
}

/// `e^(−β·|x|)`, the product in two parts.
#[inline(always)]
fn exponential<A: Arithmetic>(x: A, beta: A) -> A::Exponential {
    let reach = sigmoid::reach(&x);
    // Before the product could overflow.
    let (high, low) = x.abs().at_most(1e30).product(beta);
    let low = A::choose(high.below(reach), low, high.constant(0.0));
    (-high.at_most(reach)).exponential(-low)
}

/// `artanh(z)/z` for `y = z² ≤ 1/9`.
#[inline(always)]
fn artanh_series<A: Arithmetic>(y: A) -> A {
    let terms = match y.digits() {
        Digits::Single => 8,
        Digits::Rounded => 12,
        Digits::Double => SERIES.len(),
    };
    y.polynomial(&SERIES[..terms])
}

/// Taylor's, `1/(2k + 1)`.
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
