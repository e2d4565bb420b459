//! The sigmoid form of GELU, `x·σ(1.702·x)` (Hendrycks & Gimpel, §2).

use super::{Function, sigmoid, silu};
use crate::arithmetic::Arithmetic;

#[derive(Clone, Copy, Debug)]
pub(crate) struct GeluSigmoid;

impl Function for GeluSigmoid {
    const NAME: &str = "gelu-sigmoid";
    const LABEL: &str = "GELU (sigmoid)";
    const ALIASES: &[&str] = &["quick-gelu", "gelu-quick"];

    /// Returns −0 for −0 and −∞, and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let reach = sigmoid::reach(&x) / SLOPE;
        let t = x.clone().abs().at_most(reach);
        let e = (-t).exponential_of_product(SLOPE, LEFT_OF_SLOPE);
        sigmoid::gated(x.at_least(-reach), e)
    }

    /// Returns SiLU's derivative at 1.702·x; 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let reach = sigmoid::reach(&x) / SLOPE;
        let t = x.clone().abs().at_most(reach);
        let (rise, low) = t.clone().product(t.constant(SLOPE));
        let low = low + t.clone() * t.left_of(SLOPE, LEFT_OF_SLOPE);
        let e = (-t).exponential_of_product(SLOPE, LEFT_OF_SLOPE);
        let result = sigmoid::gated_derivative(&x, rise.clone(), low.clone(), e);
        // The zero is at a negative x.
        silu::DERIVATIVE_ZERO.or_elsewhere(A::choose(x.below(0.0), -rise, x), -low, result)
    }

    /// Returns 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(sigmoid::reach(&x) / SLOPE);
        let (slope, nothing) = (t.constant(SLOPE), t.constant(0.0));
        sigmoid::gated_second_derivative(t.clone(), t * SLOPE, slope, nothing)
    }
}

const SLOPE: f64 = 1.702;
/// The rounding error of [`SLOPE`].
const LEFT_OF_SLOPE: f64 = 4.263_256_414_560_601e-17;
