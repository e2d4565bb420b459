//! A vector of f32 or f64 in a CubeCL kernel, in arithmetic that no compiler's choice can spoil:
//! nothing here needs a fused multiply-add, and nothing suffers from one. Shader compilers also
//! regroup sums and factor products out; where that would lose what was split off before, a mask, a
//! conversion or a barrier stands between. Native exponentials are not used, since their accuracy
//! differs from device to device, and few have one in f64.
//!
//! A formula on [`Lanes`] runs when a kernel is built, and records what the kernel does.

mod double;
mod single;
mod vector;

use burn_cubecl::cubecl;
use core::ops::{Add, Div, Mul, Neg, Sub};
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::arithmetic::{Arithmetic, Digits, Exponential};
use vector::{abs, at_or_below, below, broadcast, choose, floor, negative, sqrt};

/// The value of a vector while a kernel is built.
type Register<F, N> = NativeExpand<Vector<F, N>>;
type Condition<N> = NativeExpand<Vector<bool, N>>;

/// A vector that a kernel will compute.
pub(crate) struct Lanes<'a, F: Precision, N: Size> {
    scope: &'a Scope,
    value: Register<F, N>,
}

impl<F: Precision, N: Size> Clone for Lanes<'_, F, N> {
    fn clone(&self) -> Self {
        Self { scope: self.scope, value: self.value }
    }
}

impl<'a, F: Precision, N: Size> Lanes<'a, F, N> {
    /// What has been computed so far.
    pub(crate) fn new(scope: &'a Scope, value: Register<F, N>) -> Self {
        Self { scope, value }
    }

    /// What the kernel goes on with.
    pub(crate) fn into_inner(self) -> Register<F, N> {
        self.value
    }

    fn with(&self, value: Register<F, N>) -> Self {
        Self { scope: self.scope, value }
    }

    fn floor(self) -> Self {
        self.with(floor::expand::<F, N>(self.scope, self.value))
    }
}

/// What f32 and f64 do in their own way.
pub(crate) trait Precision: Float {
    const DIGITS_NEEDED: Digits;
    /// ln 2 in parts: of all but the last, a product with a number of halvings is exact, and has
    /// no more digits than pass through [`wall`](Self::wall).
    const LN_2: &'static [f64];
    /// `(e^r − 1)/r` for |r| ≤ ln 2 / 2.
    const SERIES: &'static [f64];
    /// How many powers of two too large a scale is kept, so that it is no subnormal where its
    /// product with a large number is none.
    const BIAS: f64;
    /// How many terms the series of `(e^x − 1)/x` has for −0.35 < x ≤ 0.
    const TERMS: i32;

    fn constant<N: Size>(scope: &Scope, value: f64) -> Register<Self, N>;

    /// A constant's digits that [`top`](Self::top) keeps.
    fn leading(constant: f64) -> f64;

    /// The leading digits, few enough for exact products.
    fn top<N: Size>(scope: &Scope, x: Register<Self, N>) -> Register<Self, N>;

    /// Itself, as far as a sum's rounding has digits, by a way that no compiler regroups a sum or a
    /// product across.
    fn wall<N: Size>(scope: &Scope, x: Register<Self, N>) -> Register<Self, N>;

    /// `2^(BIAS − n)` in two factors, for an integer n from 0 to where it is 0.
    fn scale<N: Size>(scope: &Scope, n: Register<Self, N>) -> [Register<Self, N>; 2];
}

impl<'a, F: Precision, N: Size> Arithmetic for Lanes<'a, F, N> {
    type Mask = Condition<N>;
    type Parameter = NativeExpand<F>;
    type Exponential = LanesExponential<'a, F, N>;

    fn digits(&self) -> Digits {
        F::DIGITS_NEEDED
    }

    fn constant(&self, value: f64) -> Self {
        self.with(F::constant::<N>(self.scope, value))
    }

    fn parameter(&self, value: NativeExpand<F>) -> Self {
        self.with(broadcast::expand::<F, N>(self.scope, value))
    }

    fn abs(self) -> Self {
        self.with(abs::expand::<F, N>(self.scope, self.value))
    }

    fn sqrt(self) -> Self {
        self.with(sqrt::expand::<F, N>(self.scope, self.value))
    }

    fn below(&self, limit: f64) -> Condition<N> {
        below::expand::<F, N>(self.scope, self.value, self.constant(limit).value)
    }

    fn at_or_below(&self, limit: f64) -> Condition<N> {
        // WGSL has no word for infinity. Every number is at or below itself, NaN alone is not.
        let limit = match limit == f64::INFINITY {
            true => self.value,
            false => self.constant(limit).value,
        };
        at_or_below::expand::<F, N>(self.scope, self.value, limit)
    }

