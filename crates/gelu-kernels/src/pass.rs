//! What is around a function: 16-bit types, bias, dropout, sums over rows.

use crate::disjoint::Disjoint;
use crate::functions::Unit;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::level::{Level, Work};
use crate::places::{Of, Places};
use crate::random::{Mask, philox};
use crate::storage::Storage;
use crate::threads::{PARALLEL, PARALLEL_COPY, Threads, for_each_chunk_on};
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;

/// How many numbers a strip works on at a time where it does more than call the function.
const STRIP: usize = 1024;

/// `out[i] = keep(i)·f(x[i] + bias[i mod bias.len()])`, or with `f′` and times `dy[i]`: what is
/// done to a slice of `S`.
#[derive(Clone, Debug)]
pub struct Pass<S: Storage> {
    unit: Unit,
    /// One number a column; none for none.
    bias: Vec<S::Lane>,
    /// Which elements become 0, and what the others are scaled by.
    mask: Option<Mask>,
    level: Level,
}

impl<S: Storage> Pass<S> {
    /// The function alone.
    ///
    /// # Panics
    ///
    /// If the unit's parameter is none that it takes ([`Unit::validated`]).
    pub fn new(unit: Unit) -> Self {
        let unit = unit.checked();
        Self { unit, bias: Vec::new(), mask: None, level: Level::best() }
    }

    /// With a bias added before it, and dropout after it.
    pub fn with(self, bias: &[S], mask: Option<Mask>) -> Self {
        Self { bias: bias.iter().map(|&bias| bias.widen()).collect(), mask, ..self }
    }

    /// By these instructions.
    pub fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// Reads `x` and writes `out`, which it gives back written.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn map<'a>(&self, x: &[S], out: &'a mut [MaybeUninit<S>]) -> &'a mut [S] {
        assert_eq!(x.len(), out.len(), "a result for every input");
        let places = Disjoint::of_unwritten(out);
        self.run(Of::Value, Source::Apart(x), Source::InPlace, places, x.len());
        // SAFETY: the pass has written every one of them.
        unsafe { out.assume_init_mut() }
    }

    /// Reads `x` and writes `out`.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn map_into(&self, x: &[S], out: &mut [S]) {
        assert_eq!(x.len(), out.len(), "a result for every input");
        self.run(Of::Value, Source::Apart(x), Source::InPlace, Disjoint::of(out), x.len());
    }

    /// Replaces `values`.
    pub fn map_in_place(&self, values: &mut [S]) {
        let length = values.len();
        let places = Disjoint::of(values);
        self.run(Of::Value, Source::InPlace, Source::InPlace, places, length);
    }

    /// Replaces `dy` by its product with the derivative at `x`, and returns its sum over the rows
    /// if there is a bias (else nothing).
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn scale_in_place(&self, x: &[S], dy: &mut [S]) -> Vec<S> {
        assert_eq!(x.len(), dy.len(), "a factor for every input");
        let places = Disjoint::of(dy);
        self.run(Of::Derivative, Source::Apart(x), Source::InPlace, places, x.len())
    }

    /// As [`scale_in_place`](Self::scale_in_place), into `out`, which it gives back written.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn scale<'a>(
        &self,
        x: &[S],
        dy: &[S],
        out: &'a mut [MaybeUninit<S>],
    ) -> (&'a mut [S], Vec<S>) {
        assert_eq!(x.len(), dy.len(), "a factor for every input");
        assert_eq!(x.len(), out.len(), "a result for every input");
        let places = Disjoint::of_unwritten(out);
        let sums = self.run(Of::Derivative, Source::Apart(x), Source::Apart(dy), places, x.len());
        // SAFETY: the pass has written every one of them.
        (unsafe { out.assume_init_mut() }, sums)
    }

    /// As [`scale`](Self::scale), into numbers.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn scale_into(&self, x: &[S], dy: &[S], out: &mut [S]) -> Vec<S> {
        assert_eq!(x.len(), dy.len(), "a factor for every input");
        assert_eq!(x.len(), out.len(), "a result for every input");
        let places = Disjoint::of(out);
        self.run(Of::Derivative, Source::Apart(x), Source::Apart(dy), places, x.len())
    }

    /// Whether there is nothing but the function.
    fn is_direct(&self) -> bool {
        S::DIRECT && self.bias.is_empty() && self.mask.is_none()
    }

    /// Chunk by chunk. A chunk's work and its sums do not depend on how many threads there are.
    fn run(
        &self,
        of: Of,
        x: Source<'_, S>,
        dy: Source<'_, S>,
        out: Disjoint<'_, S>,
        length: usize,
    ) -> Vec<S> {
        let (kind, parameter) = (self.unit.kind(), self.unit.parameter());
        let kernel = Kernel::new(of, kind, parameter, self.level);
        let derivative = matches!(of, Of::Derivative);
        // Sums are kept chunk by chunk, so these are not much shorter than some rows.
        let columns = if derivative { self.bias.len() } else { 0 };
        let copies = self.is_direct() && kind.is_cheap();
        let threads = match copies {
            true => Threads::if_it(length >= PARALLEL_COPY),
            false => Threads::worth(length, PARALLEL),
        };
        let chunk_sums = for_each_chunk_on(threads, length, 8 * columns, |range| {
            let mut sums = vec![S::Lane::ZERO; columns];
            let place = out.at(range.clone());
            let [x, dy] = [x, dy].map(|source| source.at(range.clone(), place));
            let places = Places { x, dy, out: place, length: range.len() };
            let strips = Strips { pass: self, kernel, derivative, places, start: range.start };
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

/// Where a pass reads.
#[derive(Clone, Copy)]
enum Source<'a, S> {
    Apart(&'a [S]),
    /// Where it writes.
    InPlace,
}

impl<S> Source<'_, S> {
    /// The start of a range, of which the results go to `out`.
    fn at(self, range: Range<usize>, out: *mut S) -> *const S {
        match self {
            Self::Apart(numbers) => numbers[range].as_ptr(),
            Self::InPlace => out.cast_const(),
        }
    }
}

/// A chunk of a pass, worked through from its start to its end.
struct Strips<'a, S: Storage> {
    pass: &'a Pass<S>,
    kernel: Kernel<S::Lane>,
    derivative: bool,
    /// Those of the chunk.
    places: Places<S>,
    /// How many numbers are before it.
    start: usize,
}

impl<S: Storage> Work for (Strips<'_, S>, &mut [S::Lane]) {
    type Output = ();

    /// Does the work, and adds each column's results to the sums, if there are any.
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (strips, sums) = self;
        let Strips { pass, places, .. } = &strips;
        if pass.is_direct() {
            strips.directly();
            return;
        }
        let mut done = 0;
        while done < places.length {
            let length = STRIP.min(places.length - done);
            strips.strip(done, length, sums);
            done += length;
        }
    }
}

