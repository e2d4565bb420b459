use super::elementwise::{Kernel, Places};
use super::level::{Level, Work};
use super::storage::{Lane, Storage};
use super::threads::for_each_chunk;
use crate::functions::Unit;
use crate::random::{Mask, philox};
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;

/// How many numbers a strip works on at a time where it does more than call the function.
const STRIP: usize = 1024;

/// `out[i] = keep(i)·f(x[i] + bias[i mod bias.len()])`, or with `f′` and times `dy[i]`: what is
/// done to a slice of `S`.
#[derive(Clone, Debug)]
pub(crate) struct Pass<S: Storage> {
    unit: Unit,
    /// One number a column; none for none.
    bias: Vec<S::Lane>,
    /// Which elements become 0, and what the others are scaled by.
    mask: Option<Mask>,
    level: Level,
}

impl<S: Storage> Pass<S> {
    /// The function alone.
    pub(crate) fn new(unit: Unit) -> Self {
        Self { unit, bias: Vec::new(), mask: None, level: Level::best() }
    }

    /// With a bias added before it, and dropout after it.
    pub(crate) fn with(self, bias: &[S], mask: Option<Mask>) -> Self {
        Self { bias: bias.iter().map(|&bias| bias.widen()).collect(), mask, ..self }
    }

    /// By these instructions.
    #[cfg(test)]
    pub(super) fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// Reads `x` and writes `out`, which it gives back written.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub(crate) fn map<'a>(&self, x: &[S], out: &'a mut [MaybeUninit<S>]) -> &'a mut [S] {
        assert_eq!(x.len(), out.len(), "a result for every input");
        let place = out.as_mut_ptr().cast();
        self.run(false, Places { x: x.as_ptr(), dy: x.as_ptr(), out: place, length: x.len() });
        // SAFETY: the pass has written every one of them.
        unsafe { out.assume_init_mut() }
    }

    /// Replaces `values`.
    pub(crate) fn map_in_place(&self, values: &mut [S]) {
        let out = values.as_mut_ptr();
        self.run(false, Places { x: out, dy: out, out, length: values.len() });
    }

    /// Replaces `dy` by its product with the derivative at `x`, and returns its sum over the rows
    /// if there is a bias (else nothing).
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub(crate) fn scale_in_place(&self, x: &[S], dy: &mut [S]) -> Vec<S> {
        assert_eq!(x.len(), dy.len(), "a factor for every input");
        let out = dy.as_mut_ptr();
        self.run(true, Places { x: x.as_ptr(), dy: out, out, length: x.len() })
    }

    /// As [`scale_in_place`](Self::scale_in_place), into `out`, which it gives back written.
    pub(crate) fn scale<'a>(
        &self,
        x: &[S],
        dy: &[S],
        out: &'a mut [MaybeUninit<S>],
    ) -> (&'a mut [S], Vec<S>) {
        assert_eq!(x.len(), dy.len(), "a factor for every input");
        assert_eq!(x.len(), out.len(), "a result for every input");
        let place = out.as_mut_ptr().cast();
        let places = Places { x: x.as_ptr(), dy: dy.as_ptr(), out: place, length: x.len() };
        let sums = self.run(true, places);
        // SAFETY: the pass has written every one of them.
        (unsafe { out.assume_init_mut() }, sums)
    }

    /// Chunk by chunk. A chunk's work and its sums do not depend on how many threads there are.
    fn run(&self, derivative: bool, places: Places<S>) -> Vec<S> {
        let (kind, parameter) = (self.unit.kind(), self.unit.parameter());
        let kernel = match derivative {
            false => Kernel::value(kind, parameter, self.level),
            true => Kernel::derivative(kind, parameter, self.level),
        };
        // Sums are kept chunk by chunk, so these are not much shorter than some rows.
        let columns = if derivative { self.bias.len() } else { 0 };
        let shared = Shared(places);
        let chunk_sums = for_each_chunk(places.length, 8 * columns, |range| {
            let mut sums = vec![S::Lane::ZERO; columns];
            let strips = Strips { pass: self, kernel, derivative, places: shared.get(), range };
            kernel.level().run((strips, sums.as_mut_slice()));
            sums
        });
        let mut total = vec![S::Lane::ZERO; columns];
        for sums in chunk_sums {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        total.into_iter().map(S::narrow).collect()
    }
}

