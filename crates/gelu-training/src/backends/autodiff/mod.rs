//! The backward passes, one file per operation.

mod attention;
mod batch_norm;
mod cohort;
mod convolution;
mod linear;
mod max_pool;
mod row_norm;

use crate::TrainingOps;
use burn_autodiff::{Autodiff, checkpoint::strategy::CheckpointStrategy};
use burn_core::backend::{ops::ConvOptions, tensor::FloatTensor};
use gelu_core::functional::Unit;

impl<B: TrainingOps, C: CheckpointStrategy> TrainingOps for Autodiff<B, C> {
    fn linear_product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        linear::tracked::<B, C>(x, weight)
    }

    fn convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        convolution::tracked::<B, C>(x, weight, options)
    }

    fn biased_convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        convolution::tracked_with_bias::<B, C>(x, weight, bias, options)
    }

    fn batch_norm_activation_train(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        epsilon: f64,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        batch_norm::tracked::<B, C>(x, gamma, beta, epsilon, unit)
    }

    fn max_pool_2x2(x: FloatTensor<Self>) -> FloatTensor<Self> {
        max_pool::tracked::<B, C>(x)
    }

    fn row_norm(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        epsilon: f64,
        centred: bool,
    ) -> FloatTensor<Self> {
        row_norm::tracked::<B, C>(x, gamma, epsilon, centred)
    }

    fn causal_attention(qkv: FloatTensor<Self>, heads: usize) -> FloatTensor<Self> {
        attention::tracked::<B, C>(qkv, heads)
    }
}
