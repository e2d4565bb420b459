//! Access to the numbers of Flex's tensors, for the kernels of this crate and for other crates with
//! operations of their own.

use alloc::vec::Vec;
use burn_core::tensor::{Element, Shape};
use burn_flex::{FlexTensor, Layout};
use burn_std::Bytes;
use gelu_kernels::{Float, Storage};

/// An element type of tensors that the kernels support.
pub trait Stored:
    Storage<Float: Element + Float + bytemuck::Pod> + Element + bytemuck::Pod
{
}

impl<E: Storage<Float: Element + Float + bytemuck::Pod> + Element + bytemuck::Pod> Stored for E {}

/// Returns the tensor with its elements contiguous, in row-major order.
pub fn contiguous(x: FlexTensor) -> FlexTensor {
    if x.layout().is_contiguous() { x } else { x.to_contiguous() }
}

/// Returns the range of a dense tensor's elements in its storage.
fn extent(layout: &Layout) -> core::ops::Range<usize> {
    layout.start_offset()..layout.start_offset() + layout.num_elements()
}

/// Returns the elements of a dense tensor, in memory order.
///
/// # Panics
///
/// If the tensor has another element type.
pub fn elements<E: Element + bytemuck::Pod>(x: &FlexTensor) -> &[E] {
    &x.storage()[extent(x.layout())]
}

/// Returns the elements of a dense tensor, in memory order, mutably. Copies them first if they are
/// shared.
///
/// # Panics
///
/// If the tensor has another element type.
pub fn elements_mut<E: Element + bytemuck::Pod>(x: &mut FlexTensor) -> &mut [E] {
    let extent = extent(x.layout());
    &mut x.storage_mut()[extent]
}

/// Returns a tensor of these elements, in row-major order.
pub fn tensor<E: Element>(values: Vec<E>, shape: Shape) -> FlexTensor {
    laid_out(values, Layout::contiguous(shape))
}

/// Returns a tensor whose elements have this layout in memory.
pub(crate) fn laid_out<E: Element>(values: Vec<E>, layout: Layout) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), layout, E::dtype())
}
