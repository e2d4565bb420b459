//! Kernels of a function of a tensor, and of its derivatives times a gradient.

use super::{derivative, second_derivative, value};
use burn_cubecl::cubecl;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearView, LinearViewMut};
use gelu_kernels::functions::Kind;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn map<F: Float, N: Size>(
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
    out.write(ABSOLUTE_POS, Vector::cast_from(value::<F, N>(x, parameter, kind)));
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn scale<F: Float, N: Size>(
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
        second_derivative::<F, N>(x, parameter, kind)
    } else {
        derivative::<F, N>(x, parameter, kind)
    };
    out.write(ABSOLUTE_POS, Vector::cast_from(dy * factor));
}
