use super::storage::{contiguous, elements, elements_mut, tensor};
use crate::kernels::{self, Level, Norm};
use burn_core::tensor::{DType, Shape};
use burn_flex::FlexTensor;
use gelu_core::Unit;

/// f32, and enough numbers of a channel in a picture to be worth a loop of their own.
pub(super) fn has_kernel(x: &FlexTensor) -> bool {
    const LEAST: usize = 8;
    x.dtype() == DType::F32 && x.layout().num_elements() > 0 && plane(x) >= LEAST
}

/// Numbers of a channel in a picture.
fn plane(x: &FlexTensor) -> usize {
    x.layout().shape()[2..].iter().product()
}

/// Mean and variance of every channel of a contiguous tensor.
pub(super) fn statistics(x: &FlexTensor) -> (FlexTensor, FlexTensor) {
    let channels = x.layout().shape()[1];
    let (mean, variance) = kernels::statistics(Level::best(), elements(x), channels, plane(x));
    let shape = Shape::from([channels]);
    (tensor(mean, shape.clone()), tensor(variance, shape))
}

/// Calls `work` with γ, β, mean and variance.
fn with_norm<T>(
    [batch, plane]: [usize; 2],
    parameters: [FlexTensor; 4],
    epsilon: f64,
    work: impl FnOnce(Norm<'_>) -> T,
) -> T {
    let parameters = parameters.map(contiguous);
    let [gamma, beta, mean, variance] = parameters.each_ref().map(elements);
    work(Norm { batch, plane, gamma, beta, mean, variance, epsilon })
}

pub(super) fn forward(
    x: FlexTensor,
    parameters: [FlexTensor; 4],
    epsilon: f64,
    unit: Unit,
) -> FlexTensor {
    let mut x = contiguous(x);
    let (batch, plane, shape) = (x.layout().shape()[0], plane(&x), x.layout().shape().clone());
    with_norm([batch, plane], parameters, epsilon, |norm| {
        if x.is_unique() {
            norm.apply_in_place(Level::best(), elements_mut(&mut x), unit);
            return x;
        }
        let mut out = vec![0.0; shape.num_elements()];
        norm.apply(Level::best(), elements(&x), &mut out, unit);
        tensor(out, shape)
    })
}

pub(super) fn backward(
    x: FlexTensor,
    parameters: [FlexTensor; 4],
    gradient: FlexTensor,
    epsilon: f64,
    unit: Unit,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let x = contiguous(x);
    let mut gradient = contiguous(gradient);
    let sizes = [x.layout().shape()[0], plane(&x)];
    let (gamma, beta) = with_norm(sizes, parameters, epsilon, |norm| {
        norm.differentiate(Level::best(), elements(&x), elements_mut(&mut gradient), unit)
    });
    let shape = Shape::from([gamma.len()]);
    (gradient, tensor(gamma, shape.clone()), tensor(beta, shape))
}
