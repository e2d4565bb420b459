//! Gated units.

use super::dequantised::dequantised;
use super::parameter::in_type;
use crate::backends::dispatch::dispatched;
use crate::{ActivationOps, GateHalf, Unit};
use burn_core::backend::Dispatch;
use burn_core::tensor::Tensor;

/// Returns `unit(gate)·value`, elementwise, where gate and value are the halves of the last dimension. On Flex and
/// CubeCL this is one pass forward and one backward; elsewhere it is composed of tensor operations. Only the input
/// is stored for the backward pass.
///
/// See Shazeer, arXiv 2002.05202. [`geglu`], [`swiglu`] and [`reglu`] have the gate first. The gate is as accurate
/// as [`unit()`](super::unit()), with one exception: SiLU in f32 and narrower types on Flex takes a third of the
/// time and is within 4 ULP, and its derivative next to its zero is within 4 units of 2⁻²⁴.
///
/// # Shapes
///
/// - x: `[..., 2·columns]`
/// - output: `[..., columns]`
///
/// # Panics
///
/// If the last dimension is odd, or there is none, or the unit's parameter is out of range
/// ([`Unit::validated`]).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::functional::{self, Unit};
/// use gelu_core::GateHalf;
///
/// let x = Tensor::<2>::from_floats([[3.0, -1.0, 10.0, 20.0]], &Device::default());
/// let y = functional::gated(x.clone(), Unit::Relu, GateHalf::First);
/// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [30.0, -0.0]);
/// let y = functional::gated(x, Unit::Relu, GateHalf::Last);
/// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [30.0, -20.0]);
/// ```
pub fn gated<const D: usize>(x: Tensor<D>, unit: Unit, gate: GateHalf) -> Tensor<D> {
    let shape = x.dims();
    assert!(
        shape.last().is_some_and(|columns| columns.is_multiple_of(2)),
        "a gated unit halves the last dimension of its input, which has to be even; got a tensor \
         of {shape:?}"
    );
    let x = dequantised(x);
    let unit = in_type(unit, x.dtype());
    Tensor::from_dispatch(Dispatch::gated(dispatched(x), unit, gate))
}

/// Returns the gradient of [`gated`] for `x`, given the gradient `dy` of its result. Use it to write a backward
/// pass by hand. It is differentiable in both arguments ([second
/// derivatives](crate::functional#second-derivatives)).
///
/// # Shapes
///
/// - x and output: `[..., 2·columns]`
/// - dy: `[..., columns]`
///
/// # Panics
///
/// If `dy` does not have the shape that [`gated`] returns, or its type differs from that of `x`, or the unit's
/// parameter is out of range ([`Unit::validated`]).
pub fn gated_backward<const D: usize>(
    x: Tensor<D>,
    dy: Tensor<D>,
    unit: Unit,
    gate: GateHalf,
) -> Tensor<D> {
    let (x, dy) = (dequantised(x), dequantised(dy));
    let (shape, of_dy) = (x.dims(), dy.dims());
    let mut doubled = of_dy;
    if let Some(columns) = doubled.last_mut() {
        *columns *= 2;
    }
    assert!(
        D > 0 && shape == doubled,
        "the gradient of a gated unit's output is half as long as its input in the last \
         dimension, got {of_dy:?} for an input of {shape:?}"
    );
    assert_eq!(x.dtype(), dy.dtype(), "a tensor and its gradient must have the same element type");
    let unit = in_type(unit, x.dtype());
    Tensor::from_dispatch(Dispatch::gated_backward(dispatched(x), dispatched(dy), unit, gate))
}

/// Returns `unit(gate)·value` of two tensors. Use it for a model with separate projections (Llama's `gate_proj` and
/// `up_proj`), or with another branch as its gate (Mamba's `y·silu(z)`). The forward pass is one pass over memory,
/// and so is the backward pass for both gradients.
///
/// # Shapes
///
/// - gate, value and output: `[..., any]`
///
/// # Panics
///
/// If the shapes or types differ, or the unit's parameter is out of range
/// ([`Unit::validated`]).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::functional::{self, Unit};
///
/// let device = Device::default();
/// let (gate, value) = (Tensor::<1>::from_floats([3.0, -1.0], &device), [10.0, 20.0]);
/// let y = functional::gated_pair(gate, Tensor::from_floats(value, &device), Unit::Relu);
/// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [30.0, -0.0]);
/// ```
pub fn gated_pair<const D: usize>(gate: Tensor<D>, value: Tensor<D>, unit: Unit) -> Tensor<D> {
    let (gate, value) = (dequantised(gate), dequantised(value));
    let (of_gate, of_value) = (gate.dims(), value.dims());
    assert_eq!(of_gate, of_value, "a gate and its value have one shape");
    assert_eq!(gate.dtype(), value.dtype(), "a gate and its value must have the same element type");
    let unit = in_type(unit, gate.dtype());
    Tensor::from_dispatch(Dispatch::gated_pair(dispatched(gate), dispatched(value), unit))
}

/// Returns GEGLU, `gelu(gate)·value` with the exact GELU, for an input of `[..., gate, value]`.
pub fn geglu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    gated(x, Unit::Gelu, GateHalf::First)
}

/// Returns SwiGLU, `silu(gate)·value`, for an input of `[..., gate, value]`.
pub fn swiglu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    gated(x, Unit::Silu, GateHalf::First)
}

/// Returns ReGLU, `max(gate, 0)·value`, for an input of `[..., gate, value]`.
pub fn reglu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    gated(x, Unit::Relu, GateHalf::First)
}
