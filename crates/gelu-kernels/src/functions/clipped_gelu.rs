//! The clipped exact GELU, `min(max(GELU(x), −limit), limit)`, for models that are quantised
//! afterwards (arXiv 2004.09602; transformers' `gelu_10`).

use super::gelu::Gelu;
use super::relu::or_nan;
use super::{Function, Parameter};
use crate::arithmetic::Arithmetic;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ClippedGelu;

impl Function for ClippedGelu {
    const NAME: &str = "clipped-gelu";
    const LABEL: &str = "GELU (clipped)";
    const ALIASES: &[&str] = &["gelu-10"];
    const PARAMETER: Option<Parameter> = Some(Parameter::positive("limit", 10.0));

    /// Returns the limit for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, limit: A::Parameter) -> A {
        let (y, limit) = (Gelu::value(x.clone(), limit), x.parameter(limit));
        let (over, under) = outside(&y, &limit);
        A::choose(over, limit.clone(), A::choose(under, -limit, y))
    }

    /// Returns 0 where the GELU is clipped.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, limit: A::Parameter) -> A {
        inside(x.clone(), limit, Gelu::derivative(x, limit))
    }

    /// Returns 0 where the GELU is clipped.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, limit: A::Parameter) -> A {
        inside(x.clone(), limit, Gelu::second_derivative(x, limit))
    }
}

/// Returns `value`, or 0 where the GELU is clipped.
#[inline(always)]
fn inside<A: Arithmetic>(x: A, limit: A::Parameter, value: A) -> A {
    let y = Gelu::value(x.clone(), limit);
    let (over, under) = outside(&y, &x.parameter(limit));
    let value = A::choose(under, x.constant(0.0), value);
    or_nan(x.clone(), A::choose(over, x.constant(0.0), value))
}

/// Returns where y is above `limit`, and where y is below `−limit`.
#[inline(always)]
fn outside<A: Arithmetic>(y: &A, limit: &A) -> (A::Mask, A::Mask) {
    ((y.clone() - limit.clone()).above(0.0), (y.clone() + limit.clone()).below(0.0))
}

#[cfg(test)]
mod tests {
    use crate::Unit;

    #[test]
    fn both_sides_are_cut_off() {
        // gelu(−0.75) is −0.16997, gelu(−0.05) −0.024003 and gelu(2) 1.9545 (mpmath).
        let unit = Unit::ClippedGelu { limit: 0.1 };
        assert_eq!([-0.75, 2.0].map(|x| unit.value(x)), [-0.1, 0.1]);
        assert_eq!([-0.75, 2.0].map(|x| unit.derivative(x)), [0.0; 2]);
        assert!((unit.value(-0.05) + 0.024_003_059_708).abs() < 1e-12);
        assert_eq!(unit.derivative(-0.05), Unit::Gelu.derivative(-0.05));
    }
}
