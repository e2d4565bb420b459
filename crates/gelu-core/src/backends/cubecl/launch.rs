//! Shapes, vector widths and which tensor's memory the result takes.

use super::kernel;
use super::layout::MemoryOrder;
use crate::random::WORDS;
use crate::{GateHalf, Unit};
use burn_core::backend::TensorMetadata;
use burn_core::tensor::{DType, Shape};
use burn_cubecl::cubecl::ir::{AddressType, ElemType, FloatKind, IntKind, UIntKind};
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::cubecl::{CubeCount, calculate_cube_count_elemwise, tensor_vector_size_parallel};
use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use gelu_kernels::random::Mask;

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

/// The integers that a key's words are stored in.
fn integer(key: &CubeTensor) -> ElemType {
    match key.dtype {
        DType::I64 => ElemType::Int(IntKind::I64),
        DType::I32 => ElemType::Int(IntKind::I32),
        DType::U64 => ElemType::UInt(UIntKind::U64),
        DType::U32 => ElemType::UInt(UIntKind::U32),
        dtype => panic!("a key has words of 32 or 64 bits, got {dtype:?}"),
    }
}

/// The kernels read a key's words unchecked.
fn assert_key(x: &CubeTensor, key: &CubeTensor) {
    assert!(key.shape().num_elements() == WORDS, "a key has {WORDS} words, got {:?}", key.shape());
    x.assert_is_on_same_device(key);
}

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

/// `dropout` is a key and the threshold below which its numbers drop.
pub(super) fn step(
    x: CubeTensor,
    bias: CubeTensor,
    unit: Unit,
    dropout: Option<(CubeTensor, u32)>,
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
    let (parameter, kind) = (unit.parameter() as f32, unit.kind());
    let dropout = dropout.map(|(key, threshold)| (into_contiguous(key), threshold));
    if let Some((key, _)) = &dropout {
        assert_key(&x, key);
    }
    let (x, bias) = (x.into_linear_view(), bias.into_linear_view());
    // SAFETY: the kernels check their position against the output's bounds, which the input has,
    // take it modulo the bias's, and read the eight words that the key has.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        match dropout {
            None => kernel::step::launch_unchecked(
                &client, cubes, cube, address, width, x, bias, out_view, parameter, kind, element,
            ),
            Some((key, threshold)) => kernel::dropped_step::launch_unchecked(
                &client,
                cubes,
                cube,
                address,
                width,
                x,
                bias,
                key.clone().into_tensor_arg(),
                out_view,
                threshold,
                Mask::scale_of(threshold),
                parameter,
                kind,
                [element, integer(&key)],
            ),
        }
    }
    out
}

pub(super) fn step_backward(
    x: CubeTensor,
    bias: CubeTensor,
    dy: CubeTensor,
    unit: Unit,
    dropout: Option<(CubeTensor, u32)>,
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
    let (parameter, kind) = (unit.parameter() as f32, unit.kind());
    let dropout = dropout.map(|(key, threshold)| (into_contiguous(key), threshold));
    if let Some((key, _)) = &dropout {
        assert_key(&x, key);
    }
    let (x, bias, dy) = (x.into_linear_view(), bias.into_linear_view(), dy.into_linear_view());
    // SAFETY: as for `step`; the gradient has the input's shape.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        match dropout {
            None => kernel::step_backward::launch_unchecked(
                &client, cubes, cube, address, width, x, bias, dy, out_view, parameter, kind,
                element,
            ),
            Some((key, threshold)) => kernel::dropped_step_backward::launch_unchecked(
                &client,
                cubes,
                cube,
                address,
                width,
                x,
                bias,
                dy,
                key.clone().into_tensor_arg(),
                out_view,
                threshold,
                Mask::scale_of(threshold),
                parameter,
                kind,
                [element, integer(&key)],
            ),
        }
    }
    out
}

