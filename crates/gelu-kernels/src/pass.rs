//! Passes over slices: a function with 16-bit types, bias, dropout, and sums over rows.

mod chunk;

use self::chunk::Chunk;
use crate::checks::expect_length;
use crate::float::Float;
use crate::functions::Unit;
use crate::kernel::{Arguments, Kernel, Quantity};
use crate::level::Level;
use crate::random::Mask;
use crate::shared_slice::SharedSlice;
use crate::storage::Storage;
use crate::threads::{self, Chunks, PARALLEL, PARALLEL_COPY, Threads};
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;

/// A function with an optional bias and dropout, applied to a slice of `S`:
/// `out[i] = keep(i)·f(x[i] + bias[i mod bias.len()])`. For the gradient, `f′` replaces `f`, and the result is
/// multiplied by `dy[i]`.
#[derive(Clone, Debug)]
pub struct Pass<S: Storage> {
    unit: Unit,
    /// One number per column; empty without a bias.
    bias: Vec<S::Float>,
    /// The dropout mask: which elements become 0, and the factor of the others.
    mask: Option<Mask>,
    level: Level,
}

impl<S: Storage> Pass<S> {
    /// Creates a pass that only applies the function.
    ///
    /// # Panics
    ///
    /// If the unit's parameter is out of range ([`Unit::validated`]).
    pub fn new(unit: Unit) -> Self {
        let unit = unit.checked();
        Self { unit, bias: Vec::new(), mask: None, level: Level::best() }
    }

    /// Adds `bias` before the function, and the dropout `mask` after it.
    pub fn with(self, bias: &[S], mask: Option<Mask>) -> Self {
        Self { bias: bias.iter().map(|&bias| bias.widen()).collect(), mask, ..self }
    }

    /// Uses the instructions of this level.
    pub fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// Returns the results for `x`.
    pub fn map(&self, x: &[S]) -> Vec<S> {
        let mut out = Vec::with_capacity(x.len());
        self.write(x, &mut out.spare_capacity_mut()[..x.len()]);
        // SAFETY: the pass has written every element.
        unsafe { out.set_len(x.len()) };
        out
    }

    /// Writes the results for `x` to `out`, all of it, whatever it was before.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn write(&self, x: &[S], out: &mut [MaybeUninit<S>]) {
        Self::expect(x, [("out", out.len())]);
        let results = SharedSlice::uninit(out);
        self.run(Quantity::Value, Source::Slice(x), Source::Results, results, x.len());
    }

    /// Writes the results for `x` to `out`.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn map_into(&self, x: &[S], out: &mut [S]) {
        Self::expect(x, [("out", out.len())]);
        let results = SharedSlice::new(out);
        self.run(Quantity::Value, Source::Slice(x), Source::Results, results, x.len());
    }

    /// Replaces each of `values` by its result.
    pub fn map_in_place(&self, values: &mut [S]) {
        let length = values.len();
        let results = SharedSlice::new(values);
        self.run(Quantity::Value, Source::Results, Source::Results, results, length);
    }

    /// Returns the product of `dy` with the derivative at `x`, and the product's sum over the rows if there is a
    /// bias. Without a bias the second vector is empty.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn scale(&self, x: &[S], dy: &[S]) -> (Vec<S>, Vec<S>) {
        Self::expect(x, [("dy", dy.len())]);
        let mut out = Vec::with_capacity(x.len());
        let results = SharedSlice::uninit(&mut out.spare_capacity_mut()[..x.len()]);
        let (x, dy, length) = (Source::Slice(x), Source::Slice(dy), x.len());
        let sums = self.run(Quantity::Derivative, x, dy, results, length);
        // SAFETY: the pass has written every element.
        unsafe { out.set_len(length) };
        (out, sums)
    }

    /// Does the same as [`scale`](Self::scale), but writes the product to `out`, and returns only the sums.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn scale_into(&self, x: &[S], dy: &[S], out: &mut [S]) -> Vec<S> {
        Self::expect(x, [("dy", dy.len()), ("out", out.len())]);
        let results = SharedSlice::new(out);
        let (x, dy, length) = (Source::Slice(x), Source::Slice(dy), x.len());
        self.run(Quantity::Derivative, x, dy, results, length)
    }

    /// Does the same as [`scale`](Self::scale), but writes the product to `dy`, and returns only the sums.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn scale_in_place(&self, x: &[S], dy: &mut [S]) -> Vec<S> {
        Self::expect(x, [("dy", dy.len())]);
        let results = SharedSlice::new(dy);
        self.run(Quantity::Derivative, Source::Slice(x), Source::Results, results, x.len())
    }

    fn expect<const COUNT: usize>(x: &[S], others: [(&str, usize); COUNT]) {
        for (argument, found) in others {
            expect_length(argument, found, x.len(), format_args!("one for each of `x`"));
        }
    }

    /// Returns whether the pass only applies the function.
    fn is_direct(&self) -> bool {
        S::DIRECT && self.bias.is_empty() && self.mask.is_none()
    }

    /// Processes the slice in chunks, and returns the sums over rows. The chunks and their sums do not depend on
    /// the number of threads.
    fn run(
        &self,
        quantity: Quantity,
        x: Source<'_, S>,
        dy: Source<'_, S>,
        results: SharedSlice<'_, S>,
        length: usize,
    ) -> Vec<S> {
        let kernel = Kernel::new(quantity, self.unit, self.level);
        let is_direct = self.is_direct();
        // Each chunk has its own sums, so chunks are not much shorter than a few rows.
        let columns = if quantity == Quantity::Derivative { self.bias.len() } else { 0 };
        let threads = match is_direct && self.unit.kind().is_cheap() {
            true => Threads::if_worth(length >= PARALLEL_COPY),
            false => Threads::for_work(length, PARALLEL),
        };
        let chunks = Chunks::new(length, 8 * columns);
        let chunk_sums = threads::map(chunks.count(), threads, |index| {
            let range = chunks.range(index);
            let mut sums = vec![S::Float::ZERO; columns];
            let out = results.pointer(range.clone());
            let [x, dy] = [x, dy].map(|source| source.at(range.clone(), out));
            let arguments = Arguments { dy, ..Arguments::new(x, out, range.len()) };
            if is_direct {
                // SAFETY: the slices are borrowed during the call, and no other thread uses this chunk. `S` and its
                // float are the same type, because the pass is direct.
                unsafe { kernel.run(arguments.cast()) };
            } else {
                let chunk = Chunk { pass: self, kernel, quantity, arguments, start: range.start };
                self.level.run((chunk, sums.as_mut_slice()));
            }
            sums
        });
        let mut total = vec![S::Float::ZERO; columns];
        for sums in chunk_sums {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        total.into_iter().map(S::narrow).collect()
    }
}

/// The memory that a pass reads.
#[derive(Clone, Copy)]
enum Source<'a, S> {
    Slice(&'a [S]),
    /// The slice that the pass writes to.
    Results,
}

impl<S> Source<'_, S> {
    /// Returns a pointer to the start of a range whose results go to `out`.
    fn at(self, range: Range<usize>, out: *mut S) -> *const S {
        match self {
            Self::Slice(numbers) => numbers[range].as_ptr(),
            Self::Results => out.cast_const(),
        }
    }
}
