//! The arithmetics that the functions' formulas are written in.
//!
//! | file | number type | result type | used for |
//! |---|---|---|---|
//! | `number` | an f64, [`Double`] | f64 | f64 tensors on the CPU |
//! | `number` | an f64, [`Rounded`] | rounded once, to f32 or 16 bits | processors without a fused multiply-add, and functions without a formula for f32 |
//! | [`fused`] | an f32 | f32, with a fused multiply-add | the two forms of GELU that f32 tensors use most |
//!
//! All but [`fused`] implement the trait [`Arithmetic`]. A formula written for the trait works for all of them, and for
//! the arithmetics of other crates: gelu-core's tensors of any Burn backend, and vectors in its GPU kernels. Formulas
//! carry rounding errors along where the errors would grow. Where an arithmetic has digits to spare ([`Rounded`]),
//! these remainders are zero or unused, and cost nothing.

pub mod fused;
mod number;
mod series;

use core::ops::{Add, Div, Mul, Neg, Sub};
pub use number::{Double, Rounded};

/// The precision that decides which coefficients a formula uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// Everything is computed in f32.
    Single,
    /// Everything is computed in f32, and the result is rounded to 16 bits.
    Half,
    /// Everything is computed in f64, and the result is rounded to f32 or less.
    Rounded,
    /// Everything is computed in f64, including the result.
    Double,
}

/// A number in a formula. NaN passes through every operation, because conditions are false for NaN.
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
    /// The result of a comparison: where a condition holds.
    type Mask: Clone;
    /// A function's parameter.
    type Parameter: Copy;
    /// A power of e.
    type Exponential: Exponential<Self>;

    /// Returns the precision that decides which coefficients are enough.
    fn digits(&self) -> Digits;

    /// Returns `value` as a number of this arithmetic, for every element of `self`.
    fn constant(&self, value: f64) -> Self;

    /// Returns the parameter as a number of this arithmetic, for every element of `self`.
    fn parameter(&self, value: Self::Parameter) -> Self;

    /// Returns `|self|`.
    fn abs(self) -> Self;

    /// Returns `√self` for `self ≥ 0`, and NaN below.
    fn sqrt(self) -> Self;

    /// Returns where `self < limit`.
    fn below(&self, limit: f64) -> Self::Mask;

    /// Returns where `self ≤ limit`.
    fn at_or_below(&self, limit: f64) -> Self::Mask;

    /// Returns where `self > limit`.
    fn above(&self, limit: f64) -> Self::Mask;

    /// Returns `then` where the condition holds, and `otherwise` elsewhere.
    fn choose(condition: Self::Mask, then: Self, otherwise: Self) -> Self;

    /// Splits the number into the leading half of its digits and the rest. Products of the halves are exact. A compiler
    /// that regroups sums cannot recombine the halves.
    fn split(self) -> (Self, Self);

    /// Returns the number unchanged, but hides it from a compiler that regroups sums and products.
    #[inline(always)]
    fn walled(self) -> Self {
        self
    }

    /// Returns the leading half of a constant's digits.
    fn leading(&self, constant: f64) -> f64;

    /// Returns the rounding error of `constant` in this arithmetic, given its rounding error `low` in f64.
    #[inline(always)]
    fn left_of(&self, constant: f64, low: f64) -> f64 {
        match self.digits() {
            Digits::Single => (constant - f64::from(constant as f32)) + low,
            Digits::Half | Digits::Rounded | Digits::Double => low,
        }
    }

    /// Returns `self/divisor` for a divisor from 1 to 2⁶⁰.
    #[inline(always)]
    fn over(self, divisor: Self) -> Self {
        self / divisor
    }

    /// Returns `e^(self + low)` for −800 ≤ `self` ≤ 0. `low` is small, such as a rounding error of `self`.
    fn exponential(self, low: Self) -> Self::Exponential;

    /// Returns `e^self`; see [`exponential`](Self::exponential) for the range.
    #[inline(always)]
    fn exp(self) -> Self::Exponential {
        let nothing = self.constant(0.0);
        self.exponential(nothing)
    }

    /// Returns `e^self − 1` for `self ≤ 0`, without cancellation at 0.
    fn exp_m1(self) -> Self;

    /// Returns `constant + product` and the rounding error of this sum. The constant has to be the larger of the two.
    #[inline(always)]
    fn sum_in_parts(product: Self, constant: f64) -> (Self, Self) {
        let high = product.clone() + constant;
        (high.clone(), product - (high - constant))
    }

    /// Returns `self·other` and the rounding error of this product.
    #[inline(always)]
    fn product(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.clone().split(), other.clone().split());
        // The wall is needed because `low` holds the product's rounding error. A compiler that fused the product with a
        // later addition would not round the product.
        let high = (self * other).walled();
        // Without the wall a compiler would recombine the parts.
        let low = (a.0.clone() * b.0.clone() - high.clone()).walled();
        (high, low + a.0 * b.1.clone() + a.1.clone() * b.0 + a.1 * b.1)
    }

    /// Returns `min(self, limit)`.
    #[inline(always)]
    fn at_most(self, limit: f64) -> Self {
        Self::choose(self.above(limit), self.constant(limit), self)
    }

    /// Returns `max(self, limit)`; a zero keeps its sign if the limit is zero.
    #[inline(always)]
    fn at_least(self, limit: f64) -> Self {
        Self::choose(self.below(limit), self.constant(limit), self)
    }

    /// Returns `max(self, −0)`: keeps the sign of a zero.
    #[inline(always)]
    fn positive_part(self) -> Self {
        self.at_least(-0.0)
    }

    /// Returns `value`, or NaN where `self` is NaN.
    #[inline(always)]
    fn constant_or_nan(self, value: f64) -> Self {
        let constant = self.constant(value);
        Self::choose(self.at_or_below(f64::INFINITY), constant, self)
    }

    /// Returns `1 − tail` for x ≥ 0 and `tail` below, for functions with `f(x) + f(−x) = 1`.
    #[inline(always)]
    fn on_its_side(x: &Self, tail: Self) -> Self {
        Self::choose(x.below(0.0), tail.clone(), -tail + 1.0)
    }

    /// Returns `value` for x ≥ 0 and `−value` below, for odd functions.
    #[inline(always)]
    fn odd(x: &Self, value: Self) -> Self {
        Self::choose(x.below(0.0), -value.clone(), value)
    }

    /// Returns the constant for this precision: `single` for f32, `rounded` for f64 with results in f32, `double` for
    /// f64 with results in f64.
    #[inline(always)]
    fn by_digits(&self, single: f64, rounded: f64, double: f64) -> f64 {
        match self.digits() {
            Digits::Single | Digits::Half => single,
            Digits::Rounded => rounded,
            Digits::Double => double,
        }
    }

    /// Returns `Σ coefficients[k]·self^k`.
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

    /// Returns the [`polynomial`](Self::polynomial) and the rounding error of its last step. `constant_low` is the
    /// rounding error of the first coefficient.
    #[inline(always)]
    fn polynomial_in_parts(self, coefficients: &[f64], constant_low: f64) -> (Self, Self) {
        let product = self.clone().polynomial(&coefficients[1..]) * self;
        let (high, low) = Self::sum_in_parts(product, coefficients[0]);
        (high, low + constant_low)
    }

    /// Returns `e^((factor + factor_low)·self)`.
    #[inline(always)]
    fn exponential_of_product(self, factor: f64, factor_low: f64) -> Self::Exponential {
        let (leading, (top, rest)) = (self.leading(factor), self.clone().split());
        let low = top.clone() * (factor - leading) + rest * factor + self * factor_low;
        (top * leading).exponential(low)
    }

    /// Returns `e^(−self²/2)`.
    #[inline(always)]
    fn normal_exponential(self) -> Self::Exponential {
        let (top, rest) = self.clone().split();
        (top.clone() * top.clone() * -0.5).exponential(rest * (self + top) * -0.5)
    }
}

