//! The types that modules composed of several operations compute in: f32 for 16 bits, f64 for f64. What they
//! have learned follows their input.

use burn_core::tensor::{DType, FloatDType, Tensor};

/// In f32 where it is narrower.
pub(super) fn widened<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    match x.dtype() {
        DType::F16 | DType::BF16 => x.cast(FloatDType::F32),
        _ => x,
    }
}

/// In another type, if it is not of it already.
pub(super) fn cast<const D: usize>(x: Tensor<D>, dtype: DType) -> Tensor<D> {
    if x.dtype() == dtype { x } else { x.cast(FloatDType::from(dtype)) }
}

/// The smallest normal number above 0 and the largest number of what is computed in.
pub(super) fn ends(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F64 => (f64::MIN_POSITIVE, f64::MAX),
        _ => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
    }
}

/// Whether a parameter that starts as this number is one in f32.
pub(super) fn is_in_f32(number: f64) -> bool {
    (number as f32).is_finite()
}
