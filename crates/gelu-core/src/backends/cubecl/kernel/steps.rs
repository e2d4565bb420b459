//! Kernels of a layer's step: bias, function and dropout.

use super::draws::kept;
use super::{derivative, value};
use crate::backends::cubecl::numbers::stream;
use burn_cubecl::cubecl;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearView, LinearViewMut};
use gelu_kernels::functions::Kind;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn step<F: Float, N: Size>(
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
    let value = value::<F, N>(biased::<F, N>(x, bias), parameter, kind);
    out.write(ABSOLUTE_POS, Vector::cast_from(value));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn step_backward<F: Float, N: Size>(
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
    let slope = dy * derivative::<F, N>(biased::<F, N>(x, bias), parameter, kind);
    out.write(ABSOLUTE_POS, Vector::cast_from(slope));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn dropped_step<F: Float, I: Int, N: Size>(
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
    let value = value::<F, N>(biased::<F, N>(x, bias), parameter, kind);
    let kept = kept::<N>(value, stream::<I>(key), threshold, scale);
    out.write(ABSOLUTE_POS, Vector::cast_from(kept));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn dropped_step_backward<F: Float, I: Int, N: Size>(
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
    let slope = dy * derivative::<F, N>(biased::<F, N>(x, bias), parameter, kind);
    let kept = kept::<N>(slope, stream::<I>(key), threshold, scale);
    out.write(ABSOLUTE_POS, Vector::cast_from(kept));
}

/// Returns `x + bias` in f32, because a 16-bit sum would be rounded a second time, and Vulkan has
/// no sum in bf16.
#[cube]
fn biased<F: Float, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    bias: LinearView<'_, Vector<F, N>>,
) -> Vector<f32, N> {
    let bias = bias.read(ABSOLUTE_POS % bias.shape());
    Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS)) + Vector::<f32, N>::cast_from(bias)
}
