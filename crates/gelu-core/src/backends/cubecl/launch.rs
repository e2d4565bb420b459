//! Shapes, vector widths and which tensor's memory the result takes.

use super::kernel::{self, StreamLaunch};
use super::layout::MemoryOrder;
use crate::Unit;
use crate::random::{Draw, Mask};
use burn_core::backend::TensorMetadata;
use burn_core::tensor::DType;
use burn_cubecl::cubecl::ir::{AddressType, ElemType, FloatKind};
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::cubecl::{CubeCount, calculate_cube_count_elemwise, tensor_vector_size_parallel};
use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;

/// How a kernel is spread over the elements of its tensors.
struct Spread {
    cubes: CubeCount,
    cube: CubeDim,
    address: AddressType,
    width: usize,
}

impl Spread {
    /// The widest vectors that each of the tensors, all of one shape, can be read in, and that
    /// rows of `columns` divide into.
    fn over(tensors: &[&CubeTensor], columns: usize) -> Self {
        let x = tensors[0];
        let elements = x.shape().num_elements();
        let width = tensors.iter().map(|x| width(x, columns)).min().unwrap_or(1);
        let address = tensors.iter().map(|x| x.required_address_type()).max().unwrap_or_default();
        let units = elements / width;
        let cube = CubeDim::new(&x.client, units);
        Self { cubes: calculate_cube_count_elemwise(&x.client, units, cube), cube, address, width }
    }
}

