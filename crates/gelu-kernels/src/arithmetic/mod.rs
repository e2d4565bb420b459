//! What the functions are written in.
//!
//! | file | a number is | its results | for |
//! |---|---|---|---|
//! | `number` | an f64, [`Double`] | f64 | f64 tensors on the CPU |
//! | `number` | an f64, [`Rounded`] | are rounded once, to f32 or 16 bits | processors without a fused multiply-add, and functions that have no formula for f32 |
//! | [`fused`] | an f32 | f32, with a fused multiply-add | the two forms of GELU that f32 tensors use most |
//!
//! All but [`fused`] share one trait, [`Arithmetic`], and a formula written on it serves them all, and
//! those of other crates: gelu-core's tensors of any Burn backend, and vectors in its GPU kernels.
//! What rounding loses is carried where it would grow; where an arithmetic has digits to spare
//! ([`Rounded`]), the remainders are zero or unused, and cost nothing.

pub mod fused;
mod number;
mod series;

use core::ops::{Add, Div, Mul, Neg, Sub};
pub use number::{Double, Rounded};

/// Which coefficients a formula needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// All is computed in f32.
    Single,
    /// All is computed in f32, and the result rounded to 16 bits.
    Half,
    /// All is computed in f64, and the result rounded to f32 or less.
    Rounded,
    /// All is computed in f64, and so is the result.
    Double,
}

/// A number in a formula. NaN passes through every operation: conditions are false for it.
pub trait Arithmetic:
    Clone
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// Where a condition holds.
    type Mask: Clone;
    /// A function's parameter.
    type Parameter: Copy;
    /// A power of e.
    type Exponential: Exponential<Self>;

    /// Which coefficients are enough.
    fn digits(&self) -> Digits;

    /// `value`, wherever there is a number.
    fn constant(&self, value: f64) -> Self;

    /// A parameter, wherever there is a number.
    fn parameter(&self, value: Self::Parameter) -> Self;

    /// `|self|`.
    fn abs(self) -> Self;

    /// `√self` for `self ≥ 0`; NaN below.
    fn sqrt(self) -> Self;

    /// `self < limit`.
    fn below(&self, limit: f64) -> Self::Mask;

    /// `self ≤ limit`.
    fn at_or_below(&self, limit: f64) -> Self::Mask;

    /// `self > limit`.
    fn above(&self, limit: f64) -> Self::Mask;

    /// `then` where the condition holds, else `otherwise`.
    fn choose(condition: Self::Mask, then: Self, otherwise: Self) -> Self;

    /// Its leading half of the digits, and the rest. Their products are exact; and nothing that a
    /// compiler knows about sums lets it put them together again.
    fn split(self) -> (Self, Self);

    /// Itself; a compiler that regroups sums and products does not see through it.
    #[inline(always)]
    fn walled(self) -> Self {
        self
    }

    /// A constant's leading half of the digits.
    fn leading(&self, constant: f64) -> f64;

    /// What is left of a constant that is rounded to this arithmetic, given what is left of it in
    /// f64.
    #[inline(always)]
    fn left_of(&self, constant: f64, low: f64) -> f64 {
        match self.digits() {
            Digits::Single => (constant - f64::from(constant as f32)) + low,
            Digits::Half | Digits::Rounded | Digits::Double => low,
        }
    }

    /// `self/divisor` for a divisor from 1 to 2⁶⁰.
    #[inline(always)]
    fn over(self, divisor: Self) -> Self {
        self / divisor
    }

    /// `e^(self + low)` for −800 ≤ `self` ≤ 0; `low` is small, as what a rounding lost.
    fn exponential(self, low: Self) -> Self::Exponential;

    /// `e^self`, as [`exponential`](Self::exponential).
    #[inline(always)]
    fn exp(self) -> Self::Exponential {
        let nothing = self.constant(0.0);
        self.exponential(nothing)
    }

    /// `e^self − 1` for `self ≤ 0` without cancellation at 0.
    fn exp_m1(self) -> Self;

    /// `constant + product` and what rounding took from it; the constant is the larger.
    #[inline(always)]
    fn sum_in_parts(product: Self, constant: f64) -> (Self, Self) {
        let high = product.clone() + constant;
        (high.clone(), product - (high - constant))
    }

    /// `self·other` and what rounding took from it.
    #[inline(always)]
    fn product(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.clone().split(), other.clone().split());
        // Behind a wall: a compiler that fuses the product with what it is added to would leave its
        // rounding out, which `low` holds.
        let high = (self * other).walled();
        // Behind a wall, or a compiler would put the parts together again.
        let low = (a.0.clone() * b.0.clone() - high.clone()).walled();
        (high, low + a.0 * b.1.clone() + a.1.clone() * b.0 + a.1 * b.1)
    }

    /// `min(self, limit)`.
    #[inline(always)]
    fn at_most(self, limit: f64) -> Self {
        Self::choose(self.above(limit), self.constant(limit), self)
    }

    /// `max(self, limit)`; a zero stays if it is the limit.
    #[inline(always)]
    fn at_least(self, limit: f64) -> Self {
        Self::choose(self.below(limit), self.constant(limit), self)
    }

    /// `max(self, −0)`: keeps the sign of a zero.
    #[inline(always)]
    fn positive_part(self) -> Self {
        self.at_least(-0.0)
    }

    /// `value` everywhere but where `self` is NaN.
    #[inline(always)]
    fn constant_or_nan(self, value: f64) -> Self {
        let constant = self.constant(value);
        Self::choose(self.at_or_below(f64::INFINITY), constant, self)
    }

    /// `1 − tail` for x ≥ 0, `tail` below: functions with `f(x) + f(−x) = 1`.
    #[inline(always)]
    fn on_its_side(x: &Self, tail: Self) -> Self {
        Self::choose(x.below(0.0), tail.clone(), -tail + 1.0)
    }

    /// `value` for x ≥ 0, `−value` below: odd functions.
    #[inline(always)]
    fn odd(x: &Self, value: Self) -> Self {
        Self::choose(x.below(0.0), -value.clone(), value)
    }

    /// Where this is right: in f32, in f64 for f32, in f64.
    #[inline(always)]
    fn by_digits(&self, single: f64, rounded: f64, double: f64) -> f64 {
        match self.digits() {
            Digits::Single | Digits::Half => single,
            Digits::Rounded => rounded,
            Digits::Double => double,
        }
    }

    /// `Σ coefficients[k]·self^k`.
    #[inline(always)]
    fn polynomial(self, coefficients: &[f64]) -> Self {
        let mut index = coefficients.len() - 1;
        if index == 0 {
            return self.constant(coefficients[0]);
        }
        let mut sum = self.clone() * coefficients[index];
        while index > 1 {
            index -= 1;
            sum = (sum + coefficients[index]) * self.clone();
        }
        sum + coefficients[0]
    }

    /// As [`polynomial`](Self::polynomial), with what the last rounding took, and a constant in
    /// two parts.
    #[inline(always)]
    fn polynomial_in_parts(self, coefficients: &[f64], constant_low: f64) -> (Self, Self) {
        let product = self.clone().polynomial(&coefficients[1..]) * self;
        let (high, low) = Self::sum_in_parts(product, coefficients[0]);
        (high, low + constant_low)
    }

    /// `e^(factor·self)`, the factor in two parts.
    #[inline(always)]
    fn exponential_of_product(self, factor: f64, factor_low: f64) -> Self::Exponential {
        let (leading, (top, rest)) = (self.leading(factor), self.clone().split());
        let low = top.clone() * (factor - leading) + rest * factor + self * factor_low;
        (top * leading).exponential(low)
    }

    /// `e^(−self²/2)`.
    #[inline(always)]
    fn normal_exponential(self) -> Self::Exponential {
        let (top, rest) = self.clone().split();
        (top.clone() * top.clone() * -0.5).exponential(rest * (self + top) * -0.5)
    }
}

