use crate::kernels::{self, Level, Number};
use crate::{AdamStep, SgdStep, TrainingOps, composed};
use burn_core::backend::{Flex, tensor::FloatTensor};
use burn_core::tensor::{DType, Element};
use burn_flex::FlexTensor;

impl TrainingOps for Flex {
    fn adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        match gradient.dtype() {
            DType::F32 => adam::<f32>(parameter, gradient, moment_1, moment_2, step),
            DType::F64 => adam::<f64>(parameter, gradient, moment_1, moment_2, step),
            _ => composed::adam_step::<Self>(parameter, gradient, moment_1, moment_2, step),
        }
    }

    fn sgd_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        match gradient.dtype() {
            DType::F32 => sgd::<f32>(parameter, gradient, velocity, step),
            DType::F64 => sgd::<f64>(parameter, gradient, velocity, step),
            _ => composed::sgd_step::<Self>(parameter, gradient, velocity, step),
        }
    }
}

/// The result takes the gradient's memory, which nobody else holds: the parameter is still part of
/// the module that the caller was given.
fn adam<T: Number + Element + bytemuck::Pod>(
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
fn sgd<T: Number + Element + bytemuck::Pod>(
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

/// The tensor with its elements one behind the other.
fn contiguous(x: FlexTensor) -> FlexTensor {
    if x.layout().contiguous_offsets().is_some() { x } else { x.to_contiguous() }
}

/// The elements of a contiguous tensor.
fn elements<E: Element + bytemuck::Pod>(x: &FlexTensor) -> &[E] {
    x.as_slice().expect("contiguous, and of the type that was matched on")
}

/// The elements of a contiguous tensor, after copying them if they are shared.
fn elements_mut<E: Element + bytemuck::Pod>(x: &mut FlexTensor) -> &mut [E] {
    let (start, end) = x.layout().contiguous_offsets().expect("contiguous");
    &mut x.storage_mut()[start..end]
}
