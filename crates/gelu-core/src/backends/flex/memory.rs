//! In which order tensors lie in memory, and results that are written where they belong.

use alloc::vec::Vec;
use burn_flex::{FlexTensor, Layout};
use core::mem::MaybeUninit;

/// The numbers that `write` writes, which it shows by giving its place back as numbers.
///
/// # Panics
///
/// If it gives back another place, or a part of it.
pub(super) fn written<E>(
    count: usize,
    write: impl FnOnce(&mut [MaybeUninit<E>]) -> &mut [E],
) -> Vec<E> {
    let mut values = Vec::with_capacity(count);
    let place = &mut values.spare_capacity_mut()[..count];
    let start = place.as_ptr().cast::<E>();
    let written = write(place);
    let is_all = written.as_ptr() == start && written.len() == count;
    assert!(is_all, "a result is written where it belongs, and all of it");
    // SAFETY: these very numbers were just lent as a slice of numbers, which they then are.
    #[allow(unsafe_code, reason = "a result is not worth zeroing before it is written")]
    unsafe {
        values.set_len(count);
    }
    values
}

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
