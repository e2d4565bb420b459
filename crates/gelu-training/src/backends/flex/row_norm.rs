use crate::kernels::row_norm::RowNorm;
use burn_core::tensor::{DType, Shape};
use burn_flex::FlexTensor;
use gelu_core::flex::{contiguous, elements, elements_mut, tensor};
use gelu_kernels::Level;

/// Returns whether there is a kernel: only for f32 rows, and if there are any.
pub(super) fn has_kernel(x: &FlexTensor) -> bool {
    let layout = x.layout();
    x.dtype() == DType::F32 && layout.num_dims() == 2 && layout.num_elements() > 0
}

pub(super) fn forward(x: FlexTensor, gamma: FlexTensor, epsilon: f64, centred: bool) -> FlexTensor {
    let [x, gamma] = [x, gamma].map(contiguous);
    let norm = RowNorm { gamma: elements(&gamma), epsilon, centred };
    let out = norm.forward(Level::best(), elements(&x));
    tensor(out, x.layout().shape().clone())
}

/// Returns the gradients for x and γ.
pub(super) fn backward(
    x: FlexTensor,
    gamma: FlexTensor,
    gradient: FlexTensor,
    epsilon: f64,
    centred: bool,
) -> (FlexTensor, FlexTensor) {
    let [x, gamma, mut gradient] = [x, gamma, gradient].map(contiguous);
    let norm = RowNorm { gamma: elements(&gamma), epsilon, centred };
    let of_gamma = norm.differentiate(Level::best(), elements(&x), elements_mut(&mut gradient));
    let shape = Shape::from([of_gamma.len()]);
    (gradient, tensor(of_gamma, shape))
}
