//! Launches the kernels of gated units.

use super::spread::{Spread, assert_alike, element, empty_like};
use crate::backends::cubecl::kernel;
use crate::{GateHalf, Unit};
use burn_core::backend::TensorMetadata;
use burn_core::tensor::Shape;
use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;

/// Returns `unit(gate)·value` for the halves of the last dimension.
pub(in super::super) fn gated(x: CubeTensor, unit: Unit, gate: GateHalf) -> CubeTensor {
    let x = into_contiguous(untile(x));
    let (shape, columns) = halved(&x);
    let (client, element) = (x.client.clone(), element(&x));
    let out = empty_device_contiguous_dtype(client.clone(), x.device.clone(), shape, x.dtype);
    if out.shape().num_elements() == 0 {
        return out;
    }
    let Spread { cubes, cube, address, width } = Spread::over(&[&out, &x], columns);
    // SAFETY: the kernel checks its position against the output's bounds, and the input has a gate
    // and a value for each output.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gates::gated::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            out.clone().into_linear_view(),
            columns / width,
            unit.parameter() as f32,
            unit.kind(),
            usize::from(gate == GateHalf::Last),
            element,
        );
    }
    out
}

pub(in super::super) fn gated_backward(
    x: CubeTensor,
    dy: CubeTensor,
    unit: Unit,
    gate: GateHalf,
) -> CubeTensor {
    let (x, dy) = (into_contiguous(untile(x)), into_contiguous(untile(dy)));
    let (shape, columns) = halved(&x);
    let (expected, found) = (shape.as_slice(), dy.meta.shape().as_slice());
    assert!(
        expected == found && dy.dtype == x.dtype,
        "the gradient of a gated unit's output has to be of its shape and type, {expected:?} {:?}, \
         and is {found:?} {:?}",
        x.dtype,
        dy.dtype,
    );
    x.assert_is_on_same_device(&dy);
    let (client, element, out) = (x.client.clone(), element(&x), empty_like(&x));
    if out.shape().num_elements() == 0 {
        return out;
    }
    let Spread { cubes, cube, address, width } = Spread::over(&[&dy, &x, &out], columns);
    // SAFETY: the kernel checks its position against the gradient's bounds, and input and output
    // have a gate and a value for each element of the gradient.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gates::gated_backward::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            dy.into_linear_view(),
            out.clone().into_linear_view(),
            columns / width,
            unit.parameter() as f32,
            unit.kind(),
            usize::from(gate == GateHalf::Last),
            element,
        );
    }
    out
}

/// Returns `unit(gate)·value` of two tensors.
pub(in super::super) fn gated_pair(gate: CubeTensor, value: CubeTensor, unit: Unit) -> CubeTensor {
    let [gate, value] = [gate, value].map(|x| into_contiguous(untile(x)));
    assert_alike(&gate, &value, "the value of a gated unit");
    let (client, element, out) = (gate.client.clone(), element(&gate), empty_like(&gate));
    if out.shape().num_elements() == 0 {
        return out;
    }
    let Spread { cubes, cube, address, width } = Spread::over(&[&out, &gate, &value], 0);
    // SAFETY: the kernel checks its position against the output's bounds, and the inputs have the
    // same bounds.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gates::gated_pair::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            gate.into_linear_view(),
            value.into_linear_view(),
            out.clone().into_linear_view(),
            unit.parameter() as f32,
            unit.kind(),
            element,
        );
    }
    out
}

/// Returns the gradients of [`gated_pair`] for gate and value.
pub(in super::super) fn gated_pair_backward(
    gate: CubeTensor,
    value: CubeTensor,
    dy: CubeTensor,
    unit: Unit,
) -> (CubeTensor, CubeTensor) {
    let [gate, value, dy] = [gate, value, dy].map(|x| into_contiguous(untile(x)));
    assert_alike(&gate, &value, "the value of a gated unit");
    assert_alike(&gate, &dy, "the gradient of a gated unit's output");
    let (client, element) = (gate.client.clone(), element(&gate));
    let (dgate, dvalue) = (empty_like(&gate), empty_like(&value));
    if dgate.shape().num_elements() == 0 {
        return (dgate, dvalue);
    }
    let Spread { cubes, cube, address, width } =
        Spread::over(&[&dgate, &dvalue, &gate, &value, &dy], 0);
    // SAFETY: the kernel checks its position against an output's bounds, and all tensors have the
    // same bounds.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gates::gated_pair_backward::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            gate.into_linear_view(),
            value.into_linear_view(),
            dy.into_linear_view(),
            dgate.clone().into_linear_view(),
            dvalue.clone().into_linear_view(),
            unit.parameter() as f32,
            unit.kind(),
            element,
        );
    }
    (dgate, dvalue)
}

/// Returns the shape of a gated unit's result, and the length of its rows.
fn halved(x: &CubeTensor) -> (Shape, usize) {
    let mut shape = x.shape();
    let last = shape.last_mut().expect("a gated unit's input has a dimension to halve");
    assert!(last.is_multiple_of(2), "a gated unit halves an even dimension, got {last}");
    *last /= 2;
    let columns = *last;
    (shape, columns)
}
