//! The one place where threads are let into the same slice.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// Shares a slice between threads that write ranges of it that do not overlap. One thread's ranges need not be
/// contiguous: rows of a block, channels of a picture.
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

// SAFETY: a thread that shares it can do no more than take ranges, which no other has, as it promises;
// that is sending them.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    /// A slice of written numbers.
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), _slice: PhantomData }
    }

    /// A slice that is to be written first.
    pub fn uninit(slice: &'a mut [MaybeUninit<T>]) -> Self {
        Self { start: slice.as_mut_ptr().cast(), length: slice.len(), _slice: PhantomData }
    }

    /// Where a range begins.
    ///
    /// # Panics
    ///
    /// If it does not lie within the slice.
    #[inline]
    pub fn pointer(&self, range: Range<usize>) -> *mut T {
        assert!(
            range.start <= range.end && range.end <= self.length,
            "the range {range:?} lies within {} numbers",
            self.length
        );
        self.start.wrapping_add(range.start)
    }

    /// A range of written numbers.
    ///
    /// # Safety
    ///
    /// The numbers have been written, and no range that overlaps this one is used meanwhile.
    ///
    /// # Panics
    ///
    /// As [`pointer`](Self::pointer).
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "as the caller promises, each is used once at a time")]
    pub unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        let length = range.len();
        // SAFETY: it lies within the slice, which is borrowed; the rest is promised.
        unsafe { core::slice::from_raw_parts_mut(self.pointer(range), length) }
    }

    /// A range that is to be written first.
    ///
    /// # Safety
    ///
    /// No range that overlaps this one is used meanwhile.
    ///
    /// # Panics
    ///
    /// As [`pointer`](Self::pointer).
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
