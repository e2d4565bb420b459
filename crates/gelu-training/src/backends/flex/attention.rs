use crate::kernels::attention::CausalAttention;
use burn_core::tensor::{DType, Shape};
use burn_flex::FlexTensor;
use gelu_core::flex::{contiguous, elements, tensor};
use gelu_kernels::Level;

/// Returns whether there is a kernel: only for f32.
pub(super) fn has_kernel(qkv: &FlexTensor) -> bool {
    qkv.dtype() == DType::F32
}

/// Returns the output and the attention weights.
pub(super) fn forward(qkv: FlexTensor, heads: usize) -> (FlexTensor, FlexTensor) {
    let qkv = contiguous(qkv);
    let sizes = sizes(&qkv, heads);
    let CausalAttention { batch, length, size, .. } = sizes;
    let (out, weights) = sizes.forward(Level::best(), elements(&qkv));
    let weights = tensor(weights, Shape::from([batch, heads, length, length]));
    (tensor(out, Shape::from([batch, length, heads * size])), weights)
}

pub(super) fn gradient(
    qkv: FlexTensor,
    weights: FlexTensor,
    gradient: FlexTensor,
    heads: usize,
) -> FlexTensor {
    let [qkv, weights, gradient] = [qkv, weights, gradient].map(contiguous);
    let sizes = sizes(&qkv, heads);
    let [numbers, weights, gradient] = [&qkv, &weights, &gradient].map(elements::<f32>);
    let result = sizes.gradient(Level::best(), numbers, weights, gradient);
    tensor(result, qkv.layout().shape().clone())
}

fn sizes(qkv: &FlexTensor, heads: usize) -> CausalAttention {
    let [batch, length, width] = qkv.layout().shape().dims();
    CausalAttention { batch, length, heads, size: width / 3 / heads }
}
