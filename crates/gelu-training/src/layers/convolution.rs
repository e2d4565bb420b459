use crate::TrainingOps;
use crate::backends::dispatched;
use burn::tensor::{Tensor, ops::ConvOptions};
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_nn::{PaddingConfig2d, conv::Conv2d};

/// Returns the same as `layer.forward(input)`, computed with [`TrainingOps::convolution`].
///
/// On Flex there is a kernel for f32 and one group, with any stride, padding and dilation. It
/// treats [subnormal numbers](crate#subnormal-numbers) in input and gradient as 0. All other
/// convolutions use Burn's operations.
///
/// # Shapes
///
/// - input: `[batch, channels, height, width]`
/// - output: `[batch, outputs, height, width]`, with the sizes that result from stride and padding
///
/// # Panics
///
/// If the input's channels are not the layer's, or the kernel is larger than the padded input.
///
/// ```
/// use burn::nn::conv::Conv2dConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::default();
/// let layer = Conv2dConfig::new([3, 8], [3, 3]).with_stride([2, 2]).init(&device);
/// let output = gelu_training::layers::conv2d(&layer, Tensor::ones([4, 3, 9, 7], &device));
/// assert_eq!(output.dims(), [4, 8, 4, 3]);
/// ```
pub fn conv2d(layer: &Conv2d, input: Tensor<4>) -> Tensor<4> {
    let [_, channels, height, width] = input.dims();
    let expected = layer.weight.dims()[1] * layer.groups;
    assert_eq!(
        channels, expected,
        "the convolution takes {expected} channels, got pictures with {channels}"
    );
    let padding = padding(layer, [height, width]);
    let options =
        ConvOptions::new_with_padding(layer.stride, padding, layer.dilation, layer.groups);
    let (input, weight) = (dispatched(input), dispatched(layer.weight.val()));
    Tensor::from_dispatch(match &layer.bias {
        Some(bias) => Dispatch::biased_convolution(input, weight, dispatched(bias.val()), options),
        None => Dispatch::convolution(input, weight, options),
    })
}

/// Returns the padding before and after, for height and width, as Burn's layer computes it.
fn padding(layer: &Conv2d, size: [usize; 2]) -> [(usize, usize); 2] {
    match layer.padding {
        PaddingConfig2d::Valid => [(0, 0); 2],
        PaddingConfig2d::Explicit(top, left, bottom, right) => [(top, bottom), (left, right)],
        PaddingConfig2d::Same => [0, 1].map(|axis| {
            let steps = size[axis].div_ceil(layer.stride[axis]).saturating_sub(1);
            let reach = steps * layer.stride[axis] + layer.kernel_size[axis];
            let missing = reach.saturating_sub(size[axis]);
            (missing / 2, missing - missing / 2)
        }),
    }
}
