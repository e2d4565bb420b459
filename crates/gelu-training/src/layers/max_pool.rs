use crate::TrainingOps;
use crate::backends::dispatched;
use burn::tensor::Tensor;
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_nn::PaddingConfig2d;
use burn_nn::pool::MaxPool2d;

/// Returns the same as `layer.forward(input)`. Uses [`TrainingOps::max_pool_2x2`] if the layer takes the largest of
/// non-overlapping 2×2 pixels.
///
/// On Flex there is a kernel for f32, which stores no indices. All other layers use Burn's operations.
///
/// # Shapes
///
/// - input: `[batch, channels, height, width]`
/// - output: `[batch, channels, height, width]`, with the sizes that result from stride and padding
///
/// # Panics
///
/// If the kernel is larger than the padded input.
///
/// ```
/// use burn::nn::pool::MaxPool2dConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let layer = MaxPool2dConfig::new([2, 2]).init();
/// let input = Tensor::ones([4, 3, 9, 7], &Device::default());
/// assert_eq!(gelu_training::layers::max_pool2d(&layer, input).dims(), [4, 3, 4, 3]);
/// ```
pub fn max_pool2d(layer: &MaxPool2d, input: Tensor<4>) -> Tensor<4> {
    match halves(layer) && input.dims()[2..].iter().all(|length| *length >= 2) {
        true => Tensor::from_dispatch(Dispatch::max_pool_2x2(dispatched(input))),
        false => layer.forward(input),
    }
}

fn halves(layer: &MaxPool2d) -> bool {
    let MaxPool2d { stride, kernel_size, padding, dilation, ceil_mode } = layer;
    let padded = !matches!(padding, PaddingConfig2d::Valid | PaddingConfig2d::Explicit(0, 0, 0, 0));
    [*stride, *kernel_size] == [[2, 2]; 2] && *dilation == [1, 1] && !padded && !ceil_mode
}
