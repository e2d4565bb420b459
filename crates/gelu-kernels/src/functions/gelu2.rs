//! The squared exact GELU, `(x·Φ(x))²`: it relates to the GELU as the squared ReLU relates to the ReLU
//! (arXiv 2605.17659 calls it GELU²). It is 0 at 0, tends to 0 on both sides of a small hump at −0.7518, and
//! grows as x².
//!
//! Value and derivative are products of the GELU's value and derivative, which lose no digits anywhere. The
//! derivative's two zeros are factors.

use super::gelu::Gelu;
use super::{Function, normal_cdf};
use crate::arithmetic::Arithmetic;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Gelu2;

impl Function for Gelu2 {
    const NAME: &str = "gelu2";
    const LABEL: &str = "GELU²";
    const ALIASES: &[&str] = &["squared-gelu", "gelu-squared"];

    /// Returns +0 for −∞ and ±0; overflows to +∞ where x² does.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        let y = Gelu::value(x, parameter);
        y.clone() * y
    }

    /// Returns `2·GELU(x)·GELU′(x)`; 0 for −∞ and +∞ for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        Gelu::value(x.clone(), parameter) * 2.0 * Gelu::derivative(x, parameter)
    }

    /// Returns `2·(GELU′(x)² + GELU(x)·GELU″(x))`; 0 for −∞ and 2 for +∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        // Past `reach` GELU″ is 0, but the value would be infinite and the product NaN.
        let reach = normal_cdf::fit(x.digits()).reach;
        let bend = Gelu::second_derivative(x.clone(), parameter);
        let bend = Gelu::value(x.clone().at_most(reach), parameter) * bend;
        let slope = Gelu::derivative(x, parameter);
        (slope.clone() * slope + bend) * 2.0
    }
}
