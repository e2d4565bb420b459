//! The types that modules of several operations compute in: f32 for types of 16 bits, f64 for f64.
//! Parameters are converted to the type of their input.

use burn_core::tensor::{DType, FloatDType, Tensor};

/// Returns `x` in f32 if its type is narrower, and unchanged otherwise.
pub(super) fn widened<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    match x.dtype() {
        DType::F16 | DType::BF16 => x.cast(FloatDType::F32),
        _ => x,
    }
}

/// Returns `x` in this type.
pub(super) fn cast<const D: usize>(x: Tensor<D>, dtype: DType) -> Tensor<D> {
    if x.dtype() == dtype { x } else { x.cast(FloatDType::from(dtype)) }
}

/// Returns the smallest positive normal number and the largest number of the type that modules compute in.
pub(super) fn ends(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F64 => (f64::MIN_POSITIVE, f64::MAX),
        _ => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
    }
}

/// Returns whether a parameter with this start value is finite in f32.
pub(super) fn is_in_f32(number: f64) -> bool {
    (number as f32).is_finite()
}
