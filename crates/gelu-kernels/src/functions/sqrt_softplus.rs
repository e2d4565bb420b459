//! The square root of softplus, `√ln(1 + e^x)` (transformers' `sqrtsoftplus`).
//!
//! Let `E = e^−|x|` and `r = ln(1 + E)/E`, which is between ln 2 and 1. For x < 0 the function is
//! `e^(x/2)·√r`, which does not underflow until x is twice as far out as where `E` does. For x ≥ 0 it is
//! `√(x + E·r)`.

use super::{Function, sigmoid, softplus};
use crate::arithmetic::{Arithmetic, Exponential};

#[derive(Clone, Copy, Debug)]
pub(crate) struct SqrtSoftplus;

impl Function for SqrtSoftplus {
    const NAME: &str = "sqrtsoftplus";
    const LABEL: &str = "square root of softplus";

    /// Returns 0 for −∞ and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let Parts { root_e, ratio, softplus, .. } = parts(&x);
        A::choose(x.below(0.0), root_e.times(ratio.sqrt()), softplus.sqrt())
    }

    /// Returns `σ(x)/(2·√softplus(x))`; 0 for ±∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let Parts { root_e, sum, ratio, softplus, .. } = parts(&x);
        let radicand = A::choose(x.below(0.0), ratio, softplus);
        let factor = x.constant(0.5) / (sum * radicand.sqrt());
        A::choose(x.below(0.0), root_e.times(factor.clone()), factor)
    }

    /// Returns `(2·S·S″ − S′²)/(4·S^(3/2))` with S = softplus(x); 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let Parts { root_e, e, sum, ratio, softplus } = parts(&x);
        // Where E is 0, the product with it has to be 0 too, not NaN.
        let near = softplus.clone().at_most(sigmoid::reach(&x));
        let height = A::choose(x.below(0.0), ratio.clone(), near * e) * 2.0 - 1.0;
        let radicand = A::choose(x.below(0.0), ratio, softplus);
        let power = radicand.clone() * radicand.sqrt();
        let factor = height * 0.25 / (sum.clone() * sum * power);
        A::choose(x.below(0.0), root_e.times(factor.clone()), factor)
    }
}

/// The terms that the function and its derivatives share.
struct Parts<A: Arithmetic> {
    /// The power `e^(−|x|/2)`.
    root_e: A::Exponential,
    /// The power `E = e^−|x|`.
    e: A,
    /// The sum `1 + E`.
    sum: A,
    /// The quotient `ln(1 + E)/E`.
    ratio: A,
    /// The softplus `ln(1 + e^x)` for x ≥ 0.
    softplus: A,
}

#[inline(always)]
fn parts<A: Arithmetic>(x: &A) -> Parts<A> {
    let half = (x.clone().abs() * 0.5).at_most(sigmoid::reach(x));
    let root_e = (-half).exp();
    let e = root_e.clone().value();
    let e = e.clone() * e;
    let ratio = softplus::log1p_ratio(e.clone(), x.constant(1.0));
    let softplus = x.clone().at_least(0.0) + e.clone() * ratio.clone();
    Parts { root_e, sum: e.clone() + 1.0, e, ratio, softplus }
}
