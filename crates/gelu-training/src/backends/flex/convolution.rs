use crate::kernels::convolution::{self, Geometry};
use crate::kernels::sum_of_channels;
use burn_core::backend::ops::ConvOptions;
use burn_core::tensor::{DType, Shape};
use burn_flex::FlexTensor;
use gelu_core::flex::{contiguous, elements, tensor};

/// Returns the sizes of the convolution if there is a kernel: only for f32 and one group.
///
/// # Panics
///
/// If the kernel is larger than the padded images.
pub(super) fn geometry(
    x: &FlexTensor,
    weight: &FlexTensor,
    options: &ConvOptions<2>,
) -> Option<Geometry> {
    if [x.dtype(), weight.dtype()] != [DType::F32; 2] || options.groups != 1 {
        return None;
    }
    let [batch, channels, height, width] = x.layout().shape().dims();
    let [outputs, _, kernel_height, kernel_width] = weight.layout().shape().dims();
    let (input, kernel) = ([height, width], [kernel_height, kernel_width]);
    let output = [0, 1].map(|axis| {
        let (begin, end) = options.padding[axis];
        let reach = options.dilation[axis] * (kernel[axis].max(1) - 1) + 1;
        let padded = input[axis] + begin + end;
        assert!(
            reach <= padded,
            "a convolution needs pictures at least as large as its kernel, which reaches over \
             {reach} pixels, but they have {padded} with their padding"
        );
        (padded - reach) / options.stride[axis] + 1
    });
    Some(Geometry {
        batch,
        channels: [channels, outputs],
        input,
        output,
        kernel,
        stride: options.stride,
        dilation: options.dilation,
        padding: options.padding_begin(),
    })
}

pub(super) fn forward(
    geometry: &Geometry,
    x: FlexTensor,
    weight: FlexTensor,
    bias: Option<FlexTensor>,
) -> FlexTensor {
    let Geometry { batch, channels: [_, outputs], output: [height, width], .. } = *geometry;
    let [x, weight] = [x, weight].map(contiguous);
    let bias = bias.map(contiguous);
    let bias = bias.as_ref().map_or(&[][..], elements);
    let output = convolution::convolve(geometry, elements(&x), elements(&weight), bias);
    tensor(output, Shape::from([batch, outputs, height, width]))
}

pub(super) fn input_gradient(
    geometry: &Geometry,
    x: FlexTensor,
    weight: FlexTensor,
    gradient: FlexTensor,
) -> FlexTensor {
    let [weight, gradient] = [weight, gradient].map(contiguous);
    let result = convolution::input_gradient(geometry, elements(&weight), elements(&gradient));
    tensor(result, x.layout().shape().clone())
}

pub(super) fn weight_gradient(
    geometry: &Geometry,
    x: FlexTensor,
    weight: FlexTensor,
    gradient: FlexTensor,
) -> FlexTensor {
    let [x, gradient] = [x, gradient].map(contiguous);
    let result = convolution::weight_gradient(geometry, elements(&x), elements(&gradient));
    tensor(result, weight.layout().shape().clone())
}

pub(super) fn bias_gradient(gradient: FlexTensor) -> FlexTensor {
    let gradient = contiguous(gradient);
    let [_, channels, height, width] = gradient.layout().shape().dims();
    let sums = sum_of_channels(elements(&gradient), channels, height * width);
    tensor(sums, Shape::from([channels]))
}
