//! What one unit of a kernel does: it reads a vector, works on it and writes it.

#![allow(missing_docs, reason = "the macro makes public items without documentation")]
#![allow(clippy::too_many_arguments, reason = "a kernel takes its tensors and numbers one by one")]

use super::numbers::{Stream, numbers, stream};
use super::on_lanes::OnLanes;
use crate::Unit;
use crate::composed::Of;
use burn_cubecl::cubecl;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearView, LinearViewMut};
use gelu_kernels::functions::Kind;

/// The function.
#[cube]
fn value<N: Size>(x: Vector<f32, N>, parameter: f32, #[comptime] kind: Kind) -> Vector<f32, N> {
    intrinsic!(|scope| kind.with(OnLanes { scope, x, parameter, of: Of::Value }))
}

/// Its derivative.
#[cube]
fn derivative<N: Size>(
    x: Vector<f32, N>,
    parameter: f32,
    #[comptime] kind: Kind,
) -> Vector<f32, N> {
    intrinsic!(|scope| kind.with(OnLanes { scope, x, parameter, of: Of::Derivative }))
}

/// Its second derivative.
#[cube]
fn second_derivative<N: Size>(
    x: Vector<f32, N>,
    parameter: f32,
    #[comptime] kind: Kind,
) -> Vector<f32, N> {
    intrinsic!(|scope| kind.with(OnLanes { scope, x, parameter, of: Of::SecondDerivative }))
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn map<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let x = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    out.write(ABSOLUTE_POS, Vector::cast_from(value::<N>(x, parameter, kind)));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn scale<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    dy: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    parameter: f32,
    #[comptime] kind: Kind,
    #[comptime] twice: bool,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let x = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    let dy = Vector::<f32, N>::cast_from(dy.read(ABSOLUTE_POS));
    let factor = if comptime!(twice) {
        second_derivative::<N>(x, parameter, kind)
    } else {
        derivative::<N>(x, parameter, kind)
    };
    out.write(ABSOLUTE_POS, Vector::cast_from(dy * factor));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn step<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let value = value::<N>(biased::<F, N>(x, bias), parameter, kind);
    out.write(ABSOLUTE_POS, Vector::cast_from(value));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn step_backward<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
    dy: LinearView<'_, Vector<F, N>>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F)] _dtype: ElemType,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let dy = Vector::<f32, N>::cast_from(dy.read(ABSOLUTE_POS));
    let slope = dy * derivative::<N>(biased::<F, N>(x, bias), parameter, kind);
    out.write(ABSOLUTE_POS, Vector::cast_from(slope));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn dropped_step<F: Float, I: Int, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
    key: &Tensor<I>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    threshold: u32,
    scale: f32,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F, I)] _dtypes: [ElemType; 2],
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let value = value::<N>(biased::<F, N>(x, bias), parameter, kind);
    let kept = kept::<N>(value, stream::<I>(key), threshold, scale);
    out.write(ABSOLUTE_POS, Vector::cast_from(kept));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn dropped_step_backward<F: Float, I: Int, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
    dy: LinearView<'_, Vector<F, N>>,
    key: &Tensor<I>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    threshold: u32,
    scale: f32,
    parameter: f32,
    #[comptime] kind: Kind,
    #[define(F, I)] _dtypes: [ElemType; 2],
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let dy = Vector::<f32, N>::cast_from(dy.read(ABSOLUTE_POS));
    let slope = dy * derivative::<N>(biased::<F, N>(x, bias), parameter, kind);
    let kept = kept::<N>(slope, stream::<I>(key), threshold, scale);
    out.write(ABSOLUTE_POS, Vector::cast_from(kept));
}

/// Dropout alone.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn dropout<F: Float, I: Int, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    key: &Tensor<I>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    threshold: u32,
    scale: f32,
    #[define(F, I)] _dtypes: [ElemType; 2],
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let value = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    let kept = kept::<N>(value, stream::<I>(key), threshold, scale);
    out.write(ABSOLUTE_POS, Vector::cast_from(kept));
}

/// What the stochastic map lets through.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn let_through<F: Float, I: Int, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    y: LinearView<'_, Vector<F, N>>,
    key: &Tensor<I>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    #[define(F, I)] _dtypes: [ElemType; 2],
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let x = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    let probability = value::<N>(x, 0.0f32, comptime!(Unit::NormalCdf.kind()));
    let upper = numbers::<N>(stream::<I>(key)) >> Vector::new(8u32);
    let uniform = Vector::<f32, N>::cast_from(upper) * Vector::new(1.0f32 / 16777216.0f32);
    let open = uniform.less_than(&probability);
    let y = Vector::<f32, N>::cast_from(y.read(ABSOLUTE_POS));
    out.write(ABSOLUTE_POS, Vector::cast_from(select_many(open, y, Vector::new(0.0f32))));
}

/// A gated unit: the gates of a row of `x` begin `gate` rows of `out` into it, the values `value`.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn gated<F: Float, N: Size>(
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
    let result = value::<N>(gates, parameter, kind) * values;
    out.write(ABSOLUTE_POS, Vector::cast_from(result));
}

/// A unit's position is that of `dy`; it writes a gate's gradient and a value's.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn gated_backward<F: Float, N: Size>(
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
    let slopes = dy * values * derivative::<N>(gates, parameter, kind);
    out.write(gate_at, Vector::cast_from(slopes));
    out.write(value_at, Vector::cast_from(dy * value::<N>(gates, parameter, kind)));
}

/// A gated unit of two tensors.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn gated_pair<F: Float, N: Size>(
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
    let result = value::<N>(gates, parameter, kind) * values;
    out.write(ABSOLUTE_POS, Vector::cast_from(result));
}

/// The gradients of [`gated_pair`] for its gate and its value.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn gated_pair_backward<F: Float, N: Size>(
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
    let slopes = dy * values * derivative::<N>(gates, parameter, kind);
    dgate.write(ABSOLUTE_POS, Vector::cast_from(slopes));
    dfactor.write(ABSOLUTE_POS, Vector::cast_from(dy * value::<N>(gates, parameter, kind)));
}

/// `x + bias` in f32: a 16-bit sum would be rounded a second time, and bf16 has none on Vulkan.
#[cube]
fn biased<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
) -> Vector<f32, N> {
    let bias = bias.read(ABSOLUTE_POS % bias.shape());
    Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS)) + Vector::<f32, N>::cast_from(bias)
}

/// Dropout.
#[cube]
fn kept<N: Size>(
    value: Vector<f32, N>,
    stream: Stream,
    threshold: u32,
    scale: f32,
) -> Vector<f32, N> {
    let dropped = numbers::<N>(stream).less_than(&Vector::new(threshold));
    select_many(dropped, Vector::new(0.0f32), value * Vector::new(scale))
}
