//! The hyperbolic tangent: `(1 − e^−2t)/(1 + e^−2t)` with `t = |x|`, and the sign of x.

use super::Function;
use crate::arithmetic::{Arithmetic, Exponential};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tanh;

impl Function for Tanh {
    const NAME: &str = "tanh";
    const LABEL: &str = "tanh";

    /// Keeps the sign of a zero; returns ±1 for ±∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs();
        let missing = -((t.clone().at_most(25.0) * -2.0).exp_m1());
        let value = missing.clone() / (-missing + 2.0);
        let value = A::choose(x.below(0.0), -value.clone(), value);
        // Near 0, tanh x = x·(1 − x²/3 + …) is x in all digits. Returning x preserves subnormal
        // numbers and zeros.
        A::choose(t.below(1e-9), x, value)
    }

    /// Returns `1 − tanh² = 4·e^−2t/(1 + e^−2t)²`; 0 for ±∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let reach = x.by_digits(56.0, 75.0, 380.0);
        let e = (x.clone().abs().at_most(reach) * -2.0).exp();
        let sum = e.clone().value() + 1.0;
        e.times(x.constant(4.0) / (sum.clone() * sum))
    }

    /// Returns `−2·tanh·(1 − tanh²)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        let slope = Self::derivative(x.clone(), parameter);
        Self::value(x, parameter) * slope * -2.0
    }
}