/// Elements whose number is below the threshold are dropped.
pub(super) fn dropout(x: CubeTensor, key: CubeTensor, threshold: u32) -> CubeTensor {
    let (x, key) = (untile(x), into_contiguous(key));
    assert_key(&x, &key);
    if x.shape().num_elements() == 0 {
        return x;
    }
    let (client, elements) = (x.client.clone(), [element(&x), integer(&key)]);
    let in_place = is_ours(&x);
    let out = if in_place { x.clone() } else { laid_out_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &out], 0);
    let out_view =
        if in_place { x.as_linear_view_alias(0) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, which the input has, and
    // reads the eight words that the key has.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::dropout::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            key.into_tensor_arg(),
            out_view,
            threshold,
            Mask::scale_of(threshold),
            elements,
        );
    }
    out
}

/// What the stochastic map of `x` lets through of `y`.
pub(super) fn let_through(x: CubeTensor, y: CubeTensor, key: CubeTensor) -> CubeTensor {
    let (x, y, key) = (untile(x), untile(y), into_contiguous(key));
    assert_alike(&x, &y, "what a stochastic map lets through");
    assert_key(&x, &key);
    if x.shape().num_elements() == 0 {
        return y;
    }
    let (client, elements) = (x.client.clone(), [element(&x), integer(&key)]);
    let out = laid_out_like(&x);
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &y, &out], 0);
    // SAFETY: the kernel checks its position against the output's bounds, and the inputs have
    // them; it reads the eight words that the key has.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::let_through::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            y.into_linear_view(),
            key.into_tensor_arg(),
            out.clone().into_linear_view(),
            elements,
        );
    }
    out
}

/// `unit(gate)·value` of the halves of the last dimension.
pub(super) fn gated(x: CubeTensor, unit: Unit, gate: GateHalf) -> CubeTensor {
    let x = into_contiguous(untile(x));
    let (shape, columns) = halved(&x);
    let (client, element) = (x.client.clone(), element(&x));
    let out = empty_device_contiguous_dtype(client.clone(), x.device.clone(), shape, x.dtype);
    if out.shape().num_elements() == 0 {
        return out;
    }
    let Spread { cubes, cube, address, width } = Spread::over(&[&out, &x], columns);
    // SAFETY: the kernel checks its position against the output's bounds, and the input has a gate
    // and a value for each.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gated::launch_unchecked(
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

pub(super) fn gated_backward(
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
    // SAFETY: the kernel checks its position against the gradient's bounds; input and output have
    // a gate and a value for each.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gated_backward::launch_unchecked(
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

/// `unit(gate)·value` of two tensors.
pub(super) fn gated_pair(gate: CubeTensor, value: CubeTensor, unit: Unit) -> CubeTensor {
    let [gate, value] = [gate, value].map(|x| into_contiguous(untile(x)));
    assert_alike(&gate, &value, "the value of a gated unit");
    let (client, element, out) = (gate.client.clone(), element(&gate), empty_like(&gate));
    if out.shape().num_elements() == 0 {
        return out;
    }
    let Spread { cubes, cube, address, width } = Spread::over(&[&out, &gate, &value], 0);
    // SAFETY: the kernel checks its position against the output's bounds, and the inputs have them.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gated_pair::launch_unchecked(
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

/// The gradients of [`gated_pair`] for gate and value.
pub(super) fn gated_pair_backward(
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
    // SAFETY: the kernel checks its position against an output's bounds, and all have them.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::gated_pair_backward::launch_unchecked(
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

/// The shape of a gated unit's result, and the length of its rows.
fn halved(x: &CubeTensor) -> (Shape, usize) {
    let mut shape = x.shape();
    let last = shape.last_mut().expect("a gated unit's input has a dimension to halve");
    assert!(last.is_multiple_of(2), "a gated unit halves an even dimension, got {last}");
    *last /= 2;
    let columns = *last;
    (shape, columns)
}
