//! Shapes, vector widths and which tensor's memory the result takes.

use super::kernel::{self, StreamLaunch};
use crate::{Draw, DropoutMask, Unit};
use burn_core::backend::TensorMetadata;
use burn_core::tensor::DType;
use burn_cubecl::cubecl::ir::{ElemType, FloatKind};
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::cubecl::{CubeCount, calculate_cube_count_elemwise};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;

/// How a kernel is spread over the elements of a tensor.
struct Spread {
    cubes: CubeCount,
    cube: CubeDim,
    width: usize,
}

impl Spread {
    /// The widest vectors that the tensor, and rows of `columns`, divide into.
    fn over(x: &CubeTensor, columns: usize) -> Self {
        let elements = x.shape().num_elements();
        let divides = |width: &usize| elements % width == 0 && columns % width == 0;
        let width = x.client.io_optimized_vector_sizes(x.dtype.size()).find(divides).unwrap_or(1);
        let units = elements / width;
        let cube = CubeDim::new(&x.client, units);
        Self { cubes: calculate_cube_count_elemwise(&x.client, units, cube), cube, width }
    }
}

/// The storage type of a tensor that has a kernel.
fn element(x: &CubeTensor) -> ElemType {
    ElemType::Float(match x.dtype {
        DType::F32 => FloatKind::F32,
        DType::F16 => FloatKind::F16,
        DType::BF16 => FloatKind::BF16,
        dtype => panic!("the kernels are for f32, f16 and bf16, got {dtype:?}"),
    })
}

fn empty_like(x: &CubeTensor) -> CubeTensor {
    empty_device_contiguous_dtype(x.client.clone(), x.device.clone(), x.shape(), x.dtype)
}

fn stream(draw: Draw) -> StreamLaunch {
    let halves = |number: u64| (number as u32, (number >> 32) as u32);
    let ((key_low, key_high), (step_low, step_high)) = (halves(draw.seed), halves(draw.step));
    StreamLaunch::new(key_low, key_high, step_low, step_high)
}

/// Nothing is drawn from it.
const NO_DRAW: Draw = Draw { seed: 0, step: 0 };

pub(super) fn map(x: CubeTensor, unit: Unit) -> CubeTensor {
    let x = into_contiguous(x);
    if x.shape().num_elements() == 0 {
        return x;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let Spread { cubes, cube, width } = Spread::over(&x, 0);
    let in_place = x.can_mut();
    let out = if in_place { x.clone() } else { empty_like(&x) };
    let out_view =
        if in_place { x.as_linear_view_alias(0) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, and the input has them.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::map::launch_unchecked(
            &client,
            cubes,
            cube,
            width,
            x.into_linear_view(),
            out_view,
            unit.parameter() as f32,
            unit.kind(),
            element,
        );
    }
    out
}

pub(super) fn scale(x: CubeTensor, dy: CubeTensor, unit: Unit) -> CubeTensor {
    let (x, dy) = (into_contiguous(x), into_contiguous(dy));
    if x.shape().num_elements() == 0 {
        return dy;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let Spread { cubes, cube, width } = Spread::over(&x, 0);
    let in_place = dy.can_mut();
    let out = if in_place { dy.clone() } else { empty_like(&x) };
    let out_view =
        if in_place { dy.as_linear_view_alias(1) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, and the inputs have them.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::scale::launch_unchecked(
            &client,
            cubes,
            cube,
            width,
            x.into_linear_view(),
            dy.into_linear_view(),
            out_view,
            unit.parameter() as f32,
            unit.kind(),
            element,
        );
    }
    out
}

pub(super) fn step(
    x: CubeTensor,
    bias: CubeTensor,
    unit: Unit,
    dropout: Option<DropoutMask>,
) -> CubeTensor {
    let (x, bias) = (into_contiguous(x), into_contiguous(bias));
    if x.shape().num_elements() == 0 {
        return x;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let Spread { cubes, cube, width } = Spread::over(&x, bias.shape()[0]);
    let in_place = x.can_mut();
    let out = if in_place { x.clone() } else { empty_like(&x) };
    let out_view =
        if in_place { x.as_linear_view_alias(0) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, which the input has, and
    // takes it modulo the bias's.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::step::launch_unchecked(
            &client,
            cubes,
            cube,
            width,
            x.into_linear_view(),
            bias.into_linear_view(),
            out_view,
            stream(dropout.map_or(NO_DRAW, DropoutMask::draw)),
            dropout.map_or(0, DropoutMask::threshold),
            dropout.map_or(1.0, DropoutMask::scale),
            unit.parameter() as f32,
            unit.kind(),
            dropout.is_some(),
            element,
        );
    }
    out
}

pub(super) fn step_backward(
    x: CubeTensor,
    bias: CubeTensor,
    dy: CubeTensor,
    unit: Unit,
    dropout: Option<DropoutMask>,
) -> CubeTensor {
    let (x, bias, dy) = (into_contiguous(x), into_contiguous(bias), into_contiguous(dy));
    if x.shape().num_elements() == 0 {
        return dy;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let Spread { cubes, cube, width } = Spread::over(&x, bias.shape()[0]);
    let in_place = dy.can_mut();
    let out = if in_place { dy.clone() } else { empty_like(&x) };
    let out_view =
        if in_place { dy.as_linear_view_alias(2) } else { out.clone().into_linear_view() };
    // SAFETY: as for `step`.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::step_backward::launch_unchecked(
            &client,
            cubes,
            cube,
            width,
            x.into_linear_view(),
            bias.into_linear_view(),
            dy.into_linear_view(),
            out_view,
            stream(dropout.map_or(NO_DRAW, DropoutMask::draw)),
            dropout.map_or(0, DropoutMask::threshold),
            dropout.map_or(1.0, DropoutMask::scale),
            unit.parameter() as f32,
            unit.kind(),
            dropout.is_some(),
            element,
        );
    }
    out
}

pub(super) fn gate(x: CubeTensor, y: CubeTensor, draw: Draw) -> CubeTensor {
    let (x, y) = (into_contiguous(x), into_contiguous(y));
    if x.shape().num_elements() == 0 {
        return y;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let Spread { cubes, cube, width } = Spread::over(&x, 0);
    let out = empty_like(&x);
    // SAFETY: the kernel checks its position against the output's bounds, and the inputs have them.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gate::launch_unchecked(
            &client,
            cubes,
            cube,
            width,
            x.into_linear_view(),
            y.into_linear_view(),
            out.clone().into_linear_view(),
            stream(draw),
            element,
        );
    }
    out
}
