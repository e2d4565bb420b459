//! Functions of straight and parabolic pieces: hard sigmoid, hard swish and hard Mish.

use super::Function;
use super::relu::or_nan;
use crate::arithmetic::Arithmetic;

/// Hard sigmoid, `min(max((x + 3)/6, 0), 1)`, as PyTorch, transformers and timm have it (Howard et
/// al., arXiv 1905.02244).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HardSigmoid;

impl Function for HardSigmoid {
    const NAME: &str = "hard-sigmoid";
    const LABEL: &str = "hard sigmoid";
    const ALIASES: &[&str] = &["hardsigmoid"];

    /// 0 for −∞, 1 for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let middle = x.clone().at_most(3.0) + 3.0;
        A::choose(x.at_or_below(-3.0), x.constant(0.0), middle / 6.0)
    }

    /// 1/6 between −3 and 3, 0 elsewhere and at both.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inside = x.clone().abs().below(3.0);
        let slope = A::choose(inside, x.constant(1.0 / 6.0), x.constant(0.0));
        or_nan(x, slope)
    }
}

/// Hard swish, `x·min(max((x + 3)/6, 0), 1)` (Howard et al., arXiv 1905.02244).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HardSwish;

impl Function for HardSwish {
    const NAME: &str = "hard-swish";
    const LABEL: &str = "hard swish";
    const ALIASES: &[&str] = &["hardswish"];

    /// Keeps the sign of a zero; −0 up to −3, x from 3 on.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let between = x.clone().at_most(3.0);
        let middle = between.clone() * (between + 3.0) / 6.0;
        let value = A::choose(x.below(3.0), middle, x.clone());
        A::choose(x.at_or_below(-3.0), x.constant(-0.0), value)
    }

    /// `(2x + 3)/6` between, 0 up to −3, 1 from 3 on.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let middle = (x.clone().at_most(3.0) * 2.0 + 3.0) / 6.0;
        let slope = A::choose(x.below(3.0), middle, x.clone().constant_or_nan(1.0));
        A::choose(x.at_or_below(-3.0), x.constant(0.0), slope)
    }
}

/// Hard Mish, `x·min(max((x + 2)/2, 0), 1)`, as timm has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HardMish;

impl Function for HardMish {
    const NAME: &str = "hard-mish";
    const LABEL: &str = "hard Mish";
    const ALIASES: &[&str] = &["hardmish"];

    /// Keeps the sign of a zero; −0 up to −2, x from 0 on.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let between = x.clone().at_most(0.0);
        let middle = between.clone() * (between + 2.0) * 0.5;
        let value = A::choose(x.below(0.0), middle, x.clone());
        A::choose(x.at_or_below(-2.0), x.constant(-0.0), value)
    }

    /// `x + 1` between, 0 up to −2, 1 from 0 on.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let middle = x.clone().at_most(0.0) + 1.0;
        A::choose(x.at_or_below(-2.0), x.constant(0.0), middle)
    }
}
