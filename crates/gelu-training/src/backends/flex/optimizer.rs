use super::storage::{contiguous, elements, elements_mut};
use crate::kernels::{self, Level, Stored};
use crate::{AdamStep, SgdStep};
use burn_core::tensor::Element;
use burn_flex::FlexTensor;

/// A type that tensors have and steps are made for.
pub(super) trait Parameter:
    Stored<Wide: Element + bytemuck::Pod> + Element + bytemuck::Pod
{
}

impl<T: Stored<Wide: Element + bytemuck::Pod> + Element + bytemuck::Pod> Parameter for T {}

/// The result takes the gradient's memory, which nobody else holds: the parameter is still part of
/// the module that the caller was given.
pub(super) fn adam<T: Parameter>(
    parameter: FlexTensor,
    gradient: FlexTensor,
    moment_1: FlexTensor,
    moment_2: FlexTensor,
    step: AdamStep,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    let parameter = contiguous(parameter);
    let [mut gradient, mut moment_1, mut moment_2] = [gradient, moment_1, moment_2].map(contiguous);
    kernels::adam::<T>(
        Level::best(),
        elements(&parameter),
        elements_mut(&mut gradient),
        elements_mut(&mut moment_1),
        elements_mut(&mut moment_2),
        step,
    );
    (gradient, moment_1, moment_2)
}

/// See [`adam`].
pub(super) fn sgd<T: Parameter>(
    parameter: FlexTensor,
    gradient: FlexTensor,
    velocity: FlexTensor,
    step: SgdStep,
) -> (FlexTensor, FlexTensor) {
    let parameter = contiguous(parameter);
    let [mut gradient, mut velocity] = [gradient, velocity].map(contiguous);
    kernels::sgd::<T>(
        Level::best(),
        elements(&parameter),
        elements_mut(&mut gradient),
        elements_mut(&mut velocity),
        step,
    );
    (gradient, velocity)
}