    fn above(&self, limit: f64) -> Condition<N> {
        below::expand::<F, N>(self.scope, self.constant(limit).value, self.value)
    }

    fn choose(condition: Condition<N>, then: Self, otherwise: Self) -> Self {
        let value = choose::expand::<F, N>(then.scope, condition, then.value, otherwise.value);
        then.with(value)
    }

    fn split(self) -> (Self, Self) {
        let top = self.with(F::top::<N>(self.scope, self.value));
        (top.clone(), self - top)
    }

    fn leading(&self, constant: f64) -> f64 {
        F::leading(constant)
    }

    /// Through [`Precision::wall`].
    fn walled(self) -> Self {
        self.with(F::wall::<N>(self.scope, self.value))
    }

    fn exponential(self, low: Self) -> LanesExponential<'a, F, N> {
        // e^(r − n·ln 2) with n ≥ 0.
        let n = ((self.clone() + low.clone()) * -core::f64::consts::LOG2_E + 0.5).floor();
        let (last, parts) = F::LN_2.split_last().expect("ln 2 has parts");
        let subtract = |rest: Self, part: &f64| rest + (n.clone() * *part).walled();
        let r = parts.iter().fold(self, subtract) + (low + n.clone() * *last);
        let s = r.clone() * r.polynomial(F::SERIES);
        let scale = F::scale::<N>(n.scope, n.value).map(|factor| n.with(factor));
        LanesExponential { s, scale }
    }

    fn exp_m1(self) -> Self {
        // Near 0 by its series, where the difference would cancel.
        let mut inverse = 1.0;
        let series: alloc::vec::Vec<f64> = (1..=F::TERMS)
            .map(|k| {
                inverse /= f64::from(k);
                inverse
            })
            .collect();
        let x = self.at_least(-110.0);
        let near = x.above(-0.35);
        let series = x.clone() * x.clone().polynomial(&series);
        Self::choose(near, series, x.exp().value() - 1.0)
    }

    /// The sum is at least a tenth: a wall before what is subtracted from it.
    fn sum_in_parts(product: Self, constant: f64) -> (Self, Self) {
        let high = (product.clone() + constant).at_least(0.1);
        (high.clone(), product - (high - constant))
    }
}

/// `(1 + s)` times a scale in two factors.
#[derive(Clone)]
pub(crate) struct LanesExponential<'a, F: Precision, N: Size> {
    s: Lanes<'a, F, N>,
    scale: [Lanes<'a, F, N>; 2],
}

impl<'a, F: Precision, N: Size> LanesExponential<'a, F, N> {
    fn scaled(x: Lanes<'a, F, N>, scale: [Lanes<'a, F, N>; 2]) -> Lanes<'a, F, N> {
        let [first, second] = scale;
        x * first * second
    }
}

impl<'a, F: Precision, N: Size> Exponential<Lanes<'a, F, N>> for LanesExponential<'a, F, N> {
    fn value(self) -> Lanes<'a, F, N> {
        Self::scaled(self.s + 1.0, self.scale)
    }

    fn times(self, factor: Lanes<'a, F, N>) -> Lanes<'a, F, N> {
        Self::scaled(factor.clone() + factor * self.s, self.scale)
    }

    fn times_parts(self, high: Lanes<'a, F, N>, low: Lanes<'a, F, N>) -> Lanes<'a, F, N> {
        let sum = high.clone() + (low.clone() + (high + low) * self.s);
        Self::scaled(sum, self.scale)
    }
}

/// Operators between two vectors, and between a vector and a constant.
macro_rules! operators {
    ($($operator:ident $method:ident $symbol:tt;)*) => {$(
        #[cube]
        fn $method<F: Float, N: Size>(a: Vector<F, N>, b: Vector<F, N>) -> Vector<F, N> {
            a $symbol b
        }

        impl<F: Precision, N: Size> $operator for Lanes<'_, F, N> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.with($method::expand::<F, N>(self.scope, self.value, other.value))
            }
        }

        impl<F: Precision, N: Size> $operator<f64> for Lanes<'_, F, N> {
            type Output = Self;

            fn $method(self, other: f64) -> Self {
                let other = self.constant(other);
                self.$method(other)
            }
        }
    )*};
}

operators! {
    Add add +;
    Sub sub -;
    Mul mul *;
    Div div /;
}

impl<F: Precision, N: Size> Neg for Lanes<'_, F, N> {
    type Output = Self;

    fn neg(self) -> Self {
        self.with(negative::expand::<F, N>(self.scope, self.value))
    }
}
