//! The operations for any backend, of its own tensor operations.

mod attention;
mod max_pool;
mod optimizer;
mod row_norm;

pub(crate) use attention::{causal_attention, causal_attention_gradient, causal_attention_train};
pub(crate) use max_pool::{max_pool_2x2, max_pool_2x2_gradient};
pub(crate) use optimizer::{adam_step, amsgrad_step, sgd_step};
pub(crate) use row_norm::{row_norm, row_norm_gradients};

use burn_core::backend::{Backend, TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::Shape;
use gelu_core::ActivationOps;
use gelu_core::functional::Unit;

/// The sum of `[batch, channels, ...]` over everything but the channels.
pub(crate) fn sum_of_channels<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let shape = x.shape();
    let channels = shape[1];
    let rest = shape.num_elements() / channels.max(1);
    let rows = B::float_reshape(B::float_swap_dims(x, 0, 1), Shape::from([channels, rest]));
    B::float_reshape(B::float_sum_dim(rows, 1), Shape::from([channels]))
}

/// `parameters` are γ, β, mean and variance.
pub(crate) fn batch_norm_activation<B: Backend + ActivationOps>(
    x: FloatTensor<B>,
    [gamma, beta, mean, variance]: [FloatTensor<B>; 4],
    epsilon: f64,
    unit: Unit,
) -> FloatTensor<B> {
    B::activation(B::batch_norm(x, gamma, beta, mean, variance, epsilon), unit)
}

pub(crate) fn batch_norm_activation_train<B: Backend + ActivationOps>(
    x: FloatTensor<B>,
    gamma: FloatTensor<B>,
    beta: FloatTensor<B>,
    epsilon: f64,
    unit: Unit,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let normed = B::batch_norm_train(x, gamma, beta, epsilon);
    (B::activation(normed.output, unit), normed.mean, normed.variance)
}

/// `parameters` are γ, β, mean and variance.
pub(crate) fn batch_norm_activation_gradients<B: Backend + ActivationOps>(
    x: FloatTensor<B>,
    parameters: [FloatTensor<B>; 4],
    gradient: FloatTensor<B>,
    epsilon: f64,
    unit: Unit,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let [gamma, beta, mean, variance] = parameters.clone();
    let normed = B::batch_norm(x.clone(), gamma, beta, mean, variance, epsilon);
    let gradient = B::activation_backward(normed, gradient, unit);
    let [gamma, _, mean, variance] = parameters;
    let gradients = B::batch_norm_train_backward(x, gamma, mean, variance, epsilon, gradient);
    (gradients.x_grad, gradients.gamma_grad, gradients.beta_grad)
}
