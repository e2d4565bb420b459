//! The order of tensors in memory.

use alloc::vec::Vec;
use burn_flex::{FlexTensor, Layout};

/// Returns the tensor with its elements contiguous in memory. If they are contiguous in any order
/// already, for example after a transposition or a convolution, they stay in that order.
pub(super) fn dense(x: FlexTensor) -> FlexTensor {
    if is_dense(x.layout()) { x } else { x.to_contiguous() }
}

/// Returns whether the elements fill a block of memory without gap or overlap.
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

/// Returns whether two dense tensors of the same shape have their elements in the same order.
pub(super) fn same_order(a: &Layout, b: &Layout) -> bool {
    let strides = a.shape().iter().zip(a.strides()).zip(b.strides());
    strides.filter(|((size, _), _)| **size > 1).all(|((_, a), b)| a == b)
}

/// Returns the layout of a copy that contains only these elements.
pub(super) fn at_start(layout: &Layout) -> Layout {
    Layout::new(layout.shape().clone(), layout.strides().to_vec(), 0)
}
