//! A vector of f32 or f64 in a CubeCL kernel, in arithmetic that no compiler's choice can spoil:
//! nothing here needs a fused multiply-add, and nothing suffers from one. Shader compilers also
//! regroup sums and factor products out; where that would lose what was split off before, a mask, a
//! conversion or a barrier stands between. Native exponentials are not used, since their accuracy
//! differs from device to device, and few have one in f64; where a result is rounded to 16 bits that
//! is no matter, and [`Brief`] uses them.
//!
//! A formula on [`Lanes`] runs when a kernel is built, and records what the kernel does.

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

    /// NaN where `x` is. Shader compilers may take a choice by a comparison for a minimum, which loses it; NVIDIA's
    /// does.
    pub(crate) fn nan_where(self, x: &Self) -> Self {
        if !is_compiled_for(self.scope, &["spirv_", "msl_"]) {
            return self;
        }
        let nan = is_nan::expand::<F, N>(self.scope, x.value);
        Self::choose(nan, x.clone(), self)
    }

    /// Whether a division of f32 is rounded right, as CUDA's and HIP's are, for which they take a dozen operations.
    fn divides_in_many_steps(&self) -> bool {
        is_compiled_for(self.scope, &["ptx_", "hip-"])
    }

    /// The reciprocal of a number from 1 to 2⁶⁰, but for its last two or three bits.
    fn rough_reciprocal(self) -> Self {
        let root = self.with(inverse_sqrt::expand::<F, N>(self.scope, self.value));
        root.clone() * root
    }

    /// The device's own.
    fn native_exp(self) -> Self {
        self.with(exp::expand::<F, N>(self.scope, self.value))
    }

    fn floor(self) -> Self {
        self.with(floor::expand::<F, N>(self.scope, self.value))
    }
}

/// Whether the kernel that is being built is for one of these targets, by the beginnings of CubeCL's names for them:
/// `ptx_` is CUDA's, `hip-` ROCm's, `spirv_` what Vulkan, WebGPU and DirectX go by, `msl_` Metal's.
fn is_compiled_for(scope: &Scope, targets: &[&str]) -> bool {
    let properties = scope.state().device_properties.clone();
    let name = properties.map(|device| device.identity.fingerprint.clone());
    name.is_some_and(|name| targets.iter().any(|target| name.starts_with(target)))
}

/// A number of halvings and the power of two that they come to.
pub(crate) struct Power<F: Precision, N: Size> {
    n: Register<F, N>,
    scale: [Register<F, N>; 2],
}

/// What f32 and f64 do in their own way.
pub(crate) trait Precision: Float {
    const DIGITS_NEEDED: Digits;
    /// ln 2 in parts: of all but the last, a product with a number of halvings is exact, and has
    /// no more digits than pass through [`wall`](Self::wall).
    const LN_2: &'static [f64];
    /// `(e^r − 1)/r` for |r| ≤ ln 2 / 2.
    const SERIES: &'static [f64];
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

    /// The integer n next to `x ≥ 0`, and `2^−n` in two factors, the first of which is no subnormal where a
    /// product of `2^−n` with a large number is none.
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

    /// Where a division is a dozen operations, by a root and a step of Newton's, seven of them. It is off by a
    /// little more than the last place.
    fn over(self, divisor: Self) -> Self {
        if F::DIGITS_NEEDED == Digits::Double || !self.divides_in_many_steps() {
            return self / divisor;
        }
        let reciprocal = divisor.clone().rough_reciprocal();
        let left = -(divisor * reciprocal.clone()) + 1.0;
        self * (reciprocal.clone() + reciprocal * left)
    }

    /// Through [`Precision::wall`].
    fn walled(self) -> Self {
        self.with(F::wall::<N>(self.scope, self.value))
    }

    fn exponential(self, low: Self) -> LanesExponential<'a, F, N> {
        // e^(r − n·ln 2) with n ≥ 0.
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
