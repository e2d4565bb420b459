use super::linear::rows;
use crate::TrainingOps;
use crate::backends::dispatched;
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_nn::{LayerNorm, RmsNorm};
use gelu_core::functional::{self, Unit};

/// Returns the same as `layer.forward(input)`, computed with [`TrainingOps::row_norm`]. Pass the layer's ε,
/// because Burn's module does not expose it: 1e-5, unless the configuration had another value.
///
/// # Shapes
///
/// - input and output: `[..., width]`
///
/// # Panics
///
/// If the last dimension of the input is not the layer's.
///
/// ```
/// use burn::nn::LayerNormConfig;
/// use burn::tensor::{Device, Tensor};
/// use gelu_training::layers::layer_norm;
///
/// let device = Device::default();
/// let layer = LayerNormConfig::new(2).init(&device);
/// let y = layer_norm(&layer, 1e-5, Tensor::<2>::from_floats([[1.0, 3.0]], &device));
/// let y = y.into_data().try_to_vec::<f32>().unwrap();
/// assert!((y[0] + 1.0).abs() < 1e-4 && (y[1] - 1.0).abs() < 1e-4);
/// ```
pub fn layer_norm<const D: usize>(layer: &LayerNorm, epsilon: f64, input: Tensor<D>) -> Tensor<D> {
    let normed = norm(layer.gamma.val(), epsilon, true, input);
    match &layer.beta {
        Some(beta) => rows(normed, |normed| {
            functional::bias_activation_dropout(normed, beta.val(), Unit::Identity, None)
        }),
        None => normed,
    }
}

/// Returns the same as `layer.forward(input)`, computed with [`TrainingOps::row_norm`].
///
/// # Shapes
///
/// - input and output: `[..., width]`
///
/// # Panics
///
/// If the last dimension of the input is not the layer's.
pub fn rms_norm<const D: usize>(layer: &RmsNorm, input: Tensor<D>) -> Tensor<D> {
    norm(layer.gamma.val(), layer.epsilon, false, input)
}

fn norm<const D: usize>(
    gamma: Tensor<1>,
    epsilon: f64,
    centred: bool,
    input: Tensor<D>,
) -> Tensor<D> {
    let ([width], found) = (gamma.dims(), input.dims()[D - 1]);
    assert_eq!(width, found, "a norm of {width} numbers got {found}");
    rows(input, |input| {
        let normed = Dispatch::row_norm(dispatched(input), dispatched(gamma), epsilon, centred);
        Tensor::from_dispatch(normed)
    })
}
