//! The operations for any backend, of its own tensor operations.

use crate::{AdamStep, EpsilonPlace, SgdStep};
use burn_core::backend::{Backend, Scalar, TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::Shape;
use gelu_core::{ActivationOps, Unit};

fn scaled<B: Backend>(x: FloatTensor<B>, factor: f64) -> FloatTensor<B> {
    B::float_mul_scalar(x, Scalar::Float(factor))
}

pub(crate) fn adam_step<B: Backend>(
    parameter: FloatTensor<B>,
    gradient: FloatTensor<B>,
    moment_1: FloatTensor<B>,
    moment_2: FloatTensor<B>,
    step: AdamStep,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let AdamStep { rate, beta_1, beta_2, epsilon, epsilon_place } = step;
    let squared = B::float_mul(gradient.clone(), gradient.clone());
    let moment_1 = B::float_add(scaled::<B>(moment_1, beta_1), scaled::<B>(gradient, 1.0 - beta_1));
    let moment_2 = B::float_add(scaled::<B>(moment_2, beta_2), scaled::<B>(squared, 1.0 - beta_2));
    let shifted = |x| B::float_add_scalar(x, Scalar::Float(epsilon));
    let divisor = match epsilon_place {
        EpsilonPlace::Outside => shifted(B::float_sqrt(moment_2.clone())),
        EpsilonPlace::Inside => B::float_sqrt(shifted(moment_2.clone())),
    };
    let change = B::float_div(scaled::<B>(moment_1.clone(), rate), divisor);
    (B::float_sub(parameter, change), moment_1, moment_2)
}

pub(crate) fn sgd_step<B: Backend>(
    parameter: FloatTensor<B>,
    gradient: FloatTensor<B>,
    velocity: FloatTensor<B>,
    step: SgdStep,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let SgdStep { rate, momentum, nesterov, weight_decay } = step;
    let gradient = match weight_decay {
        0.0 => gradient,
        decay => B::float_add(gradient, scaled::<B>(parameter.clone(), decay)),
    };
    let velocity = B::float_add(scaled::<B>(velocity, momentum), gradient.clone());
    let direction = match nesterov {
        true => B::float_add(gradient, scaled::<B>(velocity.clone(), momentum)),
        false => velocity.clone(),
    };
    (B::float_sub(parameter, scaled::<B>(direction, rate)), velocity)
}

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
