//! A tensor of any backend, as a number in a formula.

use burn_core::backend::{
    Backend, TensorMetadata, get_or_init_device_settings,
    tensor::{BoolTensor, FloatTensor},
};
use burn_core::tensor::DType;
use core::ops::{Add, Div, Mul, Neg, Sub};
use gelu_kernels::arithmetic::{Arithmetic, Digits, Exponential};

/// A tensor of f32 or f64 in a formula. Every operation is an operation of the tensor's backend.
pub(crate) struct Term<B: Backend>(pub(crate) FloatTensor<B>);

impl<B: Backend> Clone for Term<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Backend> Term<B> {
    fn is_double(&self) -> bool {
        self.0.dtype() == DType::F64
    }

    fn filled(self, mask: BoolTensor<B>, value: f64) -> Self {
        Self(B::float_mask_fill(self.0, mask, value.into()))
    }
}

impl<B: Backend> Arithmetic for Term<B> {
    type Mask = BoolTensor<B>;
    type Parameter = f64;
    type Exponential = Self;

    fn digits(&self) -> Digits {
        if self.is_double() { Digits::Double } else { Digits::Single }
    }

    fn constant(&self, value: f64) -> Self {
        let (shape, dtype) = (self.0.shape(), self.0.dtype().into());
        Self(B::float_full(shape, value.into(), &self.0.device(), dtype))
    }

    fn parameter(&self, value: f64) -> Self {
        self.constant(value)
    }

    fn abs(self) -> Self {
        Self(B::float_abs(self.0))
    }

    fn sqrt(self) -> Self {
        Self(B::float_sqrt(self.0))
    }

    fn below(&self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_lower_elem(self.0.clone(), limit.into(), dtype)
    }

    fn at_or_below(&self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_lower_equal_elem(self.0.clone(), limit.into(), dtype)
    }

    fn above(&self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_greater_elem(self.0.clone(), limit.into(), dtype)
    }

    fn choose(condition: BoolTensor<B>, then: Self, otherwise: Self) -> Self {
        Self(B::float_mask_where(otherwise.0, condition, then.0))
    }

    /// Splits by Veltkamp's method.
    fn split(self) -> (Self, Self) {
        let factor = if self.is_double() { 134_217_729.0 } else { 4_097.0 };
        let scaled = self.clone() * factor;
        let top = scaled.clone() - (scaled - self.clone());
        (top.clone(), self - top)
    }

    fn leading(&self, constant: f64) -> f64 {
        let digits = if self.is_double() { 26 } else { 12 };
        f64::from_bits(constant.to_bits() & !((1 << (53 - digits)) - 1))
    }

    fn exponential(self, low: Self) -> Self {
        self.exp() * low.exp()
    }

    fn exp(self) -> Self {
        Self(B::float_exp(self.0))
    }

    fn exp_m1(self) -> Self {
        // Near 0 the difference cancels, so the code uses Taylor's series there, to x⁹ in f32 and
        // to x¹⁷ in f64.
        let degree = if self.is_double() { 17 } else { 9 };
        let mut inverse = 1.0;
        let coefficients: alloc::vec::Vec<f64> = (1..=degree)
            .map(|k| {
                inverse /= f64::from(k);
                inverse
            })
            .collect();
        let near = self.above(-0.6);
        let series = self.clone() * self.clone().at_least(-0.6).polynomial(&coefficients);
        Self::choose(near, series, self.exp() - 1.0)
    }

    fn at_most(self, limit: f64) -> Self {
        let over = self.above(limit);
        self.filled(over, limit)
    }

    fn at_least(self, limit: f64) -> Self {
        let under = self.below(limit);
        self.filled(under, limit)
    }

    fn constant_or_nan(self, value: f64) -> Self {
        let number = self.at_or_below(f64::INFINITY);
        self.filled(number, value)
    }
}

impl<B: Backend> Exponential<Self> for Term<B> {
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

/// Operators between two tensors, and between a tensor and a number.
macro_rules! operators {
    ($($operator:ident $method:ident: $tensors:ident, $scalar:ident;)*) => {$(
        impl<B: Backend> $operator for Term<B> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                Self(B::$tensors(self.0, other.0))
            }
        }

        impl<B: Backend> $operator<f64> for Term<B> {
            type Output = Self;

            fn $method(self, other: f64) -> Self {
                Self(B::$scalar(self.0, other.into()))
            }
        }
    )*};
}

operators! {
    Add add: float_add, float_add_scalar;
    Sub sub: float_sub, float_sub_scalar;
    Mul mul: float_mul, float_mul_scalar;
    Div div: float_div, float_div_scalar;
}

impl<B: Backend> Neg for Term<B> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(B::float_neg(self.0))
    }
}
