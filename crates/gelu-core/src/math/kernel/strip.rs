use super::{Pass, Places};
use crate::math::formula::Formula;
use crate::math::philox;
use crate::math::real::{Real, is_doubtful};
use core::ops::Range;

/// How many numbers are loaded, worked on and stored together: two registers of the widest kind,
/// and a multiple of every [`Real::LANES`].
const BLOCK: usize = 32;

/// How far random numbers and the bias are laid out ahead.
const LAID_OUT: usize = 1024;

/// A range of a pass, worked through from its start to its end.
pub(super) struct Strip<'a, F> {
    pass: &'a Pass<'a, F>,
    places: Places,
    range: Range<usize>,
}

/// What is done to `BLOCK` numbers besides the formula.
struct Around<'a> {
    /// −0 for none: adding it changes nothing.
    bias: &'a [f32; BLOCK],
    numbers: &'a [u32; BLOCK],
    /// The numbers below it drop.
    threshold: u32,
    scale: f32,
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
        let full = !self.pass.bias.is_empty() || self.pass.dropout.is_some();
        match (full, self.places.dy.is_some()) {
            (false, false) => self.plain::<R, false>(),
            (false, true) => self.plain::<R, true>(),
            (true, false) => self.full::<R, false>(sums),
            (true, true) => self.full::<R, true>(sums),
        }
    }

    /// The formula, and `dy` if `FACTOR`.
    #[inline(always)]
    fn plain<R: Real, const FACTOR: bool>(self) {
        let nothing =
            Around { bias: &[-0.0; BLOCK], numbers: &[0; BLOCK], threshold: 0, scale: 1.0 };
        let Range { mut start, end } = self.range;
        while end - start >= BLOCK {
            self.prefetch::<FACTOR>(start);
            // SAFETY: the block lies within the range.
            unsafe { self.block::<R, FACTOR, false>(start, &nothing) };
            start += BLOCK;
        }
        if start < end {
            // SAFETY: the rest lies within the range.
            unsafe { self.rest::<R, FACTOR, false>(start, end - start, &nothing) };
        }
    }

    /// With bias and dropout.
    #[inline(always)]
    fn full<R: Real, const FACTOR: bool>(self, sums: &mut [f32]) {
        let Pass { bias, dropout, .. } = *self.pass;
        let mut laid_out_bias = [-0.0; LAID_OUT];
        let mut numbers = [0; LAID_OUT];
        let (threshold, scale) = dropout.map_or((0, 1.0), |d| (d.threshold(), d.scale()));
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
            let around = |index: usize| Around {
                bias: &laid_out_bias.as_chunks().0[index],
                numbers: &numbers.as_chunks().0[index],
                threshold,
                scale,
            };
            let (blocks, rest) = (length / BLOCK, length % BLOCK);
            for index in 0..blocks {
                // SAFETY: the block lies within the range.
                unsafe { self.block::<R, FACTOR, true>(start + index * BLOCK, &around(index)) };
            }
            if rest > 0 {
                let at = start + blocks * BLOCK;
                // SAFETY: the rest lies within the range.
                unsafe { self.rest::<R, FACTOR, true>(at, rest, &around(blocks)) };
            }
            if !sums.is_empty() {
                // SAFETY: these elements were just written.
                let written =
                    unsafe { core::slice::from_raw_parts(self.places.out.add(start), length) };
                for_each_row(start, length, sums.len(), |inside, columns| {
                    let rows = sums[columns].iter_mut().zip(&written[inside]);
                    rows.for_each(|(sum, value)| *sum += value);
                });
            }
            start += length;
        }
    }

    /// Elements `start..start + BLOCK`. Everything is read before anything is written.
    ///
    /// # Safety
    ///
    /// They must lie within the range, which `new` was promised is ours.
    #[inline(always)]
    unsafe fn block<R: Real, const FACTOR: bool, const FULL: bool>(
        &self,
        start: usize,
        around: &Around<'_>,
    ) {
        let Places { x, dy, out } = self.places;
        // SAFETY: as the caller promises.
        unsafe {
            let (x, dy) = (x.add(start), dy.unwrap_or(x).add(start));
            let results = compute::<R, F, FACTOR, FULL>(self.pass.formula, x, dy, around);
            out.add(start).cast::<[f32; BLOCK]>().write(results);
        }
    }

    /// Elements `start..start + count`, fewer than `BLOCK`: copied, so that there are as many.
    ///
    /// # Safety
    ///
    /// As for [`block`](Self::block).
    #[inline(always)]
    unsafe fn rest<R: Real, const FACTOR: bool, const FULL: bool>(
        &self,
        start: usize,
        count: usize,
        around: &Around<'_>,
    ) {
        let Places { x, dy, out } = self.places;
        let (mut padded_x, mut padded_dy) = ([0.0; BLOCK], [0.0; BLOCK]);
        // SAFETY: as the caller promises; `count` is less than `BLOCK`.
        unsafe {
            let dy = dy.unwrap_or(x);
            core::ptr::copy_nonoverlapping(x.add(start), padded_x.as_mut_ptr(), count);
            core::ptr::copy_nonoverlapping(dy.add(start), padded_dy.as_mut_ptr(), count);
            let (x, dy) = (padded_x.as_ptr(), padded_dy.as_ptr());
            let results = compute::<R, F, FACTOR, FULL>(self.pass.formula, x, dy, around);
            core::ptr::copy_nonoverlapping(results.as_ptr(), out.add(start), count);
        }
    }

    /// Fetches what comes a page later: the processor's own prefetching stops at a page's end.
    #[inline(always)]
    fn prefetch<const FACTOR: bool>(&self, start: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
            /// In numbers: 4 KiB.
            const AHEAD: usize = 1024;
            /// Numbers in a cache line.
            const LINE: usize = 16;
            let Places { x, dy, out } = self.places;
            for line in (0..BLOCK).step_by(LINE) {
                let at = start + AHEAD + line;
                // SAFETY: prefetching never faults, whatever the address.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(x.wrapping_add(at).cast());
                    _mm_prefetch::<_MM_HINT_ET0>(out.wrapping_add(at).cast_const().cast());
                    if FACTOR {
                        _mm_prefetch::<_MM_HINT_T0>(dy.unwrap_or(x).wrapping_add(at).cast());
                    }
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = start;
    }
}

