//! Functions of straight and parabolic pieces: hard sigmoid, hard tanh, hard swish and hard Mish.
//!
//! Sums that reach 0 inside a piece are cut off at what they cannot be below, before they are multiplied or
//! divided: a shader compiler that did either to each of their terms would cancel there (NVIDIA's does).

use super::relu::or_nan;
use super::{Function, Parameter};
use crate::arithmetic::Arithmetic;

/// Hard sigmoid, `min(max((x + 3)/6, 0), 1)`, as PyTorch, transformers and timm have it (Howard et
/// al., arXiv 1905.02244).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HardSigmoid;

impl Function for HardSigmoid {
    const NAME: &str = "hard-sigmoid";
    const LABEL: &str = "hard sigmoid";

    /// 0 for −∞, 1 for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        (x.at_most(3.0) + 3.0).at_least(0.0) / 6.0
    }

    /// 1/6 between −3 and 3, 0 elsewhere and at both.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inside = x.clone().abs().below(3.0);
        let slope = A::choose(inside, x.constant(1.0 / 6.0), x.constant(0.0));
        or_nan(x, slope)
    }

    /// 0: it is made of straight pieces.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// Hard tanh, `min(max(x, −limit), limit)`, as PyTorch has it with a limit of 1 (Collobert, 2004).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hardtanh;

impl Function for Hardtanh {
    const NAME: &str = "hardtanh";
    const LABEL: &str = "hard tanh";
    const PARAMETER: Option<Parameter> = Some(Parameter::positive("limit", 1.0));

    /// Keeps the sign of a zero; ±limit for ±∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, limit: A::Parameter) -> A {
        let end = A::odd(&x, x.parameter(limit));
        A::choose(beyond(&x, limit).above(0.0), end, x)
    }

    /// 1 between, 0 elsewhere and at both ends.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, limit: A::Parameter) -> A {
        let inside = beyond(&x, limit).below(0.0);
        let slope = A::choose(inside, x.constant(1.0), x.constant(0.0));
        or_nan(x, slope)
    }

    /// 0: it is made of straight pieces.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// `|x| − limit`: its sign is right, whatever is rounded.
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

    /// Keeps the sign of a zero; −0 up to −3, x from 3 on.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let between = x.clone().at_most(3.0);
        let middle = between.clone() * (between + 3.0).at_least(0.0) / 6.0;
        let value = A::choose(x.below(3.0), middle, x.clone());
        A::choose(x.at_or_below(-3.0), x.constant(-0.0), value)
    }

    /// `(2x + 3)/6` between, 0 up to −3, 1 from 3 on.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let middle = (x.clone().at_most(3.0) * 2.0 + 3.0).at_least(-3.0) / 6.0;
        let slope = A::choose(x.below(3.0), middle, x.clone().constant_or_nan(1.0));
        A::choose(x.at_or_below(-3.0), x.constant(0.0), slope)
    }

    /// 1/3 between, 0 up to −3 and from 3 on.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inside = x.clone().abs().below(3.0);
        let height = A::choose(inside, x.constant(1.0 / 3.0), x.constant(0.0));
        or_nan(x, height)
    }
}

/// Hard Mish, `x·min(max((x + 2)/2, 0), 1)`, as timm has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HardMish;

impl Function for HardMish {
    const NAME: &str = "hard-mish";
    const LABEL: &str = "hard Mish";

    /// Keeps the sign of a zero; −0 up to −2, x from 0 on.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let between = x.clone().at_most(0.0);
        let middle = between.clone() * (between + 2.0).at_least(0.0) * 0.5;
        let value = A::choose(x.below(0.0), middle, x.clone());
        A::choose(x.at_or_below(-2.0), x.constant(-0.0), value)
    }

    /// `x + 1` between, 0 up to −2, 1 from 0 on.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let middle = x.clone().at_most(0.0) + 1.0;
        A::choose(x.at_or_below(-2.0), x.constant(0.0), middle)
    }

    /// 1 between, 0 up to −2 and from 0 on.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let below = A::choose(x.below(0.0), x.constant(1.0), x.constant(0.0));
        let height = A::choose(x.at_or_below(-2.0), x.constant(0.0), below);
        or_nan(x, height)
    }
}
