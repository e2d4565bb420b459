//! Kernels of gated units, of one tensor and of two.

use super::{derivative, value};
use burn_cubecl::cubecl;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearView, LinearViewMut};
use gelu_kernels::functions::Kind;

/// Computes a gated unit. In each row of `x`, the gates begin `gate` halves after the row's start,
/// and the values `value` halves.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn gated<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    columns: usize,
    parameter: f32,
    #[comptime] kind: Kind,
    #[comptime] gate: usize,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let first = ABSOLUTE_POS + ABSOLUTE_POS / columns * columns;
    let gates = Vector::<f32, N>::cast_from(x.read(first + columns * comptime!(gate)));
    let values = Vector::<f32, N>::cast_from(x.read(first + columns * comptime!(1 - gate)));
    let result = value::<F, N>(gates, parameter, kind) * values;
    out.write(ABSOLUTE_POS, Vector::cast_from(result));
}

/// Computes the gradients of [`gated`]. A unit of work is at the position of one element of `dy`,
/// and writes one gradient for a gate and one for a value.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn gated_backward<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    dy: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    columns: usize,
    parameter: f32,
    #[comptime] kind: Kind,
    #[comptime] gate: usize,
    #[define(F)] _dtype: ElemType,
) {
    if !dy.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let first = ABSOLUTE_POS + ABSOLUTE_POS / columns * columns;
    let (gate_at, value_at) =
        (first + columns * comptime!(gate), first + columns * comptime!(1 - gate));
    let gates = Vector::<f32, N>::cast_from(x.read(gate_at));
    let values = Vector::<f32, N>::cast_from(x.read(value_at));
    let dy = Vector::<f32, N>::cast_from(dy.read(ABSOLUTE_POS));
    let slopes = dy * values * derivative::<F, N>(gates, parameter, kind);
    out.write(gate_at, Vector::cast_from(slopes));
    out.write(value_at, Vector::cast_from(dy * value::<F, N>(gates, parameter, kind)));
}

/// Computes a gated unit of two tensors.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn gated_pair<F: Float, N: Size>(
    gate: LinearView<'_, Vector<F, N>>,
    factor: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let gates = Vector::<f32, N>::cast_from(gate.read(ABSOLUTE_POS));
    let values = Vector::<f32, N>::cast_from(factor.read(ABSOLUTE_POS));
    let result = value::<F, N>(gates, parameter, kind) * values;
    out.write(ABSOLUTE_POS, Vector::cast_from(result));
}

/// Computes the gradients of [`gated_pair`] for its gate and its value.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn gated_pair_backward<F: Float, N: Size>(
    gate: LinearView<'_, Vector<F, N>>,
    factor: LinearView<'_, Vector<F, N>>,
    dy: LinearView<'_, Vector<F, N>>,
    mut dgate: LinearViewMut<'_, Vector<F, N>>,
    mut dfactor: LinearViewMut<'_, Vector<F, N>>,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F)] _dtype: ElemType,
) {
    if !dgate.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let gates = Vector::<f32, N>::cast_from(gate.read(ABSOLUTE_POS));
    let values = Vector::<f32, N>::cast_from(factor.read(ABSOLUTE_POS));
    let dy = Vector::<f32, N>::cast_from(dy.read(ABSOLUTE_POS));
    let slopes = dy * values * derivative::<F, N>(gates, parameter, kind);
    dgate.write(ABSOLUTE_POS, Vector::cast_from(slopes));
    dfactor.write(ABSOLUTE_POS, Vector::cast_from(dy * value::<F, N>(gates, parameter, kind)));
}
