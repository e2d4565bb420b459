use burn_core::tensor::{DType, Tensor};

/// Returns the tensor in floats. Burn's own activations also dequantise their input.
pub(super) fn dequantised<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    if matches!(x.dtype(), DType::QFloat(_)) { x.dequantize() } else { x }
}
