//! What is around a function: 16-bit types, bias, dropout, sums over rows.

mod strips;

use self::strips::Strips;
use crate::checks::expect_length;
use crate::disjoint::Disjoint;
use crate::functions::Unit;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::level::Level;
use crate::places::{Of, Places};
use crate::random::Mask;
use crate::storage::Storage;
use crate::threads::{PARALLEL, PARALLEL_COPY, Threads, for_each_chunk_on};
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
        Self::expect(x, [("out", out.len())]);
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
        Self::expect(x, [("out", out.len())]);
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
        Self::expect(x, [("dy", dy.len())]);
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
        Self::expect(x, [("dy", dy.len()), ("out", out.len())]);
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
        Self::expect(x, [("dy", dy.len()), ("out", out.len())]);
        let places = Disjoint::of(out);
        self.run(Of::Derivative, Source::Apart(x), Source::Apart(dy), places, x.len())
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
