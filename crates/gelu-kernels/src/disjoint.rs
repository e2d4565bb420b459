//! The one place where threads are let into the same slice.

use core::marker::PhantomData;
#[cfg(feature = "loops")]
use core::mem::MaybeUninit;
use core::ops::Range;

/// A slice of which several threads write parts that do not overlap, and that need be no slices of it
/// themselves: rows of a block, channels of a picture.
#[derive(Debug)]
pub(crate) struct Disjoint<'a, T> {
    start: *mut T,
    length: usize,
    _slice: PhantomData<&'a mut [T]>,
}

// SAFETY: a thread that shares it can do no more than take parts, which no other has, as it promises;
// that is sending them.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    /// A slice of numbers.
    pub(crate) fn of(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), _slice: PhantomData }
    }

    /// A slice that is to be written first.
    #[cfg(feature = "loops")]
    pub(crate) fn of_unwritten(slice: &'a mut [MaybeUninit<T>]) -> Self {
        Self { start: slice.as_mut_ptr().cast(), length: slice.len(), _slice: PhantomData }
    }

    /// Where a part begins.
    ///
    /// # Panics
    ///
    /// If it does not lie within the slice.
    #[inline]
    pub(crate) fn at(&self, part: Range<usize>) -> *mut T {
        assert!(
            part.start <= part.end && part.end <= self.length,
            "the part {part:?} lies within {} numbers",
            self.length
        );
        self.start.wrapping_add(part.start)
    }

    /// A part of written numbers.
    ///
    /// # Safety
    ///
    /// Its numbers have been written, and no part that overlaps it is used meanwhile.
    ///
    /// # Panics
    ///
    /// As [`at`](Self::at).
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "as the caller promises, each is used once at a time")]
    pub(crate) unsafe fn part(&self, part: Range<usize>) -> &mut [T] {
        let length = part.len();
        // SAFETY: it lies within the slice, which is borrowed; the rest is promised.
        unsafe { core::slice::from_raw_parts_mut(self.at(part), length) }
    }

    /// A part that is to be written first.
    ///
    /// # Safety
    ///
    /// No part that overlaps it is used meanwhile.
    ///
    /// # Panics
    ///
    /// As [`at`](Self::at).
    #[cfg(feature = "loops")]
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "as the caller promises, each is used once at a time")]
    pub(crate) unsafe fn unwritten_part(&self, part: Range<usize>) -> &mut [MaybeUninit<T>] {
        let length = part.len();
        // SAFETY: as for `part`.
        unsafe { core::slice::from_raw_parts_mut(self.at(part).cast(), length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the part 2..5 lies within 4 numbers")]
    fn no_part_reaches_past_the_end() {
        Disjoint::of(&mut [0.0f32; 4]).at(2..5);
    }

    #[test]
    fn parts_are_those_of_the_slice() {
        let mut numbers = [1, 2, 3, 4];
        let parts = Disjoint::of(&mut numbers);
        // SAFETY: the two do not overlap.
        let (first, last) = unsafe { (parts.part(0..2), parts.part(2..4)) };
        core::mem::swap(&mut first[0], &mut last[1]);
        assert_eq!(numbers, [4, 2, 3, 1]);
    }
}
