//! A moment: what an optimiser stores about earlier gradients. It is a tensor of the parameter's
//! shape, in f32 for a 16-bit parameter. 16 bits can hold neither the square of a small gradient nor
//! the change of one hundredth that a step makes to a moment.

use burn::tensor::{DType, Device, FloatDType, Tensor};
use burn_core as burn;
use burn_optim::{StateSink, StateSource};

/// Returns the type of a parameter's moments, and of sums and squares of its gradients.
fn dtype_of<const D: usize>(gradient: &Tensor<D>) -> DType {
    match gradient.dtype() {
        DType::F16 | DType::BF16 => DType::F32,
        dtype => dtype,
    }
}

/// Returns the moment before the first gradient.
pub(crate) fn zeros<const D: usize>(gradient: &Tensor<D>) -> Tensor<D> {
    Tensor::zeros(gradient.shape(), (&gradient.device(), dtype_of(gradient)))
}

/// Returns the gradient in the type that it is summed and squared in.
pub(super) fn widened<const D: usize>(gradient: Tensor<D>) -> Tensor<D> {
    let dtype = dtype_of(&gradient);
    gradient.cast(FloatDType::from(dtype))
}

/// Returns a moment in the type that a step needs. Records of other optimisers have moments in the
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

/// Reads a moment in the type that it was recorded in, whatever the device's default type is.
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