/// A power of e, stored so that a product with it is rounded into the subnormals only once.
pub trait Exponential<A>: Clone {
    /// Returns the power as a number.
    fn value(self) -> A;

    /// Returns `factor·e`.
    fn times(self, factor: A) -> A;

    /// Returns `(high + low)·e`; `low` is the rounding error of `high`.
    fn times_parts(self, high: A, low: A) -> A;
}

/// The series of a derivative around its zero at `high + low`, where the formula would cancel all digits:
/// `Σ coefficients[k]·δ^(k+1)` with the distance δ from the zero. `tests/accuracy/fit.py` prints the coefficients.
pub(crate) struct Zero<const N: usize> {
    pub(crate) high: f64,
    pub(crate) low: f64,
    /// The largest distance at which the series is accurate to 2^-58 of its first term.
    pub(crate) radius: f64,
    pub(crate) coefficients: [f64; N],
}

impl<const N: usize> Zero<N> {
    /// Returns `elsewhere`, and near the zero the series if results are in f64. Other results do not need the series:
    /// `elsewhere` then has an error near the zero that is below the last place of 1.
    #[inline(always)]
    pub(crate) fn or_elsewhere<A: Arithmetic>(&self, x: A, x_low: A, elsewhere: A) -> A {
        if elsewhere.digits() != Digits::Double {
            return elsewhere;
        }
        // Without the wall a compiler would recombine the two parts of the zero.
        let distance = (x - self.high).walled() + (x_low - self.low);
        let near = distance.clone().abs().at_or_below(self.radius);
        let series = distance.clone().polynomial(&self.coefficients) * distance;
        A::choose(near, series, elsewhere)
    }
}
