//! Softsign, `x/(1 + |x|)` (Turian et al., 2009): a tanh that ends slowly.

use super::Function;
use crate::arithmetic::Arithmetic;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Softsign;

/// Where `x/(1 + |x|)` is ±1 in every type, and finite.
const FAR: f64 = 1e30;

impl Function for Softsign {
    const NAME: &str = "softsign";
    const LABEL: &str = "softsign";

    /// Keeps the sign of a zero; ±1 for ±∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let x = x.at_most(FAR).at_least(-FAR);
        x.clone() / (x.abs() + 1.0)
    }

    /// `1/(1 + |x|)²`; 0 for ±∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inverse = x.constant(1.0) / (x.abs() + 1.0);
        inverse.clone() * inverse
    }

    /// `∓2/(1 + |x|)³`, at 0 that of x > 0; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inverse = x.constant(1.0) / (x.clone().abs() + 1.0);
        A::odd(&x, inverse.clone() * inverse.clone() * inverse * -2.0)
    }
}
