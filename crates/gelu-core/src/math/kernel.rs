//! Running a formula over f32 slices with the widest instructions the processor has, on several
//! threads where that pays.
//!
//! One loop body serves all instruction sets: compiled once for each, the compiler vectorises it.
//! It knows no activation by name.

#![allow(unsafe_code, reason = "pointers that let one loop work in place or not; dispatch")]

mod level;
mod strip;
mod threads;

pub(crate) use level::Level;
pub(crate) use threads::for_each_chunk;

use super::formula::Formula;
use crate::Dropout;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use strip::Strip;

/// `out[i] = keep(i)·dy[i]·f(x[i] + bias[i mod bias.len()])`: what is done to a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass<'a, F> {
    /// The activation or its derivative.
    pub(crate) formula: F,
    /// One number a column; none for none.
    pub(crate) bias: &'a [f32],
    /// Which elements become 0, and what the others are scaled by.
    pub(crate) dropout: Option<Dropout>,
    /// The instructions to use.
    pub(crate) level: Level,
}

/// Where a pass reads and writes. `out` may be `x` or `dy`; each element is read before it is
/// written.
#[derive(Clone, Copy)]
struct Places {
    x: *const f32,
    dy: Option<*const f32>,
    out: *mut f32,
}

// SAFETY: threads are given disjoint ranges of the places, and `Pass::run` has them exclusively.
unsafe impl Send for Places {}
// SAFETY: as above.
unsafe impl Sync for Places {}

impl<'a, F: Formula> Pass<'a, F> {
    /// `f` alone.
    pub(crate) fn new(formula: F) -> Self {
        Self { formula, bias: &[], dropout: None, level: Level::best() }
    }

    /// Reads `x` and writes `out`.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub(crate) fn map(&self, x: &[f32], out: &mut [MaybeUninit<f32>]) {
        assert_eq!(x.len(), out.len(), "a result for every input");
        let places = Places { x: x.as_ptr(), dy: None, out: out.as_mut_ptr().cast() };
        self.run(x.len(), places, false);
    }

    /// Replaces `values`.
    pub(crate) fn map_in_place(&self, values: &mut [f32]) {
        let out = values.as_mut_ptr();
        self.run(values.len(), Places { x: out, dy: None, out }, false);
    }

    /// Replaces `dy` by its product with the function of `x`, and returns its sum over the rows
    /// if there is a bias (else nothing).
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub(crate) fn scale_in_place(&self, x: &[f32], dy: &mut [f32]) -> Vec<f32> {
        assert_eq!(x.len(), dy.len(), "a factor for every input");
        let out = dy.as_mut_ptr();
        let places = Places { x: x.as_ptr(), dy: Some(out), out };
        self.run(x.len(), places, !self.bias.is_empty())
    }

    /// As [`scale_in_place`](Self::scale_in_place), into `out`.
    pub(crate) fn scale(&self, x: &[f32], dy: &[f32], out: &mut [MaybeUninit<f32>]) -> Vec<f32> {
        assert_eq!(x.len(), dy.len(), "a factor for every input");
        assert_eq!(x.len(), out.len(), "a result for every input");
        let places = Places { x: x.as_ptr(), dy: Some(dy.as_ptr()), out: out.as_mut_ptr().cast() };
        self.run(x.len(), places, !self.bias.is_empty())
    }

    /// Chunk by chunk. A chunk's work and its sums do not depend on how many threads there are.
    fn run(&self, length: usize, places: Places, summed: bool) -> Vec<f32> {
        let columns = if summed { self.bias.len() } else { 0 };
        let chunk_sums = for_each_chunk(length, 8 * self.bias.len(), |range| {
            let mut sums = vec![0.0; columns];
            // SAFETY: the range lies within the slices that the places were made of, which are
            // borrowed for this call, and no other chunk has a part of it.
            let strip = unsafe { Strip::new(self, places, range) };
            self.level.run(strip, &mut sums);
            sums
        });
        let mut total = vec![0.0; columns];
        for sums in chunk_sums {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        total
    }
}

#[cfg(test)]
mod tests;
