//! The logistic function `σ(x) = 1/(1 + e^−x)`, and functions `x·σ(u(x))` with an odd `u`: SiLU and
//! two approximations of GELU.
//!
//! The formulas only use `E = e^−|u|`, so nothing overflows. For negative x the value is
//! `x·σ(u) = E·x/(1 + E)`, and with `w = 1/(1 + E)` the derivative `σ(u)·(1 + x·u′·σ(−u))` is
//! `E·w·(1 − |x|·u′·w)`. The derivatives at x and −x sum to 1.

use super::Function;
use crate::arithmetic::{Arithmetic, Digits, Exponential};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sigmoid;

impl Function for Sigmoid {
    const NAME: &str = "sigmoid";
    const LABEL: &str = "sigmoid";
    const ALIASES: &[&str] = &["logistic"];

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let e = (-x.clone().abs().at_most(reach(&x))).exp();
        open(&x, e)
    }

    /// Returns `σ(x)·σ(−x)`; 0 for ±∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let e = (-x.clone().abs().at_most(reach(&x))).exp();
        let sum = e.clone().value() + 1.0;
        e.times(x.constant(1.0).over(sum.clone() * sum))
    }

    /// Returns `σ(x)·σ(−x)·(1 − 2σ(x))`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(reach(&x));
        let (height, fall) = bell(t);
        A::odd(&x, -(height * fall))
    }
}

/// Returns `σ(t)·σ(−t)` and `2σ(t) − 1`, for t from 0 up to where the first is 0.
#[inline(always)]
pub(super) fn bell<A: Arithmetic>(t: A) -> (A, A) {
    let e = (-t.clone()).exp();
    let w = t.constant(1.0).over(e.clone().value() + 1.0);
    (e.times(w.clone() * w.clone()), -(-t).exp_m1() * w)
}

/// Returns the second derivative of `x·σ(u)`, `σ(u)·σ(−u)·(2u′ + x·u″ + x·u′²·(1 − 2σ(u)))`, which
/// is even. The arguments are `t = |x|`, `|u|`, `u′` and `t·|u″|`.
#[inline(always)]
pub(super) fn gated_second_derivative<A: Arithmetic>(t: A, u: A, slope: A, bend: A) -> A {
    let (height, rise) = bell(u);
    height * (slope.clone() * 2.0 + bend - t * slope.clone() * slope * rise)
}

/// Returns a t for which `e^−t` and `t·e^−t` are 0.
#[inline(always)]
pub(super) fn reach<A: Arithmetic>(x: &A) -> f64 {
    x.by_digits(112.0, 150.0, 760.0)
}

/// Returns `σ(u)` for `u` with the sign of x, given `e^−|u|`.
#[inline(always)]
pub(super) fn open<A: Arithmetic>(x: &A, e: A::Exponential) -> A {
    let w = x.constant(1.0).over(e.clone().value() + 1.0);
    A::choose(x.below(0.0), e.times(w.clone()), w)
}

/// Returns `x·σ(u)`, given `e^−|u|`. A negative x has to be finite.
#[inline(always)]
pub(super) fn gated<A: Arithmetic>(x: A, e: A::Exponential) -> A {
    let w = x.clone().over(e.clone().value() + 1.0);
    A::choose(x.below(0.0), e.times(w.clone()), w)
}

/// Returns the derivative of `x·σ(u)`, given `|x|·u′` in two parts and `e^−|u|`.
#[inline(always)]
pub(super) fn gated_derivative<A: Arithmetic>(x: &A, rise: A, rise_low: A, e: A::Exponential) -> A {
    let (sum, sum_low) = A::sum_in_parts(e.clone().value(), 1.0);
    let w = x.constant(1.0).over(sum.clone());
    let bracket = match x.digits() {
        Digits::Double => {
            // Near the derivative's zero, every rounding error counts.
            let (product, low) = w.clone().product(sum);
            let w_low = w.clone() * (((-product + 1.0) - low) - w.clone() * sum_low);
            let (product, low) = rise.clone().product(w.clone());
            (-product + 1.0) - (low + (rise_low * w.clone() + rise * w_low))
        }
        Digits::Single => -((rise + rise_low) * w.clone()) + 1.0,
        Digits::Half | Digits::Rounded => -(rise * w.clone()) + 1.0,
    };
    A::on_its_side(x, e.times(w * bracket))
}
