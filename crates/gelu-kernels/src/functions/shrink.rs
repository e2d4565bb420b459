//! Functions that set small numbers to 0: hard and soft shrinkage (Donoho & Johnstone, 1994), and tanh
//! shrinkage, as in PyTorch.

use super::hard::beyond;
use super::relu::or_nan;
use super::tanh::Tanh;
use super::{Function, Parameter};
use crate::arithmetic::Arithmetic;

/// Hard shrinkage: `x` for |x| > λ, else 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hardshrink;

impl Function for Hardshrink {
    const NAME: &str = "hardshrink";
    const LABEL: &str = "hard shrinkage";
    const PARAMETER: Option<Parameter> = Some(Parameter::positive("lambda", 0.5));

    /// Returns ±∞ for ±∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, lambda: A::Parameter) -> A {
        let outside = outside(&x, lambda);
        let value = A::choose(outside, x.clone(), x.constant(0.0));
        or_nan(x, value)
    }

    /// Returns 1 for |x| > λ, and 0 otherwise.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, lambda: A::Parameter) -> A {
        let slope = A::choose(outside(&x, lambda), x.constant(1.0), x.constant(0.0));
        or_nan(x, slope)
    }

    /// Returns 0, because the function consists of straight lines.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// Soft shrinkage: `x` moved towards 0 by λ, or 0 where |x| ≤ λ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softshrink;

impl Function for Softshrink {
    const NAME: &str = "softshrink";
    const LABEL: &str = "soft shrinkage";
    const PARAMETER: Option<Parameter> = Some(Parameter::positive("lambda", 0.5));

    /// Returns ±∞ for ±∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, lambda: A::Parameter) -> A {
        let moved = beyond(&x, lambda);
        let left = A::choose(outside(&x, lambda), moved, x.constant(0.0));
        let value = A::odd(&x, left);
        or_nan(x, value)
    }

    /// Returns 1 for |x| > λ, and 0 otherwise.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, lambda: A::Parameter) -> A {
        Hardshrink::derivative(x, lambda)
    }

    /// Returns 0, because the function consists of straight lines.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}

/// Returns where `|x| > λ`.
#[inline(always)]
fn outside<A: Arithmetic>(x: &A, lambda: A::Parameter) -> A::Mask {
    beyond(x, lambda).above(0.0)
}

/// Tanh shrinkage, `x − tanh x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tanhshrink;

impl Function for Tanhshrink {
    const NAME: &str = "tanhshrink";
    const LABEL: &str = "tanh shrinkage";

    /// Keeps the sign of a zero; returns ±∞ for ±∞.
    ///
    /// Where the difference would cancel, the value is `x·r/(1 + r)` from Lambert's continued fraction:
    /// `tanh x = x/(1 + r)` with `r = x²/(3 + x²/(5 + …))`. All of its terms are positive.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        /// The largest |x| at which the continued fraction is used; the fraction's depth is chosen for
        /// this range.
        const NEAR: f64 = 1.5;
        let depth = x.by_digits(6.0, 8.0, 10.0) as u32;
        let near = x.clone().at_most(NEAR).at_least(-NEAR);
        let square = near.clone() * near.clone();
        let mut r = square.clone() / f64::from(2 * depth + 1);
        let mut k = depth;
        while k > 1 {
            k -= 1;
            r = square.clone() / (r + f64::from(2 * k + 1));
        }
        let near = near * (r.clone() / (r + 1.0));
        let far = x.clone() - Tanh::value(x.clone(), parameter);
        A::choose(x.abs().below(NEAR), near, far)
    }

    /// Returns `tanh² x`, computed as `1 − (1 − tanh² x)` where |x| is large; 1 for ±∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        let tanh = Tanh::value(x.clone(), parameter);
        let rest = Tanh::derivative(x.clone(), parameter);
        A::choose(x.abs().above(0.9), -rest + 1.0, tanh.clone() * tanh)
    }

    /// Returns `2·tanh·(1 − tanh²)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        -Tanh::second_derivative(x, parameter)
    }
}
