use crate::TrainingOps;
use crate::backends::dispatched;
use burn::tensor::{FloatDType, Tensor};
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_nn::BatchNorm;
use gelu_core::ActivationLayer;
use gelu_core::functional::{self, Unit};

/// Returns the same as `layer.forward(input)`, computed with [`TrainingOps::batch_norm_activation`]. On autodiff
/// devices it uses the statistics of the batch and updates the running statistics, unless the layer is frozen.
///
/// The update of the running variance uses the mean square deviation of a channel's n numbers, as Burn's does;
/// PyTorch's uses n/(n − 1) times as much. An empty batch changes no statistic. 16-bit inputs are normalised in
/// f32. Training a 16-bit layer turns its running statistics into f32, because f16 cannot hold a variance above
/// 65,504. Burn's own `forward` accepts such a layer after you cast the statistics to the layer's type.
///
/// # Shapes
///
/// - input and output: `[batch, channels, ...]`
///
/// # Panics
///
/// If the input has fewer than two dimensions, its number of channels is not the layer's, or a training batch
/// has one number per channel, whose variance is 0.
pub fn batch_norm<const D: usize>(layer: &BatchNorm, input: Tensor<D>) -> Tensor<D> {
    norm(layer, input, Unit::Identity)
}

/// Returns `activation.forward(layer.forward(input))` in one operation, which only stores the input for its
/// backward pass. Learnable, stochastic and custom activations are separate operations.
///
/// # Shapes
///
/// - input and output: `[batch, channels, ...]`
///
/// # Panics
///
/// In the same cases as [`batch_norm`].
///
/// ```
/// use burn::nn::BatchNormConfig;
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::{Activation, Channels};
/// use gelu_training::layers::batch_norm_activation;
///
/// let device = Device::default().autodiff();
/// let layer = BatchNormConfig::new(1).init(&device);
/// let relu = Activation::Relu.init(Channels::Shared, &device);
/// let x = Tensor::<2>::from_floats([[1.0], [3.0]], &device);
/// let y = batch_norm_activation(&layer, &relu, x).into_data().try_to_vec::<f32>().unwrap();
/// assert!(y[0] == 0.0 && (y[1] - 1.0).abs() < 1e-4);
/// ```
pub fn batch_norm_activation<const D: usize>(
    layer: &BatchNorm,
    activation: &ActivationLayer,
    input: Tensor<D>,
) -> Tensor<D> {
    match activation.fusible() {
        Some(unit) => {
            let unit = functional::in_type(unit, input.dtype());
            norm(layer, input, unit)
        }
        None => activation.forward(batch_norm(layer, input)),
    }
}

fn norm<const D: usize>(layer: &BatchNorm, input: Tensor<D>, unit: Unit) -> Tensor<D> {
    let channels = layer.gamma.dims()[0];
    let shape = input.dims();
    assert!(
        D >= 2 && shape[1] == channels,
        "the batch norm takes [batch, {channels}, ...], got {shape:?}"
    );
    let device = input.device();
    let [gamma, beta] = [&layer.gamma, &layer.beta].map(|parameter| parameter.val());
    if !(device.is_autodiff() && layer.training.is_enabled()) {
        let [mean, variance] = [&layer.running_mean, &layer.running_var]
            .map(|running| dispatched(running.value().to_device(&device)));
        return Tensor::from_dispatch(Dispatch::batch_norm_activation(
            dispatched(input),
            dispatched(gamma),
            dispatched(beta),
            mean,
            variance,
            layer.epsilon,
            unit,
        ));
    }
    let count: usize = shape.iter().product::<usize>() / channels;
    assert!(
        count != 1,
        "a batch norm is trained on more than one number per channel, got {shape:?}: drop a last batch of one \
         example (`drop_last`), or freeze the layer"
    );
    let (output, mean, variance) = Dispatch::batch_norm_activation_train(
        dispatched(input),
        dispatched(gamma),
        dispatched(beta),
        layer.epsilon,
        unit,
    );
    if count == 0 {
        return Tensor::from_dispatch(output);
    }
    for (running, of_batch) in [(&layer.running_mean, mean), (&layer.running_var, variance)] {
        let of_batch = Tensor::<1>::from_dispatch(of_batch).detach();
        let kept = running.value_sync().to_device(&device).cast(FloatDType::from(of_batch.dtype()));
        let kept = kept.mul_scalar(1.0 - layer.momentum);
        running.update(kept.add(of_batch.mul_scalar(layer.momentum)).detach());
    }
    Tensor::from_dispatch(output)
}
