//! Kernels for every GPU that CubeCL compiles to, and its CPU.
//!
//! `launch` knows shapes, `layout` in which order tensors lie in memory, `kernel` what one unit of
//! work does, the functions written on [`Lanes`](crate::arithmetic::lanes::Lanes): in f32 whatever
//! the tensor's type.

mod double;
mod kernel;
mod launch;
mod layout;
#[cfg(test)]
mod tests;

use crate::{ActivationOps, Draw, DropoutMask, Unit, composed};
use burn_core::backend::{TensorMetadata, ops::FloatTensorOps, tensor::FloatTensor};
use burn_core::tensor::{DType, Shape};
use burn_cubecl::CubeBackend;

/// For f64, which few devices compute in, there are kernels of the functions alone; the rest is
/// composed around them.
fn has_kernel(x: &FloatTensor<CubeBackend>) -> bool {
    matches!(x.dtype(), DType::F32 | DType::F16 | DType::BF16)
}

impl ActivationOps for CubeBackend {
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        match x.dtype() {
            DType::F64 => double::map(x, unit),
            _ => launch::map(x, unit),
        }
    }

    fn activation_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        match x.dtype() {
            DType::F64 => double::scale(x, dy, unit),
            _ => launch::scale(x, dy, unit),
        }
    }

    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
        dropout: Option<DropoutMask>,
    ) -> FloatTensor<Self> {
        if !has_kernel(&x) {
            return composed::bias_activation_dropout::<Self>(x, bias, unit, dropout);
        }
        launch::step(x, bias, unit, dropout)
    }

    fn bias_activation_dropout_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
        dropout: Option<DropoutMask>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        if !has_kernel(&x) {
            return composed::bias_activation_dropout_backward::<Self>(x, bias, dy, unit, dropout);
        }
        let shape = bias.shape();
        let dx = launch::step_backward(x, bias, dy, unit, dropout);
        let columns = shape[0];
        let rows = dx.shape().num_elements().checked_div(columns).unwrap_or(0);
        let flat = Self::float_reshape(dx.clone(), Shape::from([rows, columns]));
        (dx, Self::float_reshape(Self::float_sum_dim(flat, 0), shape))
    }

    fn stochastic_map(x: FloatTensor<Self>, draw: Draw) -> FloatTensor<Self> {
        if !has_kernel(&x) {
            return composed::stochastic_gate::<Self>(x.clone(), x, draw);
        }
        launch::gate(x.clone(), x, draw)
    }

    fn stochastic_map_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        draw: Draw,
    ) -> FloatTensor<Self> {
        if !has_kernel(&x) {
            return composed::stochastic_gate::<Self>(x, dy, draw);
        }
        launch::gate(x, dy, draw)
    }
}
