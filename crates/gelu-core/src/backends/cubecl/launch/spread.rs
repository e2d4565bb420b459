//! The division of tensors between units of work, and the checks of tensors before a launch.

use crate::backends::cubecl::layout::MemoryOrder;
use crate::random::WORDS;
use burn_core::backend::TensorMetadata;
use burn_core::tensor::DType;
use burn_cubecl::cubecl::ir::{AddressType, ElemType, FloatKind, IntKind, UIntKind};
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::cubecl::{CubeCount, calculate_cube_count_elemwise, tensor_vector_size_parallel};
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;

/// The division of tensors' elements between a kernel's units of work.
pub(super) struct Spread {
    pub(super) cubes: CubeCount,
    pub(super) cube: CubeDim,
    pub(super) address: AddressType,
    pub(super) width: usize,
}

impl Spread {
    /// Returns the division of tensors of the same shape. It uses the widest vectors that each of
    /// the tensors can be read in, and that divide rows of `columns`.
    pub(super) fn over(tensors: &[&CubeTensor], columns: usize) -> Self {
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

/// Returns the storage type of a tensor that has a kernel.
pub(super) fn element(x: &CubeTensor) -> ElemType {
    ElemType::Float(match x.dtype {
        DType::F32 => FloatKind::F32,
        DType::F16 => FloatKind::F16,
        DType::BF16 => FloatKind::BF16,
        dtype => panic!("the kernels are for f32, f16 and bf16, got {dtype:?}"),
    })
}

/// Returns memory for a result of the same shape and type, contiguous in row-major order.
pub(super) fn empty_like(x: &CubeTensor) -> CubeTensor {
    empty_device_contiguous_dtype(x.client.clone(), x.device.clone(), x.shape(), x.dtype)
}

/// Returns whether the result may reuse this tensor's memory.
pub(super) fn is_ours(x: &CubeTensor) -> bool {
    x.can_mut() && x.is_nonoverlapping()
}

/// Checks shape, type and device of `other`, because the kernels read all their tensors unchecked,
/// at the positions of one of them.
pub(super) fn assert_alike(x: &CubeTensor, other: &CubeTensor, name: &str) {
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

pub(super) fn assert_bias(x: &CubeTensor, bias: &CubeTensor) {
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

/// Returns the integer type of a key's words.
pub(super) fn integer(key: &CubeTensor) -> ElemType {
    match key.dtype {
        DType::I64 => ElemType::Int(IntKind::I64),
        DType::I32 => ElemType::Int(IntKind::I32),
        DType::U64 => ElemType::UInt(UIntKind::U64),
        DType::U32 => ElemType::UInt(UIntKind::U32),
        dtype => panic!("a key has words of 32 or 64 bits, got {dtype:?}"),
    }
}

/// Checks the key's length and device, because the kernels read a key's words unchecked.
pub(super) fn assert_key(x: &CubeTensor, key: &CubeTensor) {
    assert!(key.shape().num_elements() == WORDS, "a key has {WORDS} words, got {:?}", key.shape());
    x.assert_is_on_same_device(key);
}

/// Returns memory for a result with the layout of its input. The kernels of random numbers write to
/// such memory: their position counts elements in row-major order, so they cannot walk a tensor in
/// another order.
pub(super) fn laid_out_like(x: &CubeTensor) -> CubeTensor {
    match MemoryOrder::of(&[x]) {
        Some(order) => order.restore(empty_like(&order.present(x.clone()))),
        None => empty_like(x),
    }
}
