//! The identity, `x`, for a linear layer or for dropout alone.

use super::Function;
use crate::arithmetic::Arithmetic;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity;

impl Function for Identity {
    const NAME: &str = "identity";
    const LABEL: &str = "identity";
    const ALIASES: &[&str] = &["linear"];
    const CHEAP: bool = true;

    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x
    }

    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(1.0)
    }

    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        x.constant_or_nan(0.0)
    }
}
