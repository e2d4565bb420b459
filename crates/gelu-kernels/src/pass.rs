//! What is around a function: 16-bit types, bias, dropout, sums over rows.

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

/// `out[i] = keep(i)·f(x[i] + bias[i mod bias.len()])`, or with `f′` and times `dy[i]`: what is
/// done to a slice of `S`.
#[derive(Clone, Debug)]
pub struct Pass<S: Storage> {
    unit: Unit,
    /// One number a column; none for none.
    bias: Vec<S::Float>,
    /// Which elements become 0, and what the others are scaled by.
    mask: Option<Mask>,
    level: Level,
}

impl<S: Storage> Pass<S> {
    /// The function alone.
    ///
    /// # Panics
    ///
    /// If the unit's parameter is out of range ([`Unit::validated`]).
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

    /// The results for `x`.
    pub fn map(&self, x: &[S]) -> Vec<S> {
        let mut out = Vec::with_capacity(x.len());
        self.write(x, &mut out.spare_capacity_mut()[..x.len()]);
        // SAFETY: the pass has written every one of them.
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

    /// Replaces `values` by the results for them.
    pub fn map_in_place(&self, values: &mut [S]) {
        let length = values.len();
        let results = SharedSlice::new(values);
        self.run(Quantity::Value, Source::Results, Source::Results, results, length);
    }

    /// The product of `dy` with the derivative at `x`, and its sum over the rows if there is a bias (else nothing).
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
        // SAFETY: the pass has written every one of them.
        unsafe { out.set_len(length) };
        (out, sums)
    }

    /// As [`scale`](Self::scale), into `out`.
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

    /// As [`scale`](Self::scale), into `dy` itself.
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

    /// Whether there is nothing but the function.
    fn is_direct(&self) -> bool {
        S::DIRECT && self.bias.is_empty() && self.mask.is_none()
    }

    /// Chunk by chunk. A chunk's work and its sums do not depend on how many threads there are.
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
        // Sums are kept chunk by chunk, so these are not much shorter than some rows.
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
                // SAFETY: the slices are borrowed meanwhile, and no other thread has this chunk of them. The types
                // are one.
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

/// Where a pass reads.
#[derive(Clone, Copy)]
enum Source<'a, S> {
    Slice(&'a [S]),
    /// Where it writes.
    Results,
}

impl<S> Source<'_, S> {
    /// The start of a range, of which the results go to `out`.
    fn at(self, range: Range<usize>, out: *mut S) -> *const S {
        match self {
            Self::Slice(numbers) => numbers[range].as_ptr(),
            Self::Results => out.cast_const(),
        }
    }
}
