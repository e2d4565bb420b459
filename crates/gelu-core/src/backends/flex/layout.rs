//! In which order tensors lie in memory.

use alloc::vec::Vec;
use burn_flex::{FlexTensor, Layout};

/// The tensor with its elements one behind the other, in the order they already have in memory if
/// there is one, as behind a transposition or a convolution.
pub(super) fn dense(x: FlexTensor) -> FlexTensor {
    if is_dense(x.layout()) { x } else { x.to_contiguous() }
}

/// Whether the elements fill a part of memory without gap or overlap.
pub(super) fn is_dense(layout: &Layout) -> bool {
    if layout.num_elements() == 0 {
        return layout.is_contiguous();
    }
    let sizes = layout.shape().iter().copied().zip(layout.strides().iter().copied());
    let mut dimensions: Vec<(usize, isize)> = sizes.filter(|(size, _)| *size > 1).collect();
    dimensions.sort_unstable_by_key(|(_, stride)| *stride);
    let mut expected = 1;
    dimensions.into_iter().all(|(size, stride)| {
        let fits = usize::try_from(stride) == Ok(expected);
        expected *= size;
        fits
    })
}

/// Whether two dense tensors of one shape have their elements in the same order.
pub(super) fn same_order(a: &Layout, b: &Layout) -> bool {
    let strides = a.shape().iter().zip(a.strides()).zip(b.strides());
    strides.filter(|((size, _), _)| **size > 1).all(|((_, a), b)| a == b)
}

/// The layout of a copy that holds nothing else.
pub(super) fn at_start(layout: &Layout) -> Layout {
    Layout::new(layout.shape().clone(), layout.strides().to_vec(), 0)
}
