//! ELU and its variants CELU and SELU.

use super::{Function, Parameter};
use crate::arithmetic::{Arithmetic, Exponential};

/// ELU: `x` for x > 0, else `α·(e^x − 1)` (Clevert et al., arXiv 1511.07289).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elu;

impl Function for Elu {
    const NAME: &str = "elu";
    const LABEL: &str = "ELU";
    const PARAMETER: Option<Parameter> = Some(Parameter::any("alpha", 1.0));

    /// Keeps the sign of a zero; returns −α for −∞ and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, alpha: A::Parameter) -> A {
        let alpha = x.parameter(alpha);
        let below = x.clone().at_most(0.0).exp_m1() * alpha;
        A::choose(x.below(0.0), below, x)
    }

    /// Returns `α·e^x` for x ≤ 0 and 1 above; 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, alpha: A::Parameter) -> A {
        let alpha = x.parameter(alpha);
        let reach = reach(&x);
        let below = x.clone().at_most(0.0).at_least(-reach).exp().times(alpha);
        A::choose(x.above(0.0), x.constant(1.0), below)
    }

    /// Returns `α·e^x` for x ≤ 0, and 0 above.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, alpha: A::Parameter) -> A {
        A::choose(x.above(0.0), x.constant(0.0), Self::derivative(x, alpha))
    }
}

/// CELU: `x` for x > 0, else `α·(e^(x/α) − 1)` (Barron, arXiv 1704.07483). Its derivative is
/// continuous.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Celu;

impl Function for Celu {
    const NAME: &str = "celu";
    const LABEL: &str = "CELU";
    const PARAMETER: Option<Parameter> = Some(Parameter::positive("alpha", 1.0));

    /// Keeps the sign of a zero; returns −α for −∞ and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, alpha: A::Parameter) -> A {
        let alpha = x.parameter(alpha);
        let below = (x.clone().at_most(0.0) / alpha.clone()).exp_m1() * alpha;
        A::choose(x.below(0.0), below, x)
    }

    /// Returns `e^(x/α)` for x ≤ 0 and 1 above; 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, alpha: A::Parameter) -> A {
        let alpha = x.parameter(alpha);
        let below = x.clone().at_most(0.0);
        let quotient = (below.clone() / alpha.clone()).at_least(-reach(&x));
        // The rounding error of the quotient; it does not matter beyond the limit.
        let (product, low) = quotient.clone().product(alpha.clone());
        let lost = ((below - product) - low) / alpha;
        let far = quotient.at_or_below(-reach(&x));
        let lost = A::choose(far, x.constant(0.0), lost);
        A::choose(x.above(0.0), x.constant(1.0), quotient.exponential(lost).value())
    }

    /// Returns `e^(x/α)/α` for x ≤ 0, and 0 above.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, alpha: A::Parameter) -> A {
        let below = Self::derivative(x.clone(), alpha) / x.parameter(alpha);
        A::choose(x.above(0.0), x.constant(0.0), below)
    }
}

/// SELU: `λ·x` for x > 0, else `λ·α·(e^x − 1)`, with the λ and α that preserve mean 0 and variance
/// 1 (Klambauer et al., arXiv 1706.02515).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selu;

impl Function for Selu {
    const NAME: &str = "selu";
    const LABEL: &str = "SELU";

    /// Keeps the sign of a zero; returns −λ·α for −∞ and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let below = x.clone().at_most(0.0).exp_m1() * SELU_BELOW;
        A::choose(x.below(0.0), below, x * SELU_ABOVE)
    }

    /// Returns `λ·α·e^x` for x ≤ 0 and λ above; 0 for −∞ and λ for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let reach = reach(&x);
        let height = x.constant(SELU_BELOW);
        let below = x.clone().at_most(0.0).at_least(-reach).exp().times(height);
        A::choose(x.above(0.0), x.constant(SELU_ABOVE), below)
    }

    /// Returns `λ·α·e^x` for x ≤ 0, and 0 above.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        A::choose(x.above(0.0), x.constant(0.0), Self::derivative(x, parameter))
    }
}

/// SELU's λ.
const SELU_ABOVE: f64 = 1.050_700_987_355_480_5;
/// SELU's λ·α.
const SELU_BELOW: f64 = 1.758_099_340_847_376_6;

/// Returns a t for which `e^−t` is 0.
#[inline(always)]
fn reach<A: Arithmetic>(x: &A) -> f64 {
    x.by_digits(112.0, 150.0, 760.0)
}
