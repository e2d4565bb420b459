//! A vector of f32 in a CubeCL kernel, in arithmetic that no compiler's choice can spoil: nothing
//! here needs a fused multiply-add, and nothing suffers from one. Shader compilers also regroup
//! sums and factor products out; where that would lose what was split off before, a mask or a
//! barrier stands between. Native exponentials are not used, since their accuracy differs from
//! device to device.
//!
//! A formula on [`Lanes`] runs when a kernel is built, and records what the kernel does.

use super::fused::SERIES_HALF;
use super::{Arithmetic, Digits, Exponential};
use burn_cubecl::cubecl;
use core::ops::{Add, Div, Mul, Neg, Sub};
use cubecl::ir::Scope;
use cubecl::prelude::*;

type Register<N> = NativeExpand<Vector<f32, N>>;
type Condition<N> = NativeExpand<Vector<bool, N>>;

/// A vector that a kernel will compute.
pub(crate) struct Lanes<'a, N: Size> {
    scope: &'a Scope,
    value: Register<N>,
}

impl<N: Size> Clone for Lanes<'_, N> {
    fn clone(&self) -> Self {
        Self { scope: self.scope, value: self.value }
    }
}

impl<'a, N: Size> Lanes<'a, N> {
    /// What has been computed so far.
    pub(crate) fn new(scope: &'a Scope, value: Register<N>) -> Self {
        Self { scope, value }
    }

    /// What the kernel goes on with.
    pub(crate) fn into_inner(self) -> Register<N> {
        self.value
    }

    fn with(&self, value: Register<N>) -> Self {
        Self { scope: self.scope, value }
    }

    fn floor(self) -> Self {
        self.with(floor::expand::<N>(self.scope, self.value))
    }

    /// With only some of its bits. Where those are all that it has, a wall that no compiler
    /// regroups a sum or a product across.
    fn masked(self, mask: u32) -> Self {
        self.with(masked::expand::<N>(self.scope, self.value, mask))
    }
}

impl<'a, N: Size> Arithmetic for Lanes<'a, N> {
    type Mask = Condition<N>;
    type Parameter = NativeExpand<f32>;
    type Exponential = LanesExponential<'a, N>;

    fn digits(&self) -> Digits {
        Digits::Single
    }

    fn constant(&self, value: f64) -> Self {
        self.with(constant::expand::<N>(self.scope, value as f32))
    }

    fn parameter(&self, value: NativeExpand<f32>) -> Self {
        self.with(broadcast::expand::<N>(self.scope, value))
    }

    fn abs(self) -> Self {
        self.with(abs::expand::<N>(self.scope, self.value))
    }

    fn below(&self, limit: f64) -> Condition<N> {
        below::expand::<N>(self.scope, self.value, self.constant(limit).value)
    }

    fn at_or_below(&self, limit: f64) -> Condition<N> {
        at_or_below::expand::<N>(self.scope, self.value, self.constant(limit).value)
    }

    fn above(&self, limit: f64) -> Condition<N> {
        below::expand::<N>(self.scope, self.constant(limit).value, self.value)
    }

    fn choose(condition: Condition<N>, then: Self, otherwise: Self) -> Self {
        let value = choose::expand::<N>(then.scope, condition, then.value, otherwise.value);
        then.with(value)
    }

    fn split(self) -> (Self, Self) {
        let top = self.clone().masked(0xFFFF_F000);
        (top.clone(), self - top)
    }

    fn leading(&self, constant: f64) -> f64 {
        f64::from(f32::from_bits((constant as f32).to_bits() & 0xFFFF_F000))
    }

    fn exponential(self, low: Self) -> LanesExponential<'a, N> {
        // Of half of −u, since the step is then twice as wide.
        let (high, low) = (self * -2.0, low * -2.0);
        let n = ((high.clone() + low.clone()) * PER_STEP + 0.5).floor();
        let whole = (n.clone() * STEP_HIGH).masked(0xFFFF_FFFC);
        let r = (high - whole) + (low - n.clone() * STEP_LOW);
        LanesExponential::of_rest(r, n)
    }

    fn exp_m1(self) -> Self {
        // e^−t − 1 by its series near 0, where the difference would cancel.
        const SERIES: [f64; 8] = [
            1.0,
            -0.5,
            1.0 / 6.0,
            -1.0 / 24.0,
            1.0 / 120.0,
            -1.0 / 720.0,
            1.0 / 5040.0,
            -1.0 / 40320.0,
        ];
        let t = (-self).at_most(110.0);
        let near = t.below(0.35);
        let series = -(t.clone() * t.clone().polynomial(&SERIES));
        Self::choose(near, series, (-t).exp().value() - 1.0)
    }

    /// The sum is at least a tenth: a wall before what is subtracted from it.
    fn sum_in_parts(product: Self, constant: f64) -> (Self, Self) {
        let high = (product.clone() + constant).at_least(0.1);
        (high.clone(), product - (high - constant))
    }
}

