//! The operations for any backend, of its own tensor operations.

use crate::{AdamStep, EpsilonPlace, SgdStep};
use burn_core::backend::{Backend, Scalar, TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::{DType, Shape};
use gelu_core::ActivationOps;
use gelu_core::functional::Unit;

fn scaled<B: Backend>(x: FloatTensor<B>, factor: f64) -> FloatTensor<B> {
    B::float_mul_scalar(x, Scalar::Float(factor))
}

/// The tensor in this type.
fn cast<B: Backend>(x: FloatTensor<B>, dtype: DType) -> FloatTensor<B> {
    if x.dtype() == dtype { x } else { B::float_cast(x, dtype.into()) }
}

pub(crate) fn adam_step<B: Backend>(
    parameter: FloatTensor<B>,
    gradient: FloatTensor<B>,
    moment_1: FloatTensor<B>,
    moment_2: FloatTensor<B>,
    step: AdamStep,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let AdamStep { rate, beta_1, beta_2, epsilon, epsilon_place } = step;
    let (dtype, wide) = (parameter.dtype(), moment_1.dtype());
    let [parameter, gradient] = [parameter, gradient].map(|x| cast::<B>(x, wide));
    let squared = B::float_mul(gradient.clone(), gradient.clone());
    let moment_1 = B::float_add(scaled::<B>(moment_1, beta_1), scaled::<B>(gradient, 1.0 - beta_1));
    let moment_2 = B::float_add(scaled::<B>(moment_2, beta_2), scaled::<B>(squared, 1.0 - beta_2));
    let shifted = |x| B::float_add_scalar(x, Scalar::Float(epsilon));
    let divisor = match epsilon_place {
        EpsilonPlace::Outside => shifted(B::float_sqrt(moment_2.clone())),
        EpsilonPlace::Inside => B::float_sqrt(shifted(moment_2.clone())),
    };
    let change = B::float_div(scaled::<B>(moment_1.clone(), rate), divisor);
    (cast::<B>(B::float_sub(parameter, change), dtype), moment_1, moment_2)
}

pub(crate) fn sgd_step<B: Backend>(
    parameter: FloatTensor<B>,
    gradient: FloatTensor<B>,
    velocity: FloatTensor<B>,
    step: SgdStep,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let SgdStep { rate, momentum, nesterov, weight_decay } = step;
    let (dtype, wide) = (parameter.dtype(), velocity.dtype());
    let [parameter, gradient] = [parameter, gradient].map(|x| cast::<B>(x, wide));
    let gradient = match weight_decay {
        0.0 => gradient,
        decay => B::float_add(gradient, scaled::<B>(parameter.clone(), decay)),
    };
    let velocity = B::float_add(scaled::<B>(velocity, momentum), gradient.clone());
    let direction = match nesterov {
        true => B::float_add(gradient, scaled::<B>(velocity.clone(), momentum)),
        false => velocity.clone(),
    };
    (cast::<B>(B::float_sub(parameter, scaled::<B>(direction, rate)), dtype), velocity)
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

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use crate::{AdamConfig, TrainingOps};
    use burn_core::backend::Flex;
    use burn_core::tensor::TensorData;

    type Primitive = FloatTensor<Flex>;

    fn tensor(values: [f32; 3], dtype: DType) -> Primitive {
        Primitive::from_data(TensorData::new(values.to_vec(), [3]).convert_dtype(dtype))
    }

    fn numbers(x: &Primitive) -> Vec<f64> {
        x.clone().into_data().iter::<f64>().collect()
    }

    /// Beside the kernels, which have their own test beside f64.
    #[test]
    fn sixteen_bits_are_stepped_as_by_a_kernel() {
        for dtype in [DType::F16, DType::BF16] {
            for size in [0.0, 1e-8, 1e-3, 0.5, 100.0] {
                for place in [EpsilonPlace::Outside, EpsilonPlace::Inside] {
                    let adam = AdamConfig::new().with_epsilon_place(place).build();
                    let sgd =
                        SgdStep { rate: 1e-3, momentum: 0.9, nesterov: true, weight_decay: 1e-3 };
                    let start = || tensor([1.0, -0.5, 0.25], dtype);
                    let zeros = || tensor([0.0; 3], DType::F32);
                    let mut kernel = (start(), zeros(), zeros());
                    let mut ours = kernel.clone();
                    let (mut kernel_sgd, mut ours_sgd) = ((start(), zeros()), (start(), zeros()));
                    for time in 1..=1_000 {
                        let g = [1.0, (time as f32).sin(), (0.3 * time as f32).cos()];
                        let g = || tensor(g.map(|g| g * size), dtype);
                        let step = adam.numbers(1e-3, time);
                        kernel = Flex::adam_step(kernel.0, g(), kernel.1, kernel.2, step);
                        ours = adam_step::<Flex>(ours.0, g(), ours.1, ours.2, step);
                        kernel_sgd = Flex::sgd_step(kernel_sgd.0, g(), kernel_sgd.1, sgd);
                        ours_sgd = sgd_step::<Flex>(ours_sgd.0, g(), ours_sgd.1, sgd);
                    }
                    for (ours, kernel) in [
                        (&ours.0, &kernel.0),
                        (&ours.1, &kernel.1),
                        (&ours.2, &kernel.2),
                        (&ours_sgd.0, &kernel_sgd.0),
                        (&ours_sgd.1, &kernel_sgd.1),
                    ] {
                        assert_eq!(ours.dtype(), kernel.dtype());
                        let digits = if ours.dtype() == DType::F32 { 1e-5 } else { 2e-2 };
                        let (ours, kernel) = (numbers(ours), numbers(kernel));
                        let largest = kernel.iter().map(|x| x.abs()).fold(0.0, f64::max);
                        for (ours, kernel) in ours.into_iter().zip(kernel) {
                            let off = (ours - kernel).abs();
                            assert!(off <= digits * largest, "{dtype:?} {size}: {ours} {kernel}");
                        }
                    }
                }
            }
        }
    }
}
