//! A vector of f32 for results that are rounded to 16 bits. f32 then has thirteen bits to spare, so this
//! arithmetic carries no rounding errors and uses the device's own exponential.

use super::{Condition, Lanes, Register};
use burn_cubecl::cubecl;
use core::ops::{Add, Div, Mul, Neg, Sub};
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::arithmetic::{Arithmetic, Digits, Exponential};

/// A vector that a kernel will compute.
pub(crate) struct Brief<'a, N: Size> {
    lanes: Lanes<'a, f32, N>,
    /// Whether this is a rounding error, which this arithmetic does not carry. A sum with it is the other summand,
    /// without any computation.
    nothing: bool,
}

impl<N: Size> Clone for Brief<'_, N> {
    fn clone(&self) -> Self {
        Self { lanes: self.lanes.clone(), nothing: self.nothing }
    }
}

impl<'a, N: Size> From<Lanes<'a, f32, N>> for Brief<'a, N> {
    fn from(lanes: Lanes<'a, f32, N>) -> Self {
        Self { lanes, nothing: false }
    }
}

impl<'a, N: Size> Brief<'a, N> {
    /// Wraps the value of a vector.
    pub(crate) fn new(scope: &'a Scope, value: Register<f32, N>) -> Self {
        Lanes::new(scope, value).into()
    }

    /// Returns the value, for use in the kernel.
    pub(crate) fn into_inner(self) -> Register<f32, N> {
        self.lanes.into_inner()
    }

    fn nothing(&self) -> Self {
        Self { lanes: self.lanes.constant(0.0), nothing: true }
    }
}

impl<N: Size> Arithmetic for Brief<'_, N> {
    type Mask = Condition<N>;
    type Parameter = NativeExpand<f32>;
    type Exponential = Self;

    fn digits(&self) -> Digits {
        Digits::Half
    }

    fn constant(&self, value: f64) -> Self {
        self.lanes.constant(value).into()
    }

    fn parameter(&self, value: NativeExpand<f32>) -> Self {
        self.lanes.parameter(value).into()
    }

    fn abs(self) -> Self {
        self.lanes.abs().into()
    }

    fn sqrt(self) -> Self {
        self.lanes.sqrt().into()
    }

    fn below(&self, limit: f64) -> Condition<N> {
        self.lanes.below(limit)
    }

    fn at_or_below(&self, limit: f64) -> Condition<N> {
        self.lanes.at_or_below(limit)
    }

    fn above(&self, limit: f64) -> Condition<N> {
        self.lanes.above(limit)
    }

    fn choose(condition: Condition<N>, then: Self, otherwise: Self) -> Self {
        Lanes::choose(condition, then.lanes, otherwise.lanes).into()
    }

    fn split(self) -> (Self, Self) {
        let nothing = self.nothing();
        (self, nothing)
    }

    fn leading(&self, constant: f64) -> f64 {
        constant
    }

    fn left_of(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn over(self, divisor: Self) -> Self {
        match (self.nothing, self.lanes.divides_in_many_steps()) {
            (true, _) => self,
            (false, true) => (self.lanes * divisor.lanes.rough_reciprocal()).into(),
            (false, false) => self / divisor,
        }
    }

    fn exponential(self, low: Self) -> Self {
        (self + low).lanes.native_exp().into()
    }

    /// Uses a series near 0, where the difference would cancel.
    fn exp_m1(self) -> Self {
        let x = self.lanes.at_least(-110.0);
        let near = x.above(-0.35);
        let series =
            x.clone() * x.clone().polynomial(&[1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0]);
        Lanes::choose(near, series, x.native_exp() - 1.0).into()
    }

    fn sum_in_parts(product: Self, constant: f64) -> (Self, Self) {
        let nothing = product.nothing();
        (product + constant, nothing)
    }

    fn product(self, other: Self) -> (Self, Self) {
        let nothing = self.nothing();
        (self * other, nothing)
    }
}

impl<N: Size> Exponential<Self> for Brief<'_, N> {
    fn value(self) -> Self {
        self
    }

    fn times(self, factor: Self) -> Self {
        factor * self
    }

    fn times_parts(self, high: Self, low: Self) -> Self {
        (high + low) * self
    }
}

impl<N: Size> Neg for Brief<'_, N> {
    type Output = Self;

    fn neg(self) -> Self {
        Self { lanes: -self.lanes, nothing: self.nothing }
    }
}

impl<N: Size> Add for Brief<'_, N> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        match (self.nothing, other.nothing) {
            (_, true) => self,
            (true, false) => other,
            (false, false) => (self.lanes + other.lanes).into(),
        }
    }
}

impl<N: Size> Sub for Brief<'_, N> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<N: Size> Mul for Brief<'_, N> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        match self.nothing || other.nothing {
            true => self.nothing(),
            false => (self.lanes * other.lanes).into(),
        }
    }
}

impl<N: Size> Div for Brief<'_, N> {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        match self.nothing {
            true => self,
            false => (self.lanes / other.lanes).into(),
        }
    }
}

impl<N: Size> Add<f64> for Brief<'_, N> {
    type Output = Self;

    fn add(self, other: f64) -> Self {
        match (self.nothing, other == 0.0) {
            (_, true) => self,
            (true, false) => self.constant(other),
            (false, false) => (self.lanes + other).into(),
        }
    }
}

impl<N: Size> Sub<f64> for Brief<'_, N> {
    type Output = Self;

    fn sub(self, other: f64) -> Self {
        self + -other
    }
}

impl<N: Size> Mul<f64> for Brief<'_, N> {
    type Output = Self;

    fn mul(self, other: f64) -> Self {
        match self.nothing || other == 0.0 {
            true => self.nothing(),
            false => (self.lanes * other).into(),
        }
    }
}

impl<N: Size> Div<f64> for Brief<'_, N> {
    type Output = Self;

    fn div(self, other: f64) -> Self {
        match self.nothing {
            true => self,
            false => (self.lanes / other).into(),
        }
    }
}