fn width(x: &CubeTensor, columns: usize) -> usize {
    let divides = |width: &usize| columns.is_multiple_of(*width);
    let mut widths = x.client.io_optimized_vector_sizes(x.dtype.size()).filter(divides);
    if x.is_contiguous() {
        let elements = x.shape().num_elements();
        return widths.find(|&width| elements.is_multiple_of(width)).unwrap_or(1);
    }
    let (shape, strides) = (x.meta.shape(), x.meta.strides());
    tensor_vector_size_parallel(widths, shape, strides, shape.num_dims() - 1)
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

/// A result of the same shape and type, dense in the order of axes.
fn empty_like(x: &CubeTensor) -> CubeTensor {
    empty_device_contiguous_dtype(x.client.clone(), x.device.clone(), x.shape(), x.dtype)
}

/// Whether the result may take this tensor's memory.
fn is_ours(x: &CubeTensor) -> bool {
    x.can_mut() && x.is_nonoverlapping()
}

/// The kernels read all their tensors at the positions of one of them, unchecked.
fn assert_alike(x: &CubeTensor, other: &CubeTensor, name: &str) {
    let (expected, found) = (x.meta.shape().as_slice(), other.meta.shape().as_slice());
    assert!(
        expected == found && x.dtype == other.dtype,
        "{name} has to be of the shape and type of its input, {expected:?} {:?}, and is {found:?} \
         {:?}",
        x.dtype,
        other.dtype,
    );
    x.assert_is_on_same_device(other);
}

fn assert_bias(x: &CubeTensor, bias: &CubeTensor) {
    let (shape, found) = (x.meta.shape().as_slice(), bias.meta.shape().as_slice());
    assert!(
        found.len() == 1 && shape.last() == found.last() && x.dtype == bias.dtype,
        "a bias has as many numbers as the last dimension of its input, {shape:?} {:?}, and its \
         type, and is {found:?} {:?}",
        x.dtype,
        bias.dtype,
    );
    x.assert_is_on_same_device(bias);
}

pub(super) fn stream(draw: Draw) -> StreamLaunch {
    let halves = |number: u64| (number as u32, (number >> 32) as u32);
    let ((key_low, key_high), (step_low, step_high)) = (halves(draw.seed), halves(draw.step));
    StreamLaunch::new(key_low, key_high, step_low, step_high)
}

/// Nothing is drawn from it.
const NO_DRAW: Draw = Draw { seed: 0, step: 0 };

pub(super) fn map(x: CubeTensor, unit: Unit) -> CubeTensor {
    let x = untile(x);
    if x.shape().num_elements() == 0 {
        return x;
    }
    match MemoryOrder::of(&[&x]) {
        Some(order) => order.restore(map_in_order(order.present(x), unit)),
        None => map_in_order(x, unit),
    }
}

fn map_in_order(x: CubeTensor, unit: Unit) -> CubeTensor {
    let (client, element) = (x.client.clone(), element(&x));
    let in_place = is_ours(&x);
    let out = if in_place { x.clone() } else { empty_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &out], 0);
    let out_view =
        if in_place { x.as_linear_view_alias(0) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, and the input has them.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::map::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
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
    let (x, dy) = (untile(x), untile(dy));
    assert_alike(&x, &dy, "the gradient of an activation's output");
    if x.shape().num_elements() == 0 {
        return dy;
    }
    match MemoryOrder::of(&[&x, &dy]) {
        Some(order) => order.restore(scale_in_order(order.present(x), order.present(dy), unit)),
        None => scale_in_order(x, dy, unit),
    }
}

fn scale_in_order(x: CubeTensor, dy: CubeTensor, unit: Unit) -> CubeTensor {
    let (client, element) = (x.client.clone(), element(&x));
    let in_place = is_ours(&dy);
    let out = if in_place { dy.clone() } else { empty_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &dy, &out], 0);
    let out_view =
        if in_place { dy.as_linear_view_alias(1) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, and `scale` that the
    // inputs have them.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::scale::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
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

/// New memory for a result that lies as its input does. What a kernel of random numbers writes to:
/// its position counts elements in row-major order, so it walks no other.
fn laid_out_like(x: &CubeTensor) -> CubeTensor {
    match MemoryOrder::of(&[x]) {
        Some(order) => order.restore(empty_like(&order.present(x.clone()))),
        None => empty_like(x),
    }
}

pub(super) fn step(
    x: CubeTensor,
    bias: CubeTensor,
    unit: Unit,
    dropout: Option<Mask>,
) -> CubeTensor {
    let (x, bias) = (untile(x), into_contiguous(bias));
    assert_bias(&x, &bias);
    if x.shape().num_elements() == 0 {
        return x;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let in_place = is_ours(&x);
    let out = if in_place { x.clone() } else { laid_out_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &out], bias.shape()[0]);
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
            address,
            width,
            x.into_linear_view(),
            bias.into_linear_view(),
            out_view,
            stream(dropout.map_or(NO_DRAW, |mask| mask.draw)),
            dropout.map_or(0, |mask| mask.threshold),
            dropout.map_or(1.0, Mask::scale),
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
    dropout: Option<Mask>,
) -> CubeTensor {
    let (x, bias, dy) = (untile(x), into_contiguous(bias), untile(dy));
    assert_bias(&x, &bias);
    assert_alike(&x, &dy, "the gradient of a step's output");
    if x.shape().num_elements() == 0 {
        return dy;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let in_place = is_ours(&dy);
    let out = if in_place { dy.clone() } else { laid_out_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &dy, &out], bias.shape()[0]);
    let out_view =
        if in_place { dy.as_linear_view_alias(2) } else { out.clone().into_linear_view() };
    // SAFETY: as for `step`; the gradient has the input's shape.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::step_backward::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            bias.into_linear_view(),
            dy.into_linear_view(),
            out_view,
            stream(dropout.map_or(NO_DRAW, |mask| mask.draw)),
            dropout.map_or(0, |mask| mask.threshold),
            dropout.map_or(1.0, Mask::scale),
            unit.parameter() as f32,
            unit.kind(),
            dropout.is_some(),
            element,
        );
    }
    out
}

pub(super) fn gate(x: CubeTensor, y: CubeTensor, draw: Draw) -> CubeTensor {
    let (x, y) = (untile(x), untile(y));
    assert_alike(&x, &y, "what a stochastic map lets through");
    if x.shape().num_elements() == 0 {
        return y;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let out = laid_out_like(&x);
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &y, &out], 0);
    // SAFETY: the kernel checks its position against the output's bounds, and the inputs have them.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gate::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
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
