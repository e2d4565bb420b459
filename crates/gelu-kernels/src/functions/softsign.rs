//! Softsign, `x/(1 + |x|)` (Turian et al., 2009): like tanh, but slower to approach ±1.

use super::Function;
use crate::arithmetic::Arithmetic;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Softsign;

/// A finite x at which `x/(1 + |x|)` is 1 in every type.
const FAR: f64 = 1e30;

impl Function for Softsign {
    const NAME: &str = "softsign";
    const LABEL: &str = "softsign";

    /// Keeps the sign of a zero; returns ±1 for ±∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let x = x.at_most(FAR).at_least(-FAR);
        x.clone() / (x.abs() + 1.0)
    }

    /// Returns `1/(1 + |x|)²`; 0 for ±∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inverse = x.constant(1.0) / (x.abs() + 1.0);
        inverse.clone() * inverse
    }

    /// Returns `∓2/(1 + |x|)³`, at 0 the value for x > 0; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inverse = x.constant(1.0) / (x.clone().abs() + 1.0);
        A::odd(&x, inverse.clone() * inverse.clone() * inverse * -2.0)
    }
}
