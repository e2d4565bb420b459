//! The operations composed of a backend's own tensor operations, for any backend.

mod attention;
#[cfg(all(test, feature = "flex"))]
pub(crate) mod beside;
mod max_pool;
mod optimizer;
mod row_norm;

pub(crate) use attention::{causal_attention, causal_attention_gradient, causal_attention_train};
pub(crate) use max_pool::{max_pool_2x2, max_pool_2x2_gradient};
pub(crate) use optimizer::{adam_step, amsgrad_step, sgd_step};
pub(crate) use row_norm::{row_norm, row_norm_gradients};

use crate::TrainingOps;
use burn_core::backend::{Backend, TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::{DType, Shape};
use gelu_core::functional::Unit;

/// Returns the tensor in this type.
fn cast<B: Backend>(x: FloatTensor<B>, dtype: DType) -> FloatTensor<B> {
    if x.dtype() == dtype { x } else { B::float_cast(x, dtype.into()) }
}

/// Returns whether sums and squares of a tensor need a wider type than its storage type. f16 ends at 65,504,
/// which is less than the square of 256, and a sum in bf16 no longer changes when a term is 256 times
/// smaller.
fn is_narrow(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// Returns the tensor in the type that its sums are computed in: f32 for types of 16 bits.
fn widened<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    if is_narrow(x.dtype()) { cast::<B>(x, DType::F32) } else { x }
}

/// Returns the sum of a `[batch, channels, ...]` tensor over everything but the channels.
pub(crate) fn sum_of_channels<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let (dtype, x) = (x.dtype(), widened::<B>(x));
    let shape = x.shape();
    let channels = shape[1];
    let rest = shape.num_elements() / channels.max(1);
    let rows = B::float_reshape(B::float_swap_dims(x, 0, 1), Shape::from([channels, rest]));
    cast::<B>(B::float_reshape(B::float_sum_dim(rows, 1), Shape::from([channels])), dtype)
}

/// Returns the activation of the batch norm. `parameters` are γ, β, mean and variance.
pub(crate) fn batch_norm_activation<B: TrainingOps>(
    x: FloatTensor<B>,
    parameters: [FloatTensor<B>; 4],
    epsilon: f64,
    unit: Unit,
) -> FloatTensor<B> {
    let dtype = x.dtype();
    if is_narrow(dtype) {
        let [gamma, beta, mean, variance] = parameters.map(widened::<B>);
        let x = widened::<B>(x);
        let y = B::batch_norm_activation(x, gamma, beta, mean, variance, epsilon, unit);
        return cast::<B>(y, dtype);
    }
    let [gamma, beta, mean, variance] = parameters;
    B::activation(B::batch_norm(x, gamma, beta, mean, variance, epsilon), unit)
}

pub(crate) fn batch_norm_activation_train<B: TrainingOps>(
    x: FloatTensor<B>,
    gamma: FloatTensor<B>,
    beta: FloatTensor<B>,
    epsilon: f64,
    unit: Unit,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let dtype = x.dtype();
    if is_narrow(dtype) {
        let [x, gamma, beta] = [x, gamma, beta].map(widened::<B>);
        let (y, mean, variance) = B::batch_norm_activation_train(x, gamma, beta, epsilon, unit);
        return (cast::<B>(y, dtype), mean, variance);
    }
    let normed = B::batch_norm_train(x, gamma, beta, epsilon);
    (B::activation(normed.output, unit), normed.mean, normed.variance)
}

/// Returns the gradients for x, γ and β. `parameters` are γ, β, mean and variance.
pub(crate) fn batch_norm_activation_gradients<B: TrainingOps>(
    x: FloatTensor<B>,
    parameters: [FloatTensor<B>; 4],
    gradient: FloatTensor<B>,
    epsilon: f64,
    unit: Unit,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    if is_narrow(x.dtype()) {
        let [of_x, of_gamma, of_beta] = [&x, &parameters[0], &parameters[1]].map(|x| x.dtype());
        let ([gamma, beta, mean, variance], [x, gradient]) =
            (parameters.map(widened::<B>), [x, gradient].map(widened::<B>));
        let gradients = B::batch_norm_activation_gradients(
            x, gamma, beta, mean, variance, gradient, epsilon, unit,
        );
        return (
            cast::<B>(gradients.0, of_x),
            cast::<B>(gradients.1, of_gamma),
            cast::<B>(gradients.2, of_beta),
        );
    }
    let [gamma, beta, mean, variance] = parameters.clone();
    let normed = B::batch_norm(x.clone(), gamma, beta, mean, variance, epsilon);
    let gradient = B::activation_backward(normed, gradient, unit);
    let [gamma, _, mean, variance] = parameters;
    let gradients = B::batch_norm_train_backward(x, gamma, mean, variance, epsilon, gradient);
    (gradients.x_grad, gradients.gamma_grad, gradients.beta_grad)
}
