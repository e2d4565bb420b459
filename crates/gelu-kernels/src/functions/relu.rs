//! ReLU and its variants: leaky ReLU, ReLU6, squared, squared leaky and thresholded ReLU.

use super::{Function, Parameter};
use crate::arithmetic::Arithmetic;

/// ReLU, `max(x, 0)` (Nair & Hinton, ICML 2010).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relu;

impl Function for Relu {
    const NAME: &str = "relu";
    const LABEL: &str = "ReLU";
    const CHEAP: bool = true;

    /// Returns +0 for −0 and −∞, and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        A::choose(x.at_or_below(0.0), x.constant(0.0), x)
    }

    /// Returns 0 at 0.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let slope = A::choose(x.above(0.0), x.constant(1.0), x.constant(0.0));
        or_nan(x, slope)
    }

    /// Returns 0, because the function consists of straight lines.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// Leaky ReLU: `x` for x > 0, else `slope·x` (Maas et al., ICML 2013).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeakyRelu;

impl Function for LeakyRelu {
    const NAME: &str = "leaky-relu";
    const LABEL: &str = "leaky ReLU";
    const ALIASES: &[&str] = &["lrelu"];
    const PARAMETER: Option<Parameter> = Some(Parameter::any("slope", 0.01));
    const CHEAP: bool = true;

    /// Keeps the sign of a zero if the slope is positive.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, slope: A::Parameter) -> A {
        let below = x.clone() * x.parameter(slope);
        A::choose(x.above(0.0), x, below)
    }

    /// Returns the slope at 0.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, slope: A::Parameter) -> A {
        let slope = A::choose(x.above(0.0), x.constant(1.0), x.parameter(slope));
        or_nan(x, slope)
    }

    /// Returns 0, because the function consists of straight lines.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// ReLU6, `min(max(x, 0), 6)` (Krizhevsky 2010).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relu6;

impl Function for Relu6 {
    const NAME: &str = "relu6";
    const LABEL: &str = "ReLU6";
    const CHEAP: bool = true;

    /// Returns 6 for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        A::choose(x.at_or_below(0.0), x.constant(0.0), x).at_most(6.0)
    }

    /// Returns 0 at 0 and at 6.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let below = A::choose(x.below(6.0), x.constant(1.0), x.constant(0.0));
        let slope = A::choose(x.above(0.0), below, x.constant(0.0));
        or_nan(x, slope)
    }

    /// Returns 0, because the function consists of straight lines.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// Squared ReLU, `max(x, 0)²` (So et al., arXiv 2109.08668).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SquaredRelu;

impl Function for SquaredRelu {
    const NAME: &str = "squared-relu";
    const LABEL: &str = "squared ReLU";
    const ALIASES: &[&str] = &["relu2", "relu-squared"];
    const CHEAP: bool = true;

    /// Overflows to +∞ where x² does.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        A::choose(x.at_or_below(0.0), x.constant(0.0), x.clone() * x)
    }

    /// Returns `2·max(x, 0)`.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        A::choose(x.at_or_below(0.0), x.constant(0.0), x * 2.0)
    }

    /// Returns 2 for x > 0, and 0 otherwise.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let height = A::choose(x.above(0.0), x.constant(2.0), x.constant(0.0));
        or_nan(x, height)
    }
}

/// Squared leaky ReLU: `x²` for x > 0, else `(slope·x)²` (openai/parameter-golf, pull request 549:
/// `leaky_relu(x, 0.5)²`). It falls where x < 0: it keeps the size of negative inputs, but not
/// their sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeakyRelu2;

impl Function for LeakyRelu2 {
    const NAME: &str = "leaky-relu2";
    const LABEL: &str = "squared leaky ReLU";
    const ALIASES: &[&str] = &["squared-leaky-relu", "leaky-relu-squared"];
    const PARAMETER: Option<Parameter> = Some(Parameter::any("slope", 0.5));
    const CHEAP: bool = true;

    /// Returns +0 for −0; overflows to +∞ where the square does, on either side.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, slope: A::Parameter) -> A {
        let y = LeakyRelu::value(x, slope);
        y.clone() * y
    }

    /// Returns `2·x` for x > 0 and `2·slope²·x` otherwise; −∞ for −∞ and +∞ for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, slope: A::Parameter) -> A {
        let slope = x.parameter(slope);
        let below = x.clone() * slope.clone() * slope;
        A::choose(x.above(0.0), x, below) * 2.0
    }

    /// Returns 2 for x > 0, and `2·slope²` otherwise.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, slope: A::Parameter) -> A {
        let slope = x.parameter(slope);
        let height = A::choose(x.above(0.0), x.constant(1.0), slope.clone() * slope);
        or_nan(x, height * 2.0)
    }
}

/// Thresholded ReLU: `x` for x > θ, else 0 (Konda et al., arXiv 1402.3337).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThresholdedRelu;

impl Function for ThresholdedRelu {
    const NAME: &str = "thresholded-relu";
    const LABEL: &str = "thresholded ReLU";
    const PARAMETER: Option<Parameter> = Some(Parameter::any("theta", 1.0));
    const CHEAP: bool = true;

    /// Returns +0 below θ, and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, theta: A::Parameter) -> A {
        let over = (x.clone() - x.parameter(theta)).above(0.0);
        let value = A::choose(over, x.clone(), x.constant(0.0));
        or_nan(x, value)
    }

    /// Returns 1 for x > θ, and 0 otherwise.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, theta: A::Parameter) -> A {
        let over = (x.clone() - x.parameter(theta)).above(0.0);
        let slope = A::choose(over, x.constant(1.0), x.constant(0.0));
        or_nan(x, slope)
    }

    /// Returns 0, because the function consists of straight lines.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// Returns `value`, or NaN where x is NaN.
#[inline(always)]
pub(super) fn or_nan<A: Arithmetic>(x: A, value: A) -> A {
    A::choose(x.at_or_below(f64::INFINITY), value, x)
}