/// Places that threads work on.
struct Shared<S>(Places<S>);

// SAFETY: threads are given disjoint ranges of the places, and `Pass::run` has them exclusively.
unsafe impl<S: Send> Send for Shared<S> {}
// SAFETY: as above.
unsafe impl<S: Sync> Sync for Shared<S> {}

impl<S: Copy> Shared<S> {
    fn get(&self) -> Places<S> {
        self.0
    }
}

/// A range of a pass, worked through from its start to its end.
struct Strips<'a, S: Storage> {
    pass: &'a Pass<S>,
    kernel: Kernel<S::Lane>,
    derivative: bool,
    places: Places<S>,
    range: Range<usize>,
}

impl<S: Storage> Work for (Strips<'_, S>, &mut [S::Lane]) {
    type Output = ();

    /// Does the work, and adds each column's results to the sums, if there are any.
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (strips, sums) = self;
        let Strips { pass, range, .. } = &strips;
        if S::DIRECT && pass.bias.is_empty() && pass.mask.is_none() {
            strips.directly(range.clone());
            return;
        }
        let mut start = range.start;
        while start < range.end {
            let length = STRIP.min(range.end - start);
            strips.strip(start, length, sums);
            start += length;
        }
    }
}

impl<S: Storage> Strips<'_, S> {
    /// The function alone, on numbers that are computed in their own type.
    #[inline(always)]
    fn directly(&self, range: Range<usize>) {
        let Places { x, dy, out, .. } = self.places;
        // SAFETY: the range lies within the places, which `Pass::run` made of slices that are
        // borrowed meanwhile, and no other thread has a part of it. The types are one.
        unsafe {
            self.kernel.run(Places {
                x: x.add(range.start).cast(),
                dy: dy.add(range.start).cast(),
                out: out.add(range.start).cast(),
                length: range.len(),
            });
        }
    }

    /// Elements `start..start + length`, at most [`STRIP`]: widened, with bias and dropout.
    #[inline(always)]
    fn strip(&self, start: usize, length: usize, sums: &mut [S::Lane]) {
        let Pass { bias, mask, .. } = self.pass;
        let mut x = [S::Lane::ZERO; STRIP];
        let mut dy = [S::Lane::ZERO; STRIP];
        // SAFETY: as for `directly`; these borrows end before anything is written.
        unsafe {
            let source = core::slice::from_raw_parts(self.places.x.add(start), length);
            x.iter_mut().zip(source).for_each(|(x, source)| *x = source.widen());
            if self.derivative && !S::DIRECT {
                let source = core::slice::from_raw_parts(self.places.dy.add(start), length);
                dy.iter_mut().zip(source).for_each(|(dy, source)| *dy = source.widen());
            }
        }
        if !bias.is_empty() {
            for_each_row(start, length, bias.len(), |inside, columns| {
                let pairs = x[inside].iter_mut().zip(&bias[columns]);
                pairs.for_each(|(x, &bias)| *x += bias);
            });
        }
        let out = x.as_mut_ptr();
        // SAFETY: the arrays are of this function alone and as long as that; else as for
        // `directly`.
        unsafe {
            let dy = if S::DIRECT { self.places.dy.add(start).cast() } else { dy.as_ptr() };
            self.kernel.run(Places { x: out, dy, out, length });
        }
        if let Some(mask) = mask {
            let mut numbers = [0; STRIP];
            philox::fill(mask.stream(), start as u64, &mut numbers[..length]);
            let (threshold, scale) = (mask.threshold, S::Lane::of(mask.scale()));
            for (value, number) in x.iter_mut().zip(numbers) {
                // A choice, not a product: what is dropped is 0 even if it was NaN or infinite.
                *value = if number >= threshold { *value * scale } else { S::Lane::ZERO };
            }
        }
        if !sums.is_empty() {
            for_each_row(start, length, sums.len(), |inside, columns| {
                let rows = sums[columns].iter_mut().zip(&x[inside]);
                rows.for_each(|(sum, value)| *sum += *value);
            });
        }
        for (index, &value) in x[..length].iter().enumerate() {
            // SAFETY: as for `directly`.
            unsafe { self.places.out.add(start + index).write(S::narrow(value)) };
        }
    }
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
