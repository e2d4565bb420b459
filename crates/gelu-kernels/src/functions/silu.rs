//! SiLU (swish), `x·σ(x)`: the GELU with a logistic CDF (Hendrycks & Gimpel, §2).

use super::{Function, sigmoid};
use crate::arithmetic::{Arithmetic, Zero};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Silu;

impl Function for Silu {
    const NAME: &str = "silu";
    const LABEL: &str = "SiLU";
    const ALIASES: &[&str] = &["swish"];

    /// Returns −0 for −0 and −∞, and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let reach = sigmoid::reach(&x);
        let e = (-x.clone().abs().at_most(reach)).exp();
        sigmoid::gated(x.at_least(-reach), e)
    }

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(sigmoid::reach(&x));
        let (e, nothing) = ((-t.clone()).exp(), t.constant(0.0));
        let result = sigmoid::gated_derivative(&x, t, nothing.clone(), e);
        DERIVATIVE_ZERO.or_elsewhere(x, nothing, result)
    }

    /// Returns 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(sigmoid::reach(&x));
        let (one, nothing) = (t.constant(1.0), t.constant(0.0));
        sigmoid::gated_second_derivative(t.clone(), t, one, nothing)
    }
}

pub(super) const DERIVATIVE_ZERO: Zero<13> = Zero {
    radius: 0.125,
    high: -1.2784645427610737,
    low: -1.0946994183093437e-16,
    coefficients: [
        0.2178117057198001,
        0.1466487969969469,
        0.018874814223782312,
        -0.015222655223188032,
        -0.006606589138356696,
        0.000126627410081122,
        0.0007985218818397998,
        0.00018570724361186496,
        -4.090534237428612e-05,
        -2.9733542213263917e-05,
        -2.942631888842464e-06,
        2.346029682463866e-06,
        8.599695028268575e-07,
    ],
};
