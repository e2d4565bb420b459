use crate::kernels;
use burn_core::tensor::{DType, Shape};
use burn_flex::FlexTensor;
use gelu_core::flex::{contiguous, elements, tensor};

/// Returns whether there is a kernel: only for f32 images.
pub(super) fn has_kernel(x: &FlexTensor) -> bool {
    x.dtype() == DType::F32 && x.layout().num_dims() == 4
}

pub(super) fn forward(x: FlexTensor) -> FlexTensor {
    let x = contiguous(x);
    let [batch, channels, height, width] = x.layout().shape().dims();
    let pooled = kernels::max_pool(elements(&x), [height, width]);
    tensor(pooled, Shape::from([batch, channels, height / 2, width / 2]))
}

pub(super) fn gradient(x: FlexTensor, gradient: FlexTensor) -> FlexTensor {
    let [x, gradient] = [x, gradient].map(contiguous);
    let shape = x.layout().shape().clone();
    let [_, _, height, width] = shape.dims();
    let of_x = kernels::max_pool_gradient(elements(&x), [height, width], elements(&gradient));
    tensor(of_x, shape)
}
