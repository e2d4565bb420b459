#![cfg_attr(
    not(any(
        feature = "flex",
        feature = "ndarray",
        feature = "cubecl-backend",
        feature = "tch",
        feature = "remote",
        feature = "capture",
    )),
    allow(unused_variables, reason = "without a backend nobody is handed them")
)]

use crate::{AdamStep, SgdStep, composed};
use burn_core as burn;
use burn_core::backend::{Backend, backend_extension, ops::ConvOptions, tensor::FloatTensor};
use gelu_core::ActivationOps;
use gelu_core::functional::Unit;

/// The operations of a backend for training. Every method has a default body that composes the backend's own
/// operations, so an empty `impl` is enough for any backend. A backend with kernels of its own overrides the
/// methods.
#[backend_extension(
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cubecl-backend"),
    LibTorch: cfg(feature = "tch"),
    Remote: cfg(feature = "remote"),
    Capture: cfg(feature = "capture"),
    Autodiff: cfg(feature = "autodiff"),
)]
pub trait TrainingOps: Backend + ActivationOps {
    /// Computes one step of Adam, and returns the parameter, the first and the second moment after it. All four
    /// tensors have the same shape. Parameter and gradient have the same type. The moments have the type that a
    /// step is computed in: f32 for 16-bit parameters, otherwise the parameter's type.
    fn adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        composed::adam_step::<Self>(parameter, gradient, moment_1, moment_2, step)
    }

    /// Computes one step of AMSGrad: [`adam_step`](Self::adam_step) with the greatest second moment so far,
    /// `maximum`. Returns the updated maximum after the moments.
    fn amsgrad_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        maximum: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        composed::amsgrad_step::<Self>(parameter, gradient, moment_1, moment_2, maximum, step)
    }

    /// Computes one step of gradient descent with momentum, and returns the parameter and the velocity after it.
    /// Shapes and types are as for [`adam_step`](Self::adam_step); the velocity has the type of a moment.
    fn sgd_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::sgd_step::<Self>(parameter, gradient, velocity, step)
    }

    /// [`adam_step`](Self::adam_step) in the memory that parameter and moments have, whoever else holds it, by
    /// `numbers` of the device: those of [`AdamStep::changing`] stand there from `first` on. A backend whose steps
    /// cannot be recorded makes an ordinary step of it, by the host's numbers.
    fn adam_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let _ = (numbers, first);
        Self::adam_step(parameter, gradient, moment_1, moment_2, step)
    }

    /// [`amsgrad_step`](Self::amsgrad_step) as [`adam_step_in_place`](Self::adam_step_in_place).
    #[allow(clippy::too_many_arguments, reason = "an operation takes its tensors one by one")]
    fn amsgrad_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        maximum: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let _ = (numbers, first);
        Self::amsgrad_step(parameter, gradient, moment_1, moment_2, maximum, step)
    }

    /// [`sgd_step`](Self::sgd_step) as [`adam_step_in_place`](Self::adam_step_in_place), by the numbers of
    /// [`SgdStep::changing`].
    fn sgd_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let _ = (numbers, first);
        Self::sgd_step(parameter, gradient, velocity, step)
    }

    /// Returns the product of a linear layer, `x·weight`, where `x` is `[batch, inputs]` and `weight` is
    /// `[inputs, outputs]`.
    fn linear_product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(x, weight)
    }

    /// Returns the gradient of [`linear_product`](Self::linear_product) for `x`, given the gradient of its result.
    fn linear_input_gradient(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        Self::float_matmul(gradient, Self::float_transpose(weight))
    }

    /// Returns the gradient of [`linear_product`](Self::linear_product) for `weight`, given the gradient of its
    /// result.
    fn linear_weight_gradient(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        Self::float_matmul(Self::float_transpose(x), gradient)
    }

    /// Returns a two-dimensional convolution, where `x` is `[batch, channels, height, width]` and `weight` is
    /// `[outputs, channels / groups, kernel height, kernel width]`.
    fn convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        Self::conv2d(x, weight, None, options)
    }

    /// Returns the [`convolution`](Self::convolution) plus `bias`, which is `[outputs]`.
    fn biased_convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        Self::conv2d(x, weight, Some(bias), options)
    }

    /// Returns the gradient of [`convolution`](Self::convolution) for `x`, given the gradient of its result.
    fn convolution_input_gradient(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        Self::conv2d_x_backward(x, weight, gradient, options)
    }

    /// Returns the gradient of [`convolution`](Self::convolution) for `weight`, given the gradient of its result.
    fn convolution_weight_gradient(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        Self::conv2d_weight_backward(x, weight, gradient, options)
    }

    /// Returns the gradient of [`convolution`](Self::convolution) for its bias, given the gradient of its result:
    /// the sum over images and pixels.
    fn convolution_bias_gradient(gradient: FloatTensor<Self>) -> FloatTensor<Self> {
        composed::sum_of_channels::<Self>(gradient)
    }

    /// Returns the largest of each 2×2 pixels of `[batch, channels, height, width]`. Height and width of the result
    /// are half as large, rounded down.
    fn max_pool_2x2(x: FloatTensor<Self>) -> FloatTensor<Self> {
        composed::max_pool_2x2::<Self>(x)
    }

    /// Returns the gradient of [`max_pool_2x2`](Self::max_pool_2x2) for `x`, given the gradient of its result. Of
    /// equal pixels, the first receives it.
    fn max_pool_2x2_gradient(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        composed::max_pool_2x2_gradient::<Self>(x, gradient)
    }

    /// Returns `unit(γ·(x − mean)/√(variance + ε) + β)` for `x` of `[batch, channels, ...]`. The other tensors have
    /// one number per channel.
    fn batch_norm_activation(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f64,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::batch_norm_activation::<Self>(x, [gamma, beta, mean, variance], epsilon, unit)
    }

    /// Returns [`batch_norm_activation`](Self::batch_norm_activation) with the statistics of the batch, and these
    /// statistics: the mean and the mean square deviation of every channel, in f32 for 16-bit inputs. No gradient
    /// flows through the returned statistics.
    fn batch_norm_activation_train(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        epsilon: f64,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        composed::batch_norm_activation_train::<Self>(x, gamma, beta, epsilon, unit)
    }

    /// Returns the gradients of [`batch_norm_activation_train`](Self::batch_norm_activation_train) for `x`, γ and
    /// β, given the gradient of its result and the statistics that it returned.
    #[allow(clippy::too_many_arguments, reason = "an operation takes its tensors one by one")]
    fn batch_norm_activation_gradients(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        epsilon: f64,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let parameters = [gamma, beta, mean, variance];
        composed::batch_norm_activation_gradients::<Self>(x, parameters, gradient, epsilon, unit)
    }

    /// Returns `γ·(x − mean)/√(variance + ε)` for each row of `x`, `[rows, width]`, with the mean and the mean
    /// square deviation of the row. If `centred` is false, returns `γ·x/√(mean(x²) + ε)`.
    fn row_norm(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        epsilon: f64,
        centred: bool,
    ) -> FloatTensor<Self> {
        composed::row_norm::<Self>(x, gamma, epsilon, centred)
    }

    /// Returns the gradients of [`row_norm`](Self::row_norm) for `x` and γ, given the gradient of its result.
    fn row_norm_gradients(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        epsilon: f64,
        centred: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::row_norm_gradients::<Self>(x, gamma, gradient, epsilon, centred)
    }

    /// Returns `softmax(Q·Kᵀ/√size)·V` for each head, where no position attends to a later one. `qkv` is
    /// `[batch, length, 3·heads·size]`, and the result is `[batch, length, heads·size]`.
    fn causal_attention(qkv: FloatTensor<Self>, heads: usize) -> FloatTensor<Self> {
        composed::causal_attention::<Self>(qkv, heads)
    }

    /// Returns [`causal_attention`](Self::causal_attention) and its softmax, `[batch, heads, length, length]`.
    fn causal_attention_train(
        qkv: FloatTensor<Self>,
        heads: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::causal_attention_train::<Self>(qkv, heads)
    }

    /// Returns the gradient of [`causal_attention`](Self::causal_attention) for `qkv`, given the softmax and the
    /// gradient of its result.
    fn causal_attention_gradient(
        qkv: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        heads: usize,
    ) -> FloatTensor<Self> {
        composed::causal_attention_gradient::<Self>(qkv, weights, gradient, heads)
    }
}