/// A power of e, kept so that a product with it is rounded into the subnormals once.
pub trait Exponential<A>: Clone {
    /// Itself.
    fn value(self) -> A;

    /// `factor·e`.
    fn times(self, factor: A) -> A;

    /// `(high + low)·e`, `low` being what roundings took from `high`.
    fn times_parts(self, high: A, low: A) -> A;
}

/// A derivative about its zero `high + low`, where it would lose all that it subtracts:
/// `Σ coefficients[k]·δ^(k+1)`, δ the distance from it. `tests/accuracy/fit.py` prints them.
pub(crate) struct Zero<const N: usize> {
    pub(crate) high: f64,
    pub(crate) low: f64,
    /// Up to where the series is good to 2^-58 of its first term.
    pub(crate) radius: f64,
    pub(crate) coefficients: [f64; N],
}

impl<const N: usize> Zero<N> {
    /// `elsewhere`, and near the zero the series, for results in f64 (others do without: what is
    /// left of the zero there is below their last place at 1).
    #[inline(always)]
    pub(crate) fn or_elsewhere<A: Arithmetic>(&self, x: A, x_low: A, elsewhere: A) -> A {
        if elsewhere.digits() != Digits::Double {
            return elsewhere;
        }
        // Behind a wall, or a compiler would put the two parts of the zero together again.
        let distance = (x - self.high).walled() + (x_low - self.low);
        let near = distance.clone().abs().at_or_below(self.radius);
        let series = distance.clone().polynomial(&self.coefficients) * distance;
        A::choose(near, series, elsewhere)
    }
}
