//! The exact GELU squared, `(x·Φ(x))²`: to the squared ReLU what the GELU is to the ReLU (called GELU²
//! in arXiv 2605.17659). It is 0 at 0, falls back to 0 on both sides of its small hump at −0.7518, and grows
//! as x².
//!
//! Value and derivative are products of the GELU's own, which lose no digit anywhere; the derivative's
//! two zeros are factors.

use super::gelu::Gelu;
use super::{Function, normal_cdf};
use crate::arithmetic::Arithmetic;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Gelu2;

impl Function for Gelu2 {
    const NAME: &str = "gelu2";
    const LABEL: &str = "GELU²";
    const ALIASES: &[&str] = &["squared-gelu", "gelu-squared"];

    /// +0 for −∞ and ±0; overflows to +∞ where x² does.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        let y = Gelu::value(x, parameter);
        y.clone() * y
    }

    /// `2·GELU(x)·GELU′(x)`; 0 for −∞, +∞ for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        Gelu::value(x.clone(), parameter) * 2.0 * Gelu::derivative(x, parameter)
    }

    /// `2·(GELU′(x)² + GELU(x)·GELU″(x))`; 0 for −∞, 2 for +∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A {
        // Past where the bend is 0 the value would be infinite.
        let reach = normal_cdf::fit(x.digits()).reach;
        let bend = Gelu::second_derivative(x.clone(), parameter);
        let bend = Gelu::value(x.clone().at_most(reach), parameter) * bend;
        let slope = Gelu::derivative(x, parameter);
        (slope.clone() * slope + bend) * 2.0
    }
}
