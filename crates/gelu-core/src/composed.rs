//! The operations composed of a backend's own tensor operations. Every backend without kernels of
//! its own uses them. They compute in f32; f16 and bf16 are widened, and f64 stays f64.
//!
//! They are slower than a kernel by one pass over memory per operation, but free of cancellation,
//! and they return no NaN for finite input.

mod gated;
#[cfg(all(test, feature = "flex"))]
mod tests;

use crate::arithmetic::term::Term;
use crate::{ActivationOps, Unit};
use alloc::vec::Vec;
use burn_core::backend::{
    Backend, TensorMetadata, get_or_init_device_settings, tensor::FloatTensor,
};
use burn_core::tensor::{DType, FloatDType, Shape, TensorData};
pub(crate) use gated::{gated, gated_backward, gated_pair, gated_pair_backward};
use gelu_kernels::functions::{Function, Job};
use gelu_kernels::random::{Draw, Mask};

/// Evaluates a function of a tensor, or its first or second derivative.
struct OnTensor<B: Backend, const ORDER: u8> {
    x: FloatTensor<B>,
    parameter: f64,
}

impl<B: Backend, const ORDER: u8> Job for OnTensor<B, ORDER> {
    type Output = FloatTensor<B>;

    fn run<F: Function>(self) -> FloatTensor<B> {
        F::of_order::<_, ORDER>(Term::<B>(self.x), self.parameter).0
    }
}

/// Returns `unit` or a derivative of a tensor that is widened already.
fn apply<B: Backend, const ORDER: u8>(x: FloatTensor<B>, unit: Unit) -> FloatTensor<B> {
    unit.kind().with(OnTensor::<B, ORDER> { x, parameter: unit.parameter() })
}

/// Returns `unit(x)`.
pub(crate) fn forward<B: Backend>(x: FloatTensor<B>, unit: Unit) -> FloatTensor<B> {
    let dtype = x.dtype();
    narrowed::<B>(apply::<B, 0>(widened::<B>(x), unit), dtype)
}

/// Returns `dy · unit′(x)`.
pub(crate) fn backward<B: Backend>(
    x: FloatTensor<B>,
    dy: FloatTensor<B>,
    unit: Unit,
) -> FloatTensor<B> {
    let dtype = dy.dtype();
    let slope = apply::<B, 1>(widened::<B>(x), unit);
    narrowed::<B>(B::float_mul(widened::<B>(dy), slope), dtype)
}

/// Returns `factor · unit″(x)`.
pub(crate) fn curvature<B: Backend>(
    x: FloatTensor<B>,
    factor: FloatTensor<B>,
    unit: Unit,
) -> FloatTensor<B> {
    let dtype = factor.dtype();
    let curvature = apply::<B, 2>(widened::<B>(x), unit);
    narrowed::<B>(B::float_mul(widened::<B>(factor), curvature), dtype)
}

/// Returns the gradient of [`backward`] for `x`, given the gradient of its result:
/// `g · dy · unit″(x)`. The gradient for `dy` is `backward` itself, applied to `g`.
#[cfg(feature = "autodiff")]
pub(crate) fn backward_backward<B: ActivationOps>(
    x: FloatTensor<B>,
    dy: FloatTensor<B>,
    gradient: FloatTensor<B>,
    unit: Unit,
) -> FloatTensor<B> {
    let dtype = x.dtype();
    let factors = B::float_mul(widened::<B>(gradient), widened::<B>(dy));
    narrowed::<B>(B::activation_curvature(widened::<B>(x), factors, unit), dtype)
}

/// Returns `unit(x + bias)` with dropout; see [`ActivationOps`](crate::ActivationOps).
pub(crate) fn bias_activation_dropout<B: ActivationOps>(
    x: FloatTensor<B>,
    bias: FloatTensor<B>,
    unit: Unit,
    dropout: Option<Mask>,
) -> FloatTensor<B> {
    let y = B::activation(biased::<B>(x, bias), unit);
    masked::<B>(y, dropout)
}

/// Returns `x` after dropout.
pub(crate) fn dropout<B: Backend>(x: FloatTensor<B>, mask: Mask) -> FloatTensor<B> {
    masked::<B>(x, Some(mask))
}

/// Returns the gradients of [`bias_activation_dropout`] for `x` and `bias`, given the gradient `dy`
/// of its result.
pub(crate) fn bias_activation_dropout_backward<B: ActivationOps>(
    x: FloatTensor<B>,
    bias: FloatTensor<B>,
    dy: FloatTensor<B>,
    unit: Unit,
    dropout: Option<Mask>,
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

/// Returns `y` where the random number of `draw` is below Φ(x), and 0 elsewhere.
pub(crate) fn stochastic_map<B: ActivationOps>(
    x: FloatTensor<B>,
    y: FloatTensor<B>,
    draw: Draw,
) -> FloatTensor<B> {
    // The comparison is at least in f32, because 16 bits would round probabilities next to 1 to 1.
    let probability = B::activation(widened::<B>(x), Unit::NormalCdf);
    let uniform = from_host::<B>(draw.uniforms(y.shape().num_elements()), &probability);
    let dtype = get_or_init_device_settings::<B>(&y.device()).bool_dtype;
    let closed = B::float_greater_equal(uniform, probability, dtype);
    B::float_mask_fill(y, closed, 0.0.into())
}

/// Returns `x + bias`, with the bias added to every row.
fn biased<B: Backend>(x: FloatTensor<B>, bias: FloatTensor<B>) -> FloatTensor<B> {
    let mut shape = alloc::vec![1; x.shape().num_dims()];
    if let Some(last) = shape.last_mut() {
        *last = bias.shape()[0];
    }
    B::float_add(x, B::float_reshape(bias, Shape::from(shape)))
}

/// Returns `y` after dropout with a mask that is made on the host, so that every backend uses the
/// same numbers.
fn masked<B: Backend>(y: FloatTensor<B>, dropout: Option<Mask>) -> FloatTensor<B> {
    let Some(dropout) = dropout else { return y };
    let output = y.dtype();
    let y = widened::<B>(y);
    let mask = from_host::<B>(dropout.factors(y.shape().num_elements()), &y);
    let dtype = get_or_init_device_settings::<B>(&y.device()).bool_dtype;
    let dropped = B::float_equal_elem(mask.clone(), 0.0.into(), dtype);
    // Filling instead of multiplying makes a dropped element 0 even if it was NaN or infinite.
    let kept = B::float_mask_fill(B::float_mul(y, mask), dropped, 0.0.into());
    narrowed::<B>(kept, output)
}

/// Returns `values` with the shape, type and device of `like`.
fn from_host<B: Backend>(values: Vec<f32>, like: &FloatTensor<B>) -> FloatTensor<B> {
    let data = TensorData::new(values, like.shape()).convert_dtype(like.dtype());
    B::float_from_data(data, &like.device())
}

/// Returns `x` in f32 if its type is narrower, and unchanged otherwise.
fn widened<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    match x.dtype() {
        DType::F16 | DType::BF16 => B::float_cast(x, FloatDType::F32),
        _ => x,
    }
}

/// Returns `x` in the type that it was widened from.
fn narrowed<B: Backend>(x: FloatTensor<B>, dtype: DType) -> FloatTensor<B> {
    if x.dtype() == dtype { x } else { B::float_cast(x, dtype.into()) }
}
