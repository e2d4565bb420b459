//! Kernels of functions on tensors of f64, for devices that can compute in f64.

#![allow(missing_docs, reason = "the macro makes public items without documentation")]
#![allow(clippy::too_many_arguments, reason = "a kernel takes its tensors and numbers one by one")]

use super::on_lanes::OnLanes;
use crate::Unit;
use burn_core::backend::TensorMetadata;
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::calculate_cube_count_elemwise;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearView, LinearViewMut};
use gelu_kernels::functions::Kind;

#[cube]
fn value<N: Size>(x: Vector<f64, N>, parameter: f64, #[comptime] kind: Kind) -> Vector<f64, N> {
    intrinsic!(|scope| kind.with(OnLanes::<_, _, 0> { scope, x, parameter }))
}

#[cube]
fn derivative<N: Size>(
    x: Vector<f64, N>,
    parameter: f64,
    #[comptime] kind: Kind,
) -> Vector<f64, N> {
    intrinsic!(|scope| kind.with(OnLanes::<_, _, 1> { scope, x, parameter }))
}

#[cube]
fn second_derivative<N: Size>(
    x: Vector<f64, N>,
    parameter: f64,
    #[comptime] kind: Kind,
) -> Vector<f64, N> {
    intrinsic!(|scope| kind.with(OnLanes::<_, _, 2> { scope, x, parameter }))
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn map_double<N: Size>(
    x: LinearView<'_, Vector<f64, N>>,
    mut out: LinearViewMut<'_, Vector<f64, N>>,
    parameter: f64,
    #[comptime] kind: Kind,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    out.write(ABSOLUTE_POS, value::<N>(x.read(ABSOLUTE_POS), parameter, kind));
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn scale_double<N: Size>(
    x: LinearView<'_, Vector<f64, N>>,
    dy: LinearView<'_, Vector<f64, N>>,
    mut out: LinearViewMut<'_, Vector<f64, N>>,
    parameter: f64,
    #[comptime] kind: Kind,
    #[comptime] twice: bool,
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let x = x.read(ABSOLUTE_POS);
    let factor = if comptime!(twice) {
        second_derivative::<N>(x, parameter, kind)
    } else {
        derivative::<N>(x, parameter, kind)
    };
    out.write(ABSOLUTE_POS, dy.read(ABSOLUTE_POS) * factor);
}

/// Returns `unit(x)`.
pub(super) fn map(x: CubeTensor, unit: Unit) -> CubeTensor {
    let x = into_contiguous(x);
    let elements = x.shape().num_elements();
    if elements == 0 {
        return x;
    }
    let client = x.client.clone();
    let cube = CubeDim::new(&client, elements);
    let cubes = calculate_cube_count_elemwise(&client, elements, cube);
    let out = empty_device_contiguous_dtype(client.clone(), x.device.clone(), x.shape(), x.dtype);
    // SAFETY: the kernel checks its position against the output's bounds, and the input has the
    // same bounds.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        map_double::launch_unchecked(
            &client,
            cubes,
            cube,
            x.required_address_type(),
            1,
            x.into_linear_view(),
            out.clone().into_linear_view(),
            unit.parameter(),
            unit.kind(),
        );
    }
    out
}

/// Returns `dy·unit′(x)`, or `dy·unit″(x)` if `twice` is true.
///
/// # Panics
///
/// If the shapes differ.
pub(super) fn scale(x: CubeTensor, dy: CubeTensor, unit: Unit, twice: bool) -> CubeTensor {
    let (x, dy) = (into_contiguous(x), into_contiguous(dy));
    assert_eq!(x.shape(), dy.shape(), "a gradient has the shape of what it is the gradient of");
    let elements = x.shape().num_elements();
    if elements == 0 {
        return dy;
    }
    let client = x.client.clone();
    let cube = CubeDim::new(&client, elements);
    let cubes = calculate_cube_count_elemwise(&client, elements, cube);
    let out = empty_device_contiguous_dtype(client.clone(), x.device.clone(), x.shape(), x.dtype);
    // SAFETY: as for `map`; the two inputs have the same shape.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        scale_double::launch_unchecked(
            &client,
            cubes,
            cube,
            x.required_address_type(),
            1,
            x.into_linear_view(),
            dy.into_linear_view(),
            out.clone().into_linear_view(),
            unit.parameter(),
            unit.kind(),
            twice,
        );
    }
    out
}
