//! The work of one unit of a kernel: it reads a vector, computes, and writes the result.

#![allow(missing_docs, reason = "the macro makes public items without documentation")]
#![allow(clippy::too_many_arguments, reason = "a kernel takes its tensors and numbers one by one")]
#![allow(
    clippy::extra_unused_type_parameters,
    reason = "a tensor's type counts while a kernel is built"
)]

pub(super) mod draws;
pub(super) mod gates;
pub(super) mod maps;
pub(super) mod steps;

use super::on_lanes::on_type;
use burn_cubecl::cubecl;
use cubecl::prelude::*;
use gelu_kernels::functions::Kind;

/// Returns the function's value at `x`, which was read from a tensor of type `F`.
#[cube]
fn value<F: Float, N: Size>(
    x: Vector<f32, N>,
    parameter: f32,
    #[comptime] kind: Kind,
) -> Vector<f32, N> {
    intrinsic!(|scope| on_type::<F, N, 0>(scope, x, parameter, kind))
}

/// Returns the derivative at `x`.
#[cube]
fn derivative<F: Float, N: Size>(
    x: Vector<f32, N>,
    parameter: f32,
    #[comptime] kind: Kind,
) -> Vector<f32, N> {
    intrinsic!(|scope| on_type::<F, N, 1>(scope, x, parameter, kind))
}

/// Returns the second derivative at `x`.
#[cube]
fn second_derivative<F: Float, N: Size>(
    x: Vector<f32, N>,
    parameter: f32,
    #[comptime] kind: Kind,
) -> Vector<f32, N> {
    intrinsic!(|scope| on_type::<F, N, 2>(scope, x, parameter, kind))
}
