//! The numbers of Flex's tensors, for the kernels of this crate and of those with operations beside
//! ours.

use alloc::vec::Vec;
use burn_core::tensor::{Element, Shape};
use burn_flex::{FlexTensor, Layout};
use burn_std::Bytes;
use gelu_kernels::{Float, Storage};

/// A type that tensors have and kernels know.
pub trait Stored:
    Storage<Float: Element + Float + bytemuck::Pod> + Element + bytemuck::Pod
{
}

impl<E: Storage<Float: Element + Float + bytemuck::Pod> + Element + bytemuck::Pod> Stored for E {}

/// The tensor with its elements one behind the other, in row-major order.
pub fn contiguous(x: FlexTensor) -> FlexTensor {
    if x.layout().is_contiguous() { x } else { x.to_contiguous() }
}

/// Where a dense tensor's elements lie in its storage.
fn extent(layout: &Layout) -> core::ops::Range<usize> {
    layout.start_offset()..layout.start_offset() + layout.num_elements()
}

/// The elements of a dense tensor, in memory order.
///
/// # Panics
///
/// If it is of another type.
pub fn elements<E: Element + bytemuck::Pod>(x: &FlexTensor) -> &[E] {
    &x.storage()[extent(x.layout())]
}

/// The elements of a dense tensor, in memory order, after copying them if they are shared.
///
/// # Panics
///
/// If it is of another type.
pub fn elements_mut<E: Element + bytemuck::Pod>(x: &mut FlexTensor) -> &mut [E] {
    let extent = extent(x.layout());
    &mut x.storage_mut()[extent]
}

/// A tensor of these elements.
pub fn tensor<E: Element>(values: Vec<E>, shape: Shape) -> FlexTensor {
    laid_out(values, Layout::contiguous(shape))
}

/// A tensor whose elements lie in memory like that.
pub(crate) fn laid_out<E: Element>(values: Vec<E>, layout: Layout) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), layout, E::dtype())
}
