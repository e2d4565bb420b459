//! The units composed of a backend's own tensor operations: what every backend without kernels of
//! its own computes, in f32 (f16 and bf16 are widened, f64 stays f64).
//!
//! Slower than a kernel by one pass over memory per operation, but free of cancellation, and of
//! NaN for finite input.

mod formulas;
mod term;
#[cfg(all(test, feature = "flex"))]
mod tests;

use crate::math::logistic::SIGMOID_SLOPE;
use crate::{ActivationOps, Draw, Dropout, Unit};
use alloc::vec::Vec;
use burn_core::backend::{
    Backend, TensorMetadata, get_or_init_device_settings, tensor::FloatTensor,
};
use burn_core::tensor::{DType, FloatDType, Shape, TensorData};
use formulas::Gate;
use term::Term;

/// `unit(x)`.
pub(crate) fn forward<B: Backend>(x: FloatTensor<B>, unit: Unit) -> FloatTensor<B> {
    in_f32::<B>(x, |x| match unit {
        Unit::Gelu => formulas::gelu(x),
        Unit::GeluTanh => Gate::of_tanh(x.clone()).value(x),
        Unit::GeluSigmoid => Gate::of(x.clone() * SIGMOID_SLOPE).value(x),
        Unit::Silu => Gate::of(x.clone()).value(x),
        Unit::Cauchy => formulas::cauchy(x),
        Unit::Elu => formulas::elu(x),
        Unit::Relu => formulas::relu(x),
        Unit::Identity => x,
        Unit::NormalCdf => formulas::cdf(x),
    })
}

/// `dy · unit′(x)`.
pub(crate) fn backward<B: Backend>(
    x: FloatTensor<B>,
    dy: FloatTensor<B>,
    unit: Unit,
) -> FloatTensor<B> {
    let slope = in_f32::<B>(x, |x| match unit {
        Unit::Gelu => formulas::gelu_derivative(x),
        Unit::GeluTanh => formulas::tanh_derivative(x),
        Unit::GeluSigmoid => {
            let slope = x.clone().constant(SIGMOID_SLOPE);
            Gate::of(x.clone() * SIGMOID_SLOPE).derivative(x, slope)
        }
        Unit::Silu => Gate::of(x.clone()).derivative(x.clone(), x.constant(1.0)),
        Unit::Cauchy => formulas::cauchy_derivative(x),
        Unit::Elu => formulas::elu_derivative(x),
        Unit::Relu => formulas::relu_derivative(x),
        Unit::Identity => x.constant(1.0),
        Unit::NormalCdf => formulas::pdf(x),
    });
    B::float_mul(dy, slope)
}

/// `unit(x + bias)` with dropout; see [`ActivationOps`](crate::ActivationOps).
pub(crate) fn bias_activation_dropout<B: ActivationOps>(
    x: FloatTensor<B>,
    bias: FloatTensor<B>,
    unit: Unit,
    dropout: Option<Dropout>,
) -> FloatTensor<B> {
    let y = B::activation(biased::<B>(x, bias), unit);
    masked::<B>(y, dropout)
}

/// Gradients of the above for `x` and `bias`, given that of the result.
pub(crate) fn bias_activation_dropout_backward<B: ActivationOps>(
    x: FloatTensor<B>,
    bias: FloatTensor<B>,
    dy: FloatTensor<B>,
    unit: Unit,
    dropout: Option<Dropout>,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let bias_shape = bias.shape();
    let dy = masked::<B>(dy, dropout);
    let dx = B::activation_backward(biased::<B>(x, bias), dy, unit);
    let columns = bias_shape[0];
    let rows = dx.shape().num_elements().checked_div(columns).unwrap_or(0);
    let flat = B::float_reshape(dx.clone(), Shape::from([rows, columns]));
    let sum = B::float_reshape(B::float_sum_dim(flat, 0), bias_shape);
    (dx, sum)
}

/// `y` where the draw's uniform number is below Φ(x), else 0.
pub(crate) fn stochastic_gate<B: ActivationOps>(
    x: FloatTensor<B>,
    y: FloatTensor<B>,
    draw: Draw,
) -> FloatTensor<B> {
    let probability = B::activation(x, Unit::NormalCdf);
    let uniform = from_host::<B>(draw.uniforms(y.shape().num_elements()), &probability);
    let dtype = get_or_init_device_settings::<B>(&y.device()).bool_dtype;
    let closed = B::float_greater_equal(uniform, probability, dtype);
    B::float_mask_fill(y, closed, 0.0.into())
}

/// `x + bias`, the bias added to every row.
fn biased<B: Backend>(x: FloatTensor<B>, bias: FloatTensor<B>) -> FloatTensor<B> {
    let mut shape = alloc::vec![1; x.shape().num_dims()];
    if let Some(last) = shape.last_mut() {
        *last = bias.shape()[0];
    }
    B::float_add(x, B::float_reshape(bias, Shape::from(shape)))
}

/// Dropout with a mask made on the host: the same numbers for every backend.
fn masked<B: Backend>(y: FloatTensor<B>, dropout: Option<Dropout>) -> FloatTensor<B> {
    let Some(dropout) = dropout else { return y };
    let mask = from_host::<B>(dropout.mask(y.shape().num_elements()), &y);
    let dtype = get_or_init_device_settings::<B>(&y.device()).bool_dtype;
    let dropped = B::float_equal_elem(mask.clone(), 0.0.into(), dtype);
    // Filled rather than multiplied: what is dropped is 0 even if it was NaN or infinite.
    B::float_mask_fill(B::float_mul(y, mask), dropped, 0.0.into())
}

/// `values` in the shape, type and place of `like`.
fn from_host<B: Backend>(values: Vec<f32>, like: &FloatTensor<B>) -> FloatTensor<B> {
    let data = TensorData::new(values, like.shape()).convert_dtype(like.dtype());
    B::float_from_data(data, &like.device())
}

/// Runs `formula` in f32 where the tensor is narrower, and gives the tensor's type back.
fn in_f32<B: Backend>(
    x: FloatTensor<B>,
    formula: impl FnOnce(Term<B>) -> Term<B>,
) -> FloatTensor<B> {
    match x.dtype() {
        dtype @ (DType::F16 | DType::BF16) => {
            let wide = B::float_cast(x, FloatDType::F32);
            B::float_cast(formula(Term(wide)).0, dtype.into())
        }
        _ => formula(Term(x)).0,
    }
}
