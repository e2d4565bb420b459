//! Piecewise linear and piecewise quadratic functions: hard sigmoid, hard tanh, hard swish and hard Mish.
//!
//! A sum that reaches 0 inside a piece is clamped to its smallest possible value before it is multiplied or
//! divided. A shader compiler that distributed the multiplication or division over the sum's terms, as
//! NVIDIA's does, would cancel there.

use super::relu::or_nan;
use super::{Function, Parameter};
use crate::arithmetic::Arithmetic;

/// Hard sigmoid, `min(max((x + 3)/6, 0), 1)`, as in PyTorch, transformers and timm (Howard et al., arXiv
/// 1905.02244).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HardSigmoid;

impl Function for HardSigmoid {
    const NAME: &str = "hard-sigmoid";
    const LABEL: &str = "hard sigmoid";

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        (x.at_most(3.0) + 3.0).at_least(0.0) / 6.0
    }

    /// Returns 1/6 between −3 and 3, and 0 elsewhere, including −3 and 3.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inside = x.clone().abs().below(3.0);
        let slope = A::choose(inside, x.constant(1.0 / 6.0), x.constant(0.0));
        or_nan(x, slope)
    }

    /// Returns 0, because the function consists of straight lines.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// Hard tanh, `min(max(x, −limit), limit)`. PyTorch's has a limit of 1 (Collobert, 2004).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hardtanh;

impl Function for Hardtanh {
    const NAME: &str = "hardtanh";
    const LABEL: &str = "hard tanh";
    const PARAMETER: Option<Parameter> = Some(Parameter::positive("limit", 1.0));

    /// Keeps the sign of a zero; returns ±limit for ±∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, limit: A::Parameter) -> A {
        let end = A::odd(&x, x.parameter(limit));
        A::choose(beyond(&x, limit).above(0.0), end, x)
    }

    /// Returns 1 between the limits, and 0 elsewhere, including both limits.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, limit: A::Parameter) -> A {
        let inside = beyond(&x, limit).below(0.0);
        let slope = A::choose(inside, x.constant(1.0), x.constant(0.0));
        or_nan(x, slope)
    }

    /// Returns 0, because the function consists of straight lines.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// Returns `|x| − limit`. Its sign is right despite rounding.
#[inline(always)]
pub(super) fn beyond<A: Arithmetic>(x: &A, limit: A::Parameter) -> A {
    x.clone().abs() - x.parameter(limit)
}

/// Hard swish, `x·min(max((x + 3)/6, 0), 1)` (Howard et al., arXiv 1905.02244).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HardSwish;

impl Function for HardSwish {
    const NAME: &str = "hard-swish";
    const LABEL: &str = "hard swish";

    /// Keeps the sign of a zero; returns −0 up to −3 and x from 3 on.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let between = x.clone().at_most(3.0);
        let middle = between.clone() * (between + 3.0).at_least(0.0) / 6.0;
        let value = A::choose(x.below(3.0), middle, x.clone());
        A::choose(x.at_or_below(-3.0), x.constant(-0.0), value)
    }

    /// Returns `(2x + 3)/6` between −3 and 3, 0 up to −3, and 1 from 3 on.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let middle = (x.clone().at_most(3.0) * 2.0 + 3.0).at_least(-3.0) / 6.0;
        let slope = A::choose(x.below(3.0), middle, x.clone().constant_or_nan(1.0));
        A::choose(x.at_or_below(-3.0), x.constant(0.0), slope)
    }

    /// Returns 1/3 between −3 and 3, and 0 elsewhere, including −3 and 3.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inside = x.clone().abs().below(3.0);
        let height = A::choose(inside, x.constant(1.0 / 3.0), x.constant(0.0));
        or_nan(x, height)
    }
}

/// Hard Mish, `x·min(max((x + 2)/2, 0), 1)`, as in timm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HardMish;

impl Function for HardMish {
    const NAME: &str = "hard-mish";
    const LABEL: &str = "hard Mish";

    /// Keeps the sign of a zero; returns −0 up to −2 and x from 0 on.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let between = x.clone().at_most(0.0);
        let middle = between.clone() * (between + 2.0).at_least(0.0) * 0.5;
        let value = A::choose(x.below(0.0), middle, x.clone());
        A::choose(x.at_or_below(-2.0), x.constant(-0.0), value)
    }

    /// Returns `x + 1` between −2 and 0, 0 up to −2, and 1 from 0 on.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let middle = x.clone().at_most(0.0) + 1.0;
        A::choose(x.at_or_below(-2.0), x.constant(0.0), middle)
    }

    /// Returns 1 between −2 and 0, and 0 elsewhere, including −2 and 0.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let below = A::choose(x.below(0.0), x.constant(1.0), x.constant(0.0));
        let height = A::choose(x.at_or_below(-2.0), x.constant(0.0), below);
        or_nan(x, height)
    }
}