/// Steps of 2 ln 2 in two parts, n times the first of which is exact and ends in at least two zeros.
const STEP_HIGH: f64 = 22_713.0 / 16_384.0;
const STEP_LOW: f64 = 2.0 * core::f64::consts::LN_2 - STEP_HIGH;
const PER_STEP: f64 = 0.5 * core::f64::consts::LOG2_E;

/// `(1 + s)·scale·2^−BIAS`: the scale is [`BIAS`] powers of two too large, so that it is no
/// subnormal where its product with a large number is none; 0 where that would be one.
#[derive(Clone)]
pub(crate) struct LanesExponential<'a, N: Size> {
    s: Lanes<'a, N>,
    scale: Lanes<'a, N>,
}

const BIAS: f64 = 24.0;

impl<'a, N: Size> LanesExponential<'a, N> {
    /// `e^(−r/2)·2^−n`.
    pub(crate) fn of_rest(r: Lanes<'a, N>, n: Lanes<'a, N>) -> Self {
        let s = r.clone() * r.clone().polynomial(&SERIES_HALF.map(f64::from));
        let exponent = n.constant(127.0 + BIAS) - n.clone();
        let scale = exponent.with(power_of_two::expand::<N>(n.scope, exponent.value));
        let gone = n.above(126.0 + BIAS);
        Self { s, scale: Lanes::choose(gone, n.constant(0.0), scale) }
    }

    fn unscaled(x: Lanes<'a, N>, scale: Lanes<'a, N>) -> Lanes<'a, N> {
        x * scale * (1.0 / 16_777_216.0)
    }
}

impl<'a, N: Size> Exponential<Lanes<'a, N>> for LanesExponential<'a, N> {
    fn value(self) -> Lanes<'a, N> {
        Self::unscaled(self.s + 1.0, self.scale)
    }

    fn times(self, factor: Lanes<'a, N>) -> Lanes<'a, N> {
        Self::unscaled(factor.clone() + factor * self.s, self.scale)
    }

    fn times_parts(self, high: Lanes<'a, N>, low: Lanes<'a, N>) -> Lanes<'a, N> {
        let sum = high.clone() + (low.clone() + (high + low) * self.s);
        Self::unscaled(sum, self.scale)
    }
}

/// Operators between two vectors, and between a vector and a constant.
macro_rules! operators {
    ($($operator:ident $method:ident $symbol:tt;)*) => {$(
        #[cube]
        fn $method<N: Size>(a: Vector<f32, N>, b: Vector<f32, N>) -> Vector<f32, N> {
            a $symbol b
        }

        impl<N: Size> $operator for Lanes<'_, N> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.with($method::expand::<N>(self.scope, self.value, other.value))
            }
        }

        impl<N: Size> $operator<f64> for Lanes<'_, N> {
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

impl<N: Size> Neg for Lanes<'_, N> {
    type Output = Self;

    fn neg(self) -> Self {
        self.with(negative::expand::<N>(self.scope, self.value))
    }
}

#[cube]
fn negative<N: Size>(x: Vector<f32, N>) -> Vector<f32, N> {
    -x
}

#[cube]
fn abs<N: Size>(x: Vector<f32, N>) -> Vector<f32, N> {
    x.abs()
}

#[cube]
fn floor<N: Size>(x: Vector<f32, N>) -> Vector<f32, N> {
    x.floor()
}

#[cube]
fn constant<N: Size>(#[comptime] value: f32) -> Vector<f32, N> {
    Vector::new(value)
}

#[cube]
fn broadcast<N: Size>(value: f32) -> Vector<f32, N> {
    Vector::new(value)
}

#[cube]
fn below<N: Size>(a: Vector<f32, N>, b: Vector<f32, N>) -> Vector<bool, N> {
    a.less_than(&b)
}

#[cube]
fn at_or_below<N: Size>(a: Vector<f32, N>, b: Vector<f32, N>) -> Vector<bool, N> {
    a.less_equal(&b)
}

#[cube]
fn choose<N: Size>(
    condition: Vector<bool, N>,
    then: Vector<f32, N>,
    otherwise: Vector<f32, N>,
) -> Vector<f32, N> {
    select_many(condition, then, otherwise)
}

/// `2^(exponent − 127)`.
#[cube]
fn power_of_two<N: Size>(exponent: Vector<f32, N>) -> Vector<f32, N> {
    Vector::<f32, N>::reinterpret(Vector::<u32, N>::cast_from(exponent) << Vector::new(23u32))
}

#[cube]
fn masked<N: Size>(x: Vector<f32, N>, #[comptime] mask: u32) -> Vector<f32, N> {
    Vector::<f32, N>::reinterpret(Vector::<u32, N>::reinterpret(x) & Vector::new(mask))
}