/// One block, in one loop that the compiler vectorises, into an array that nothing else points to.
///
/// # Safety
///
/// `BLOCK` numbers must be readable at `x` and at `dy`.
#[inline(always)]
unsafe fn compute<R: Real, F: Formula, const FACTOR: bool, const FULL: bool>(
    formula: F,
    x: *const f32,
    dy: *const f32,
    around: &Around<'_>,
) -> [f32; BLOCK] {
    let mut results = [0.0; BLOCK];
    let mut doubts = [0; BLOCK];
    let mut any_doubt = 0;
    let finished = |i: usize, value: f32| {
        // SAFETY: as the caller promises.
        let value = if FACTOR { value * unsafe { *dy.add(i) } } else { value };
        // A choice, not a product: what is dropped is 0 even if it was NaN or infinite.
        let kept = !FULL || around.numbers[i] >= around.threshold;
        let value = if FULL { value * around.scale } else { value };
        if kept { value } else { 0.0 }
    };
    let argument = |i: usize| {
        // SAFETY: as the caller promises.
        let x = unsafe { *x.add(i) };
        if FULL { x + around.bias[i] } else { x }
    };
    for first in (0..BLOCK / R::LANES).map(|step| step * R::LANES) {
        let values = formula.single(R::of_lanes(|lane| argument(first + lane)));
        for lane in 0..R::LANES {
            doubts[first + lane] = values.doubt(lane);
            any_doubt |= values.doubt(lane);
            results[first + lane] = finished(first + lane, values.lane(lane));
        }
    }
    if is_doubtful(any_doubt) {
        for i in (0..BLOCK).filter(|&i| is_doubtful(doubts[i])) {
            results[i] = finished(i, formula.single::<f32>(argument(i)));
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
