//! What an optimiser keeps of the gradients so far: a tensor of the parameter's shape, in f32 for a
//! parameter of 16 bits. These hold neither the square of a small gradient nor the hundredth part by
//! which a step changes a moment.

use burn::tensor::{DType, Device, FloatDType, Tensor};
use burn_core as burn;
use burn_optim::{StateSink, StateSource};

/// The type of a parameter's moments, and of sums and squares of its gradients.
fn dtype_of<const D: usize>(gradient: &Tensor<D>) -> DType {
    match gradient.dtype() {
        DType::F16 | DType::BF16 => DType::F32,
        dtype => dtype,
    }
}

/// What there is before the first gradient.
pub(crate) fn zeros<const D: usize>(gradient: &Tensor<D>) -> Tensor<D> {
    Tensor::zeros(gradient.shape(), (&gradient.device(), dtype_of(gradient)))
}

/// The gradient in the type that it is summed and squared in.
pub(super) fn widened<const D: usize>(gradient: Tensor<D>) -> Tensor<D> {
    let dtype = dtype_of(&gradient);
    gradient.cast(FloatDType::from(dtype))
}

/// A moment as a step needs it, wherever it was recorded: other optimisers keep theirs in the
/// parameter's type.
pub(super) fn fitted<const D: usize>(moment: Tensor<D>, gradient: &Tensor<D>) -> Tensor<D> {
    moment.cast(FloatDType::from(dtype_of(gradient)))
}

/// Records a moment.
pub(super) fn record<const D: usize>(
    moment: &Tensor<D>,
    prefix: &str,
    name: &str,
    out: &mut StateSink,
) {
    out.push_tensor(prefix, name, moment.to_data());
}

/// Reads a moment in the type that it was recorded in, whatever the device's own is.
pub(super) fn read<const D: usize>(
    prefix: &str,
    name: &str,
    source: &mut StateSource,
    device: &Device,
) -> Option<Tensor<D>> {
    let data = source.take_tensor(prefix, name)?;
    let dtype = data.dtype();
    Some(Tensor::from_data(data, (device, dtype)))
}
