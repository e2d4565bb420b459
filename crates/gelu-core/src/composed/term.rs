use burn_core::backend::{
    Backend, TensorMetadata, get_or_init_device_settings,
    tensor::{BoolTensor, FloatTensor},
};
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A tensor in a formula. NaN passes through every operation here: conditions are false for it.
pub(super) struct Term<B: Backend>(pub(super) FloatTensor<B>);

impl<B: Backend> Clone for Term<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Backend> Term<B> {
    pub(super) fn abs(self) -> Self {
        Self(B::float_abs(self.0))
    }

    pub(super) fn exp(self) -> Self {
        Self(B::float_exp(self.0))
    }

    pub(super) fn floor(self) -> Self {
        Self(B::float_floor(self.0))
    }

    pub(super) fn reciprocal(self) -> Self {
        Self(B::float_recip(self.0))
    }

    pub(super) fn at_most(self, limit: f64) -> Self {
        let over = self.clone().above(limit);
        self.filled(over, limit)
    }

    pub(super) fn between(self, low: f64, high: f64) -> Self {
        let under = self.clone().below(low);
        self.filled(under, low).at_most(high)
    }

    /// `value` everywhere, NaN where there is NaN.
    pub(super) fn constant(self, value: f64) -> Self {
        self.between(0.0, 0.0) + value
    }

    pub(super) fn below(self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_lower_elem(self.0, limit.into(), dtype)
    }

    pub(super) fn at_or_below(self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_lower_equal_elem(self.0, limit.into(), dtype)
    }

    pub(super) fn above(self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_greater_elem(self.0, limit.into(), dtype)
    }

    pub(super) fn filled(self, mask: BoolTensor<B>, value: f64) -> Self {
        Self(B::float_mask_fill(self.0, mask, value.into()))
    }

    pub(super) fn replaced(self, mask: BoolTensor<B>, by: Self) -> Self {
        Self(B::float_mask_where(self.0, mask, by.0))
    }
}

impl<B: Backend> Add for Term<B> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(B::float_add(self.0, other.0))
    }
}

impl<B: Backend> Sub for Term<B> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(B::float_sub(self.0, other.0))
    }
}

impl<B: Backend> Mul for Term<B> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(B::float_mul(self.0, other.0))
    }
}

impl<B: Backend> Div for Term<B> {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Self(B::float_div(self.0, other.0))
    }
}

impl<B: Backend> Neg for Term<B> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(B::float_neg(self.0))
    }
}

impl<B: Backend> Add<f64> for Term<B> {
    type Output = Self;

    fn add(self, other: f64) -> Self {
        Self(B::float_add_scalar(self.0, other.into()))
    }
}

impl<B: Backend> Sub<f64> for Term<B> {
    type Output = Self;

    fn sub(self, other: f64) -> Self {
        Self(B::float_sub_scalar(self.0, other.into()))
    }
}

impl<B: Backend> Mul<f64> for Term<B> {
    type Output = Self;

    fn mul(self, other: f64) -> Self {
        Self(B::float_mul_scalar(self.0, other.into()))
    }
}
