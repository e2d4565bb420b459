//! 16-bit tensors in f32, for modules that are composed of several operations.

use burn_core::tensor::{DType, FloatDType, Tensor};

/// In f32 where it is narrower.
pub(super) fn widened<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    match x.dtype() {
        DType::F16 | DType::BF16 => x.cast(FloatDType::F32),
        _ => x,
    }
}

/// In the type that it was widened from.
pub(super) fn narrowed<const D: usize>(x: Tensor<D>, dtype: DType) -> Tensor<D> {
    if x.dtype() == dtype { x } else { x.cast(FloatDType::from(dtype)) }
}
