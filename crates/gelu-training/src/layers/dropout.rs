use burn::tensor::Tensor;
use burn_core as burn;
use burn_nn::Dropout;
use gelu_core::functional;
use gelu_core::random::DropoutMask;

/// Applies dropout as `layer.forward(input)` does, with a mask from [`gelu_core::random`]. The mask is
/// computed many numbers at a time, and computed again in the backward pass instead of being stored.
///
/// # Shapes
///
/// - input and output: `[..., any]`
///
/// ```
/// use burn::nn::DropoutConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::default().autodiff();
/// let ones = Tensor::<3>::ones([20, 10, 50], &device);
/// let dropped = gelu_training::layers::dropout(&DropoutConfig::new(0.2).init(), ones);
/// let values = dropped.into_data().try_to_vec::<f32>().unwrap();
/// assert!(values.iter().all(|&value| value == 0.0 || (value - 1.25).abs() < 1e-6));
/// let zeros = values.iter().filter(|&&value| value == 0.0).count();
/// assert!((1800..2200).contains(&zeros));
/// ```
pub fn dropout<const D: usize>(layer: &Dropout, input: Tensor<D>) -> Tensor<D> {
    let mask = DropoutMask::due(layer, &input);
    masked(input, mask)
}

/// Returns the input after dropout, or unchanged if there is no mask.
pub(super) fn masked<const D: usize>(input: Tensor<D>, mask: Option<DropoutMask>) -> Tensor<D> {
    match mask {
        Some(mask) => functional::dropout(input, mask),
        None => input,
    }
}
