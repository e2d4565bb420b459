use burn_core::tensor::{Element, Shape};
use burn_flex::{FlexTensor, Layout};
use burn_std::Bytes;

/// The tensor with its elements one behind the other.
pub(super) fn contiguous(x: FlexTensor) -> FlexTensor {
    if x.layout().contiguous_offsets().is_some() { x } else { x.to_contiguous() }
}

/// The elements of a contiguous tensor.
pub(super) fn elements<E: Element + bytemuck::Pod>(x: &FlexTensor) -> &[E] {
    x.as_slice().expect("contiguous, and of the type that was matched on")
}

/// The elements of a contiguous tensor, after copying them if they are shared.
pub(super) fn elements_mut<E: Element + bytemuck::Pod>(x: &mut FlexTensor) -> &mut [E] {
    let (start, end) = x.layout().contiguous_offsets().expect("contiguous");
    &mut x.storage_mut()[start..end]
}

/// A tensor of these elements.
pub(super) fn tensor<E: Element>(values: Vec<E>, shape: Shape) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), Layout::contiguous(shape), E::dtype())
}
