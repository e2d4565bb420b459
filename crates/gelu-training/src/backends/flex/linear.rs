use crate::kernels::linear::Sizes;
use burn_core::tensor::{DType, Shape};
use burn_flex::FlexTensor;
use gelu_core::flex::{contiguous, elements, tensor};

/// Returns whether there is a kernel: only for f32 matrices.
pub(super) fn has_kernel(factors: [&FlexTensor; 2]) -> bool {
    factors.iter().all(|x| x.dtype() == DType::F32 && x.layout().num_dims() == 2)
}

/// Returns the product of `x` and `weight`.
///
/// # Panics
///
/// If the shapes do not fit.
pub(super) fn forward(x: FlexTensor, weight: FlexTensor) -> FlexTensor {
    let [x, weight] = [x, weight].map(contiguous);
    let [batch, inputs] = x.layout().shape().dims();
    let [rows, outputs] = weight.layout().shape().dims();
    assert_eq!(inputs, rows, "a linear layer of {rows} inputs got {inputs}");
    let sizes = Sizes { batch, inputs, outputs };
    tensor(sizes.forward(elements(&x), elements(&weight)), Shape::from([batch, outputs]))
}

pub(super) fn input_gradient(weight: FlexTensor, gradient: FlexTensor) -> FlexTensor {
    let [weight, gradient] = [weight, gradient].map(contiguous);
    let [inputs, outputs] = weight.layout().shape().dims();
    let [batch, _] = gradient.layout().shape().dims();
    let sizes = Sizes { batch, inputs, outputs };
    let result = sizes.input_gradient(elements(&weight), elements(&gradient));
    tensor(result, Shape::from([batch, inputs]))
}

pub(super) fn weight_gradient(x: FlexTensor, gradient: FlexTensor) -> FlexTensor {
    let [x, gradient] = [x, gradient].map(contiguous);
    let ([batch, inputs], [_, outputs]) =
        (x.layout().shape().dims(), gradient.layout().shape().dims());
    let sizes = Sizes { batch, inputs, outputs };
    let result = sizes.weight_gradient(elements(&x), elements(&gradient));
    tensor(result, Shape::from([inputs, outputs]))
}
