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

/// What a backend does for training. Every method has a body composed of the backend's own
/// operations, so an empty `impl` makes any backend work; a backend with kernels of its own
/// overrides them.
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
    /// One step of Adam: the parameter, the first and the second moment after it. All four tensors
    /// have one shape; parameter and gradient are of one type, and the moments of that in which a step
    /// is computed: f32 for 16 bits, else the same.
    fn adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        composed::adam_step::<Self>(parameter, gradient, moment_1, moment_2, step)
    }

    /// One step of AMSGrad: as [`adam_step`](Self::adam_step), with the greatest second moment so far
    /// behind the moments, and after the step.
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

    /// One step of gradient descent with momentum: the parameter and the velocity after it. Shapes and
    /// types are as for [`adam_step`](Self::adam_step), the velocity's being a moment's.
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

    /// The product of a linear layer, `x·weight`: `x` is `[batch, inputs]`, `weight` `[inputs,
    /// outputs]`.
    fn linear_product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(x, weight)
    }

    /// The gradient of [`linear_product`](Self::linear_product) for `x`, given that of its result.
    fn linear_input_gradient(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        Self::float_matmul(gradient, Self::float_transpose(weight))
    }

    /// The gradient of [`linear_product`](Self::linear_product) for `weight`, given that of its result.
    fn linear_weight_gradient(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        Self::float_matmul(Self::float_transpose(x), gradient)
    }

    /// A two-dimensional convolution. `x` is `[batch, channels, height, width]`, `weight`
    /// `[outputs, channels / groups, kernel height, kernel width]`.
    fn convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        Self::conv2d(x, weight, None, options)
    }

    /// [`convolution`](Self::convolution), with `bias` of `[outputs]` added.
    fn biased_convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        Self::conv2d(x, weight, Some(bias), options)
    }

    /// The gradient of [`convolution`](Self::convolution) for `x`, given that of its result.
    fn convolution_input_gradient(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        Self::conv2d_x_backward(x, weight, gradient, options)
    }

    /// The gradient of [`convolution`](Self::convolution) for `weight`, given that of its result.
    fn convolution_weight_gradient(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        options: ConvOptions<2>,
    ) -> FloatTensor<Self> {
        Self::conv2d_weight_backward(x, weight, gradient, options)
    }

    /// The gradient of [`convolution`](Self::convolution) for its bias, given that of its result:
    /// the sum over pictures and pixels.
    fn convolution_bias_gradient(gradient: FloatTensor<Self>) -> FloatTensor<Self> {
        composed::sum_of_channels::<Self>(gradient)
    }

    /// The largest of each 2×2 pixels of `[batch, channels, height, width]`, which leaves half the height and
    /// width, rounded down.
    fn max_pool_2x2(x: FloatTensor<Self>) -> FloatTensor<Self> {
        composed::max_pool_2x2::<Self>(x)
    }

    /// The gradient of [`max_pool_2x2`](Self::max_pool_2x2) for `x`, given that of its result: it goes to the first
    /// of equal pixels.
    fn max_pool_2x2_gradient(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        composed::max_pool_2x2_gradient::<Self>(x, gradient)
    }

    /// `unit(γ·(x − mean)/√(variance + ε) + β)` for `x` of `[batch, channels, ...]` and one number a
    /// channel in everything else.
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

    /// [`batch_norm_activation`](Self::batch_norm_activation) by the batch's own statistics, and
    /// these: the mean and the mean square deviation of every channel, f32 for 16 bits. No gradient flows
    /// through the statistics that are returned.
    fn batch_norm_activation_train(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        epsilon: f64,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        composed::batch_norm_activation_train::<Self>(x, gamma, beta, epsilon, unit)
    }

    /// The gradients of [`batch_norm_activation_train`](Self::batch_norm_activation_train) for `x`,
    /// γ and β, given that of its result and the statistics it returned.
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

    /// `γ·(x − mean)/√(variance + ε)` of each row of `x`, `[rows, width]`, by the mean and the mean square
    /// deviation of its numbers; if it is not centred, `γ·x/√(mean(x²) + ε)`.
    fn row_norm(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        epsilon: f64,
        centred: bool,
    ) -> FloatTensor<Self> {
        composed::row_norm::<Self>(x, gamma, epsilon, centred)
    }

    /// The gradients of [`row_norm`](Self::row_norm) for `x` and γ, given that of its result.
    fn row_norm_gradients(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        epsilon: f64,
        centred: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::row_norm_gradients::<Self>(x, gamma, gradient, epsilon, centred)
    }

    /// `softmax(Q·Kᵀ/√size)·V` of each head, where no place sees a later one: `[batch, length,
    /// heads·size]` of `qkv`, `[batch, length, 3·heads·size]`.
    fn causal_attention(qkv: FloatTensor<Self>, heads: usize) -> FloatTensor<Self> {
        composed::causal_attention::<Self>(qkv, heads)
    }

    /// [`causal_attention`](Self::causal_attention), and the softmax, `[batch, heads, length, length]`.
    fn causal_attention_train(
        qkv: FloatTensor<Self>,
        heads: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::causal_attention_train::<Self>(qkv, heads)
    }

    /// The gradient of [`causal_attention`](Self::causal_attention) for `qkv`, given the softmax and the
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
