//! Access of several threads to one slice. All such unsafe code is in this module.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// Shares a slice between threads that write non-overlapping ranges. One thread's ranges need not be
/// contiguous: they may be rows of a block, or channels of an image.
///
/// ```
/// use gelu_kernels::SharedSlice;
///
/// let mut numbers = [1, 2, 3, 4];
/// let shared = SharedSlice::new(&mut numbers);
/// // SAFETY: the two do not overlap.
/// let (first, last) = unsafe { (shared.range(0..2), shared.range(2..4)) };
/// core::mem::swap(&mut first[0], &mut last[1]);
/// assert_eq!(numbers, [4, 2, 3, 1]);
/// ```
#[derive(Debug)]
pub struct SharedSlice<'a, T> {
    start: *mut T,
    length: usize,
    _slice: PhantomData<&'a mut [T]>,
}

// SAFETY: a thread that shares the slice can only take ranges, and guarantees that no other thread takes an
// overlapping one. That is equivalent to sending the ranges.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    /// Shares a slice of initialised elements.
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), _slice: PhantomData }
    }

    /// Shares a slice whose elements have to be written before they are read.
    pub fn uninit(slice: &'a mut [MaybeUninit<T>]) -> Self {
        Self { start: slice.as_mut_ptr().cast(), length: slice.len(), _slice: PhantomData }
    }

    /// Returns a pointer to the start of a range.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the slice.
    #[inline]
    pub fn pointer(&self, range: Range<usize>) -> *mut T {
        assert!(
            range.start <= range.end && range.end <= self.length,
            "the range {range:?} lies within {} numbers",
            self.length
        );
        self.start.wrapping_add(range.start)
    }

    /// Returns a range of initialised elements.
    ///
    /// # Safety
    ///
    /// The elements must have been written, and no overlapping range may be in use at the same time.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the slice.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "as the caller promises, each is used once at a time")]
    pub unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        let length = range.len();
        // SAFETY: the range lies within the borrowed slice, and the caller guarantees the rest.
        unsafe { core::slice::from_raw_parts_mut(self.pointer(range), length) }
    }

    /// Returns a range whose elements have to be written before they are read.
    ///
    /// # Safety
    ///
    /// No overlapping range may be in use at the same time.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the slice.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "as the caller promises, each is used once at a time")]
    pub unsafe fn uninit_range(&self, range: Range<usize>) -> &mut [MaybeUninit<T>] {
        let length = range.len();
        // SAFETY: as for `range`.
        unsafe { core::slice::from_raw_parts_mut(self.pointer(range).cast(), length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the range 2..5 lies within 4 numbers")]
    fn no_range_reaches_past_the_end() {
        SharedSlice::new(&mut [0.0f32; 4]).pointer(2..5);
    }
}
