//! The operations for any backend, of its own tensor operations.

use crate::{AdamStep, EpsilonPlace, SgdStep};
use burn_core::backend::{Backend, Scalar, tensor::FloatTensor};

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
    let moment_1 = B::float_add(
        scaled::<B>(moment_1, beta_1),
        scaled::<B>(gradient, 1.0 - beta_1),
    );
    let moment_2 = B::float_add(
        scaled::<B>(moment_2, beta_2),
        scaled::<B>(squared, 1.0 - beta_2),
    );
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
