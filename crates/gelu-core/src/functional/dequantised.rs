use burn_core::tensor::{DType, Tensor};

/// The tensor in floats, as Burn's own activations take it.
pub(super) fn dequantised<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    if matches!(x.dtype(), DType::QFloat(_)) { x.dequantize() } else { x }
}
