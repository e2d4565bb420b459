//! Kernels for every GPU that CubeCL compiles to, and for its CPU.
//!
//! `launch` handles shapes, `layout` the order of tensors in memory, and `kernel` the work of one
//! unit. The functions are written on [`Lanes`](crate::arithmetic::lanes::Lanes) and compute in
//! f32, whatever the tensor's type.

mod double;
mod kernel;
mod launch;
mod layout;
mod numbers;
mod on_lanes;
#[cfg(test)]
mod tests;

use crate::random::{draw_of, mask_of};
use crate::{ActivationOps, GateHalf, Unit, composed};
use burn_core::backend::{
    TensorMetadata,
    ops::FloatTensorOps,
    tensor::{FloatTensor, IntTensor},
};
use burn_core::tensor::{DType, Shape};
use burn_cubecl::CubeBackend;

/// Returns whether all operations have kernels for the tensor's type. For f64, which few devices
/// can compute in, there are only kernels of the functions; the other operations are composed
/// around them.
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
            DType::F64 => double::scale(x, dy, unit, false),
            _ => launch::scale(x, dy, unit, false),
        }
    }

    fn activation_curvature(
        x: FloatTensor<Self>,
        factor: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        match x.dtype() {
            DType::F64 => double::scale(x, factor, unit, true),
            _ => launch::scale(x, factor, unit, true),
        }
    }

    fn bias_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        step(x, bias, unit, None)
    }

    fn bias_activation_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        step_backward(x, bias, dy, unit, None)
    }

    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> FloatTensor<Self> {
        step(x, bias, unit, Some((key, threshold)))
    }

    fn bias_activation_dropout_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        step_backward(x, bias, dy, unit, Some((key, threshold)))
    }

    fn dropout(x: FloatTensor<Self>, key: IntTensor<Self>, threshold: u32) -> FloatTensor<Self> {
        if !has_kernel(&x) {
            return composed::dropout::<Self>(x, mask_of::<Self>(key, threshold));
        }
        launch::dropout(x, key, threshold)
    }

    fn gated(x: FloatTensor<Self>, unit: Unit, gate: GateHalf) -> FloatTensor<Self> {
        if !has_kernel(&x) {
            return composed::gated::<Self>(x, unit, gate);
        }
        launch::gated(x, unit, gate)
    }

    fn gated_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
        gate: GateHalf,
    ) -> FloatTensor<Self> {
        if !has_kernel(&x) {
            return composed::gated_backward::<Self>(x, dy, unit, gate);
        }
        launch::gated_backward(x, dy, unit, gate)
    }

    fn gated_pair(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        if !has_kernel(&gate) {
            return composed::gated_pair::<Self>(gate, value, unit);
        }
        launch::gated_pair(gate, value, unit)
    }

    fn gated_pair_backward(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        if !has_kernel(&gate) {
            return composed::gated_pair_backward::<Self>(gate, value, dy, unit);
        }
        launch::gated_pair_backward(gate, value, dy, unit)
    }

    fn stochastic_map(x: FloatTensor<Self>, key: IntTensor<Self>) -> FloatTensor<Self> {
        let_through(x.clone(), x, key)
    }

    fn stochastic_map_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        let_through(x, dy, key)
    }
}

/// Returns the elements of `y` that the stochastic map of `x` lets through, and 0 elsewhere.
fn let_through(
    x: FloatTensor<CubeBackend>,
    y: FloatTensor<CubeBackend>,
    key: IntTensor<CubeBackend>,
) -> FloatTensor<CubeBackend> {
    if !has_kernel(&x) {
        return composed::stochastic_map::<CubeBackend>(x, y, draw_of::<CubeBackend>(key));
    }
    launch::let_through(x, y, key)
}

/// Returns `unit(x + bias)`, with dropout if there is a mask.
fn step(
    x: FloatTensor<CubeBackend>,
    bias: FloatTensor<CubeBackend>,
    unit: Unit,
    dropout: Option<(IntTensor<CubeBackend>, u32)>,
) -> FloatTensor<CubeBackend> {
    if !has_kernel(&x) {
        let mask = dropout.map(|(key, threshold)| mask_of::<CubeBackend>(key, threshold));
        return composed::bias_activation_dropout::<CubeBackend>(x, bias, unit, mask);
    }
    launch::step(x, bias, unit, dropout)
}

/// Returns the gradients of [`step`] for `x` and for `bias`.
fn step_backward(
    x: FloatTensor<CubeBackend>,
    bias: FloatTensor<CubeBackend>,
    dy: FloatTensor<CubeBackend>,
    unit: Unit,
    dropout: Option<(IntTensor<CubeBackend>, u32)>,
) -> (FloatTensor<CubeBackend>, FloatTensor<CubeBackend>) {
    if !has_kernel(&x) {
        let mask = dropout.map(|(key, threshold)| mask_of::<CubeBackend>(key, threshold));
        return composed::bias_activation_dropout_backward::<CubeBackend>(x, bias, dy, unit, mask);
    }
    let shape = bias.shape();
    let dx = launch::step_backward(x, bias, dy, unit, dropout);
    let columns = shape[0];
    let rows = dx.shape().num_elements().checked_div(columns).unwrap_or(0);
    let flat = CubeBackend::float_reshape(dx.clone(), Shape::from([rows, columns]));
    (dx, CubeBackend::float_reshape(CubeBackend::float_sum_dim(flat, 0), shape))
}
