//! A vector of f32 or f64 in a CubeCL kernel, in an arithmetic that does not depend on the compiler's choices:
//! nothing here needs a fused multiply-add, and nothing suffers from one.
//!
//! Shader compilers also regroup sums and factor out products. Where that would lose digits that were split off
//! before, the code uses a mask, a conversion or a barrier. It does not use native exponentials, because their
//! accuracy differs from device to device, and few devices have one in f64. For results that are rounded to 16 bits
//! this does not matter, and [`Brief`] uses them.
//!
//! A formula on [`Lanes`] runs while a kernel is built, and records the operations of the kernel.

mod brief;
mod double;
mod single;
mod vector;

pub(crate) use brief::Brief;
use burn_cubecl::cubecl;
use core::ops::{Add, Div, Mul, Neg, Sub};
use cubecl::ir::Scope;
use cubecl::prelude::*;
use gelu_kernels::arithmetic::{Arithmetic, Digits, Exponential};
use vector::{
    abs, at_or_below, below, broadcast, choose, exp, floor, inverse_sqrt, is_nan, negative, sqrt,
};

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
    /// Wraps the value of a vector.
    pub(crate) fn new(scope: &'a Scope, value: Register<F, N>) -> Self {
        Self { scope, value }
    }

    /// Returns the value, for use in the kernel.
    pub(crate) fn into_inner(self) -> Register<F, N> {
        self.value
    }

    fn with(&self, value: Register<F, N>) -> Self {
        Self { scope: self.scope, value }
    }

    /// Returns NaN where `x` is NaN, and `self` elsewhere. Shader compilers may turn a choice by a comparison into a
    /// minimum, which loses NaN; NVIDIA's does.
    pub(crate) fn nan_where(self, x: &Self) -> Self {
        if !is_compiled_for(self.scope, &["spirv_", "msl_"]) {
            return self;
        }
        let nan = is_nan::expand::<F, N>(self.scope, x.value);
        Self::choose(nan, x.clone(), self)
    }

    /// Returns whether the target rounds f32 divisions correctly, as CUDA and HIP do. They need a dozen operations
    /// for one.
    fn divides_in_many_steps(&self) -> bool {
        is_compiled_for(self.scope, &["ptx_", "hip-"])
    }

    /// Returns the reciprocal of a number from 1 to 2⁶⁰, accurate except for its last two or three bits.
    fn rough_reciprocal(self) -> Self {
        let root = self.with(inverse_sqrt::expand::<F, N>(self.scope, self.value));
        root.clone() * root
    }

    /// Returns the device's own exponential.
    fn native_exp(self) -> Self {
        self.with(exp::expand::<F, N>(self.scope, self.value))
    }

    fn floor(self) -> Self {
        self.with(floor::expand::<F, N>(self.scope, self.value))
    }
}

/// Returns whether the current kernel is for one of these targets. `targets` are prefixes of CubeCL's target names:
/// `ptx_` is CUDA, `hip-` is ROCm, `spirv_` is Vulkan, WebGPU and DirectX, `msl_` is Metal.
fn is_compiled_for(scope: &Scope, targets: &[&str]) -> bool {
    let properties = scope.state().device_properties.clone();
    let name = properties.map(|device| device.identity.fingerprint.clone());
    name.is_some_and(|name| targets.iter().any(|target| name.starts_with(target)))
}

/// A number of halvings, and the corresponding power of two in two factors.
pub(crate) struct Power<F: Precision, N: Size> {
    n: Register<F, N>,
    scale: [Register<F, N>; 2],
}

/// The operations that f32 and f64 implement differently.
pub(crate) trait Precision: Float {
    const DIGITS_NEEDED: Digits;
    /// ln 2 in parts. The product of a number of halvings with any part but the last is exact, and its digits pass
    /// through [`wall`](Self::wall).
    const LN_2: &'static [f64];
    /// The coefficients of `(e^r − 1)/r` for |r| ≤ ln 2 / 2.
    const SERIES: &'static [f64];
    /// The number of terms in the series of `(e^x − 1)/x` for −0.35 < x ≤ 0.
    const TERMS: i32;

    fn constant<N: Size>(scope: &Scope, value: f64) -> Register<Self, N>;

    /// Returns the digits of a constant that [`top`](Self::top) keeps.
    fn leading(constant: f64) -> f64;

    /// Returns the leading digits, few enough for exact products.
    fn top<N: Size>(scope: &Scope, x: Register<Self, N>) -> Register<Self, N>;

    /// Returns the number unchanged, with enough digits for a sum's rounding error. Compilers do not regroup sums or
    /// products across it.
    fn wall<N: Size>(scope: &Scope, x: Register<Self, N>) -> Register<Self, N>;

    /// Returns the integer n next to `x ≥ 0`, and `2^−n` in two factors. The first factor is normal wherever a
    /// product of `2^−n` with a large number is normal.
    fn power<N: Size>(scope: &Scope, x: Register<Self, N>) -> Power<Self, N>;
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
        // WGSL cannot write infinity. Comparing x with itself is equivalent: the result is false for NaN only.
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

    /// Uses a root and a Newton step (seven operations) on targets where a division takes a dozen. The error is a
    /// little more than one unit in the last place.
    fn over(self, divisor: Self) -> Self {
        if F::DIGITS_NEEDED == Digits::Double || !self.divides_in_many_steps() {
            return self / divisor;
        }
        let reciprocal = divisor.clone().rough_reciprocal();
        let left = -(divisor * reciprocal.clone()) + 1.0;
        self * (reciprocal.clone() + reciprocal * left)
    }

    /// Applies [`Precision::wall`].
    fn walled(self) -> Self {
        self.with(F::wall::<N>(self.scope, self.value))
    }

    fn exponential(self, low: Self) -> LanesExponential<'a, F, N> {
        // The result is e^(r − n·ln 2) with n ≥ 0.
        let halvings = (self.clone() + low.clone()) * -core::f64::consts::LOG2_E;
        let Power { n, scale } = F::power::<N>(self.scope, halvings.value);
        let n = self.with(n);
        let (last, parts) = F::LN_2.split_last().expect("ln 2 has parts");
        let subtract = |rest: Self, part: &f64| rest + (n.clone() * *part).walled();
        let r = parts.iter().fold(self, subtract) + (low + n.clone() * *last);
        let s = r.clone() * r.polynomial(F::SERIES);
        let scale = scale.map(|factor| n.with(factor));
        LanesExponential { s, scale }
    }

    fn exp_m1(self) -> Self {
        // Uses a series near 0, where the difference would cancel.
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

    /// The sum is at least 0.1. The `at_least` acts as a wall before the subtraction.
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