impl<S: Storage> Strips<'_, S> {
    /// The function alone, on numbers that are computed in their own type.
    #[inline(always)]
    fn directly(&self) {
        let Places { x, dy, out, length } = self.places;
        // SAFETY: `Pass::run` made the places of slices that are borrowed meanwhile, and no other
        // thread has this chunk of them. The types are one.
        unsafe { self.kernel.run(Places { x: x.cast(), dy: dy.cast(), out: out.cast(), length }) };
    }

    /// Elements `done..done + length` of the chunk, at most [`STRIP`]: widened, with bias and dropout.
    #[inline(always)]
    fn strip(&self, done: usize, length: usize, sums: &mut [S::Lane]) {
        let Pass { bias, mask, .. } = self.pass;
        let start = self.start + done;
        let mut x = [S::Lane::ZERO; STRIP];
        let mut dy = [S::Lane::ZERO; STRIP];
        // SAFETY: as for `directly`; these borrows end before anything is written.
        unsafe {
            let source = core::slice::from_raw_parts(self.places.x.add(done), length);
            x.iter_mut().zip(source).for_each(|(x, source)| *x = source.widen());
            if self.derivative && !S::DIRECT {
                let source = core::slice::from_raw_parts(self.places.dy.add(done), length);
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
            let dy = if S::DIRECT { self.places.dy.add(done).cast() } else { dy.as_ptr() };
            self.kernel.run(Places { x: out, dy, out, length });
        }
        if let Some(mask) = mask {
            let mut numbers = [0; STRIP];
            philox::fill(mask.stream(), start as u64, &mut numbers[..length]);
            let (threshold, scale) = (mask.threshold(), S::Lane::of(f64::from(mask.scale())));
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
            unsafe { self.places.out.add(done + index).write(S::narrow(value)) };
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
