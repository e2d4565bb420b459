use super::{Pass, Places};
use crate::Dropout;
use crate::math::formula::Formula;
use crate::math::philox;
use crate::math::real::Real;
use core::ops::Range;

/// How many numbers are loaded, worked on and stored together: two registers of the widest kind.
const BLOCK: usize = 32;

/// How far random numbers and the bias are laid out ahead.
const LAID_OUT: usize = 1024;

/// A range of a pass, worked through from its start to its end.
pub(super) struct Strip<'a, F> {
    pass: &'a Pass<'a, F>,
    places: Places,
    range: Range<usize>,
}

impl<'a, F: Formula> Strip<'a, F> {
    /// # Safety
    ///
    /// The range of each place must be valid to read or write, and be touched by nothing else
    /// while the strip exists.
    pub(super) unsafe fn new(pass: &'a Pass<'a, F>, places: Places, range: Range<usize>) -> Self {
        Self { pass, places, range }
    }

    /// Does the work, and adds each column's results to `sums`, if that is not empty.
    #[inline(always)]
    pub(super) fn run<R: Real>(self, sums: &mut [f32]) {
        let Pass { bias, dropout, .. } = *self.pass;
        let mut laid_out_bias = [0.0; LAID_OUT];
        let mut numbers = [0; LAID_OUT];
        let mut start = self.range.start;
        while start < self.range.end {
            let length = LAID_OUT.min(self.range.end - start);
            if !bias.is_empty() {
                for_each_row(start, length, bias.len(), |inside, columns| {
                    laid_out_bias[inside].copy_from_slice(&bias[columns]);
                });
            }
            if let Some(dropout) = dropout {
                philox::fill(dropout.stream(), start as u64, &mut numbers[..length]);
            }
            let mut at = 0;
            while at < length {
                let count = BLOCK.min(length - at);
                self.block::<R>(start + at, count, &laid_out_bias[at..], &numbers[at..]);
                at += count;
            }
            if !sums.is_empty() {
                // SAFETY: these elements were just written.
                let written = unsafe {
                    core::slice::from_raw_parts(self.places.out.add(start), length)
                };
                for_each_row(start, length, sums.len(), |inside, columns| {
                    let rows = sums[columns].iter_mut().zip(&written[inside]);
                    rows.for_each(|(sum, value)| *sum += value);
                });
            }
            start += length;
        }
    }

    /// Elements `start..start + count`, `count ≤ BLOCK`; bias and numbers begin with theirs.
    #[inline(always)]
    fn block<R: Real>(&self, start: usize, count: usize, bias: &[f32], numbers: &[u32]) {
        let Pass { formula, dropout, .. } = *self.pass;
        // SAFETY: `start..start + count` lies within the range, of which `new` was promised that
        // it is ours. Everything is read before anything is written.
        let (mut values, factors) = unsafe {
            let values = load(self.places.x.add(start), count);
            (values, self.places.dy.map(|dy| load(dy.add(start), count)))
        };
        if !self.pass.bias.is_empty() {
            for (value, bias) in values.iter_mut().zip(bias) {
                *value += bias;
            }
        }
        values = evaluate::<R, F>(formula, values);
        if let Some(factors) = factors {
            for (value, factor) in values.iter_mut().zip(factors) {
                *value *= factor;
            }
        }
        if let Some(dropout) = dropout {
            let scale = dropout.scale();
            for (value, &number) in values.iter_mut().zip(numbers) {
                // A choice, not a product: what is dropped is 0 even if it was NaN or infinite.
                *value = if Dropout::keeps(dropout, number) { *value * scale } else { 0.0 };
            }
        }
        // SAFETY: as above.
        unsafe { store(self.places.out.add(start), count, &values) }
    }
}

/// `f` of each; a second time, in the slow way, where the fast one might have rounded wrongly.
#[inline(always)]
fn evaluate<R: Real, F: Formula>(formula: F, x: [f32; BLOCK]) -> [f32; BLOCK] {
    let mut results = [0.0; BLOCK];
    let mut doubt = false;
    for (result, &x) in results.iter_mut().zip(&x) {
        let value = formula.single(R::of(x));
        *result = value.to_f32();
        doubt |= value.is_doubtful();
    }
    if doubt {
        for (result, &x) in results.iter_mut().zip(&x) {
            *result = formula.single::<f32>(x);
        }
    }
    results
}

/// Splits `start..start + length` at the ends of rows of `columns`: calls `work` with each part,
/// counted from `start`, and with the columns it covers.
#[inline(always)]
fn for_each_row(
    start: usize,
    length: usize,
    columns: usize,
    mut work: impl FnMut(Range<usize>, Range<usize>),
) {
    let mut at = 0;
    let mut column = start % columns;
    while at < length {
        let count = (columns - column).min(length - at);
        work(at..at + count, column..column + count);
        at += count;
        column = 0;
    }
}

/// `count` numbers from `place`, the rest 0.
#[inline(always)]
unsafe fn load(place: *const f32, count: usize) -> [f32; BLOCK] {
    if count == BLOCK {
        // SAFETY: the caller vouches for `count` numbers; an array has a number's alignment.
        return unsafe { place.cast::<[f32; BLOCK]>().read() };
    }
    let mut values = [0.0; BLOCK];
    // SAFETY: the caller vouches for `count` numbers.
    unsafe { core::ptr::copy_nonoverlapping(place, values.as_mut_ptr(), count) };
    values
}

/// The first `count` of `values` to `place`.
#[inline(always)]
unsafe fn store(place: *mut f32, count: usize, values: &[f32; BLOCK]) {
    if count == BLOCK {
        // SAFETY: the caller vouches for `count` numbers; an array has a number's alignment.
        return unsafe { place.cast::<[f32; BLOCK]>().write(*values) };
    }
    // SAFETY: the caller vouches for `count` numbers.
    unsafe { core::ptr::copy_nonoverlapping(values.as_ptr(), place, count) };
}
