use crate::kernels::{self, AdamStep, Moment, SgdStep};
use burn_flex::FlexTensor;
use gelu_core::flex::{Stored, contiguous, elements, elements_mut};
use gelu_kernels::Storage;

/// Computes a step of Adam. The result reuses the gradient's memory, which nothing else references.
/// The parameter's memory cannot be reused, because the caller's module still holds the parameter.
pub(super) fn adam<T: Stored + Storage<Float: Moment>>(
    parameter: FlexTensor,
    gradient: FlexTensor,
    moment_1: FlexTensor,
    moment_2: FlexTensor,
    step: AdamStep,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let parameter = contiguous(parameter);
    let [mut gradient, mut moment_1, mut moment_2] = [gradient, moment_1, moment_2].map(contiguous);
    kernels::adam::<T>(
        elements(&parameter),
        elements_mut(&mut gradient),
        elements_mut(&mut moment_1),
        elements_mut(&mut moment_2),
        step,
    );
    (gradient, moment_1, moment_2)
}

/// Computes a step of AMSGrad; see [`adam`] for the memory.
pub(super) fn amsgrad<T: Stored + Storage<Float: Moment>>(
    parameter: FlexTensor,
    gradient: FlexTensor,
    moments: [FlexTensor; 3],
    step: AdamStep,
) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
    let (parameter, mut gradient) = (contiguous(parameter), contiguous(gradient));
    let [mut moment_1, mut moment_2, mut maximum] = moments.map(contiguous);
    kernels::amsgrad::<T>(
        elements(&parameter),
        elements_mut(&mut gradient),
        elements_mut(&mut moment_1),
        elements_mut(&mut moment_2),
        elements_mut(&mut maximum),
        step,
    );
    (gradient, moment_1, moment_2, maximum)
}

/// Computes a step of SGD; see [`adam`] for the memory.
pub(super) fn sgd<T: Stored + Storage<Float: Moment>>(
    parameter: FlexTensor,
    gradient: FlexTensor,
    velocity: FlexTensor,
    step: SgdStep,
) -> (FlexTensor, FlexTensor) {
    let parameter = contiguous(parameter);
    let [mut gradient, mut velocity] = [gradient, velocity].map(contiguous);
    kernels::sgd::<T>(
        elements(&parameter),
        elements_mut(&mut gradient),
        elements_mut(&mut velocity),
        step,
    );
    (gradient, velocity)
}
