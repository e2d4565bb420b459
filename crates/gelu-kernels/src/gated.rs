//! Gated units: each row is a gate and a value, and the result their product after the gate went
//! through a function.

use crate::GateHalf;
use crate::disjoint::Disjoint;
use crate::functions::Unit;
use crate::lane::{Kernel, Lane, Of};
use crate::level::{Level, Work};
use crate::storage::Storage;
use crate::threads::for_each_chunk;
use core::mem::MaybeUninit;
use core::ops::Range;

/// How many numbers are worked on together: few enough for a processor's first cache.
const PART: usize = 1024;

/// How the rows of a gated unit's input are divided.
#[derive(Clone, Copy, Debug)]
pub struct Halves {
    /// The length of a half.
    pub columns: usize,
    gate: GateHalf,
}

/// A stretch of one row: where it begins in the output, and its gates and values in the input.
struct Part {
    output: usize,
    gate: usize,
    value: usize,
    count: usize,
}

impl Halves {
    /// The halves of the last dimension.
    pub fn of(shape: &[usize], gate: GateHalf) -> Self {
        Self { columns: shape.last().map_or(0, |whole| whole / 2), gate }
    }

    /// # Panics
    ///
    /// If so many results are no number of whole rows: some gates would have no value.
    fn assert_rows(self, results: usize) {
        let whole = results.is_multiple_of(self.columns.max(1));
        assert!(whole, "{results} results are no rows of {}", self.columns);
    }

    /// The part of a range of the output that it begins with, at most [`PART`] long and within one
    /// row.
    #[inline(always)]
    fn first_part(self, range: &Range<usize>) -> Part {
        let output = range.start;
        let (row, column) = (output / self.columns, output % self.columns);
        let count = (self.columns - column).min(range.len()).min(PART);
        let first = 2 * row * self.columns + column;
        let (gate, value) = match self.gate {
            GateHalf::First => (first, first + self.columns),
            GateHalf::Last => (first + self.columns, first),
        };
        Part { output, gate, value, count }
    }
}

/// Writes `unit(gate)·value` to `y`, and gives it back written.
///
/// # Panics
///
/// If `x` is not twice as long as `y`, or `y` is no number of whole rows.
pub fn gated<'a, S: Storage>(
    unit: Unit,
    halves: Halves,
    x: &[S],
    y: &'a mut [MaybeUninit<S>],
) -> &'a mut [S] {
    assert_eq!(x.len(), 2 * y.len(), "two inputs for every result");
    halves.assert_rows(y.len());
    let level = Level::best();
    let kernel = Kernel::new(Of::Gate, unit.kind(), unit.parameter(), level);
    let (length, out) = (y.len(), Disjoint::of_unwritten(y));
    for_each_chunk(length, 0, |range| {
        level.run(Forward { halves, kernel, x, out: &out, range });
    });
    // SAFETY: the ranges are all of the results, and each has been written.
    unsafe { y.assume_init_mut() }
}

/// Writes the gradient of [`gated`]'s result for `x` to `dx`, given that of the result, and gives it
/// back written.
///
/// # Panics
///
/// If `x` and `dx` are not twice as long as `dy`, or `dy` is no number of whole rows.
pub fn gated_backward<'a, S: Storage>(
    unit: Unit,
    halves: Halves,
    x: &[S],
    dy: &[S],
    dx: &'a mut [MaybeUninit<S>],
) -> &'a mut [S] {
    assert_eq!(x.len(), 2 * dy.len(), "two inputs for every gradient");
    assert_eq!(x.len(), dx.len(), "a result for every input");
    halves.assert_rows(dy.len());
    let level = Level::best();
    let value = Kernel::new(Of::Gate, unit.kind(), unit.parameter(), level);
    let derivative = Kernel::new(Of::GateDerivative, unit.kind(), unit.parameter(), level);
    let out = Disjoint::of_unwritten(dx);
    for_each_chunk(dy.len(), 0, |range| {
        level.run(Backward { halves, value, derivative, x, dy, out: &out, range });
    });
    // SAFETY: every gradient belongs to one gate and one value, which are all of the input; each
    // has been written.
    unsafe { dx.assume_init_mut() }
}

struct Forward<'a, S: Storage> {
    halves: Halves,
    kernel: Kernel<S::Lane>,
    x: &'a [S],
    /// The output, of which a range is ours.
    out: &'a Disjoint<'a, S>,
    range: Range<usize>,
}

impl<S: Storage> Work for Forward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { halves, kernel, x, out, mut range } = self;
        let mut gates = [S::Lane::ZERO; PART];
        while !range.is_empty() {
            let Part { output, gate, value, count } = halves.first_part(&range);
            widen(&x[gate..gate + count], &mut gates);
            kernel.replace(&mut gates[..count]);
            // SAFETY: the part lies within the range, which is ours.
            let y = unsafe { out.unwritten_part(output..output + count) };
            write_products(&gates, &x[value..value + count], y);
            range.start += count;
        }
    }
}

struct Backward<'a, S: Storage> {
    halves: Halves,
    value: Kernel<S::Lane>,
    derivative: Kernel<S::Lane>,
    x: &'a [S],
    dy: &'a [S],
    /// The input's gradient, of which the gates and values of a range are ours.
    out: &'a Disjoint<'a, S>,
    range: Range<usize>,
}

impl<S: Storage> Work for Backward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { halves, x, dy, out, mut range, .. } = self;
        let mut gates = [S::Lane::ZERO; PART];
        let mut products = [S::Lane::ZERO; PART];
        while !range.is_empty() {
            let Part { output, gate, value, count } = halves.first_part(&range);
            let (inputs, values) = (&x[gate..gate + count], &x[value..value + count]);
            let dy = &dy[output..output + count];
            // SAFETY: the part's gates and values lie within what is ours, in different halves.
            let [dgates, dvalues] =
                unsafe { [gate, value].map(|start| out.unwritten_part(start..start + count)) };
            widen(inputs, &mut gates);
            self.value.replace(&mut gates[..count]);
            write_products(&gates, dy, dvalues);
            for ((product, dy), value) in products.iter_mut().zip(dy).zip(values) {
                *product = dy.widen() * value.widen();
            }
            widen(inputs, &mut gates);
            self.derivative.scale(&gates[..count], &mut products[..count]);
            for (out, product) in dgates.iter_mut().zip(&products) {
                out.write(S::narrow(*product));
            }
            range.start += count;
        }
    }
}

#[inline(always)]
fn widen<S: Storage>(inputs: &[S], results: &mut [S::Lane; PART]) {
    results.iter_mut().zip(inputs).for_each(|(result, input)| *result = input.widen());
}

#[inline(always)]
fn write_products<S: Storage>(
    numbers: &[S::Lane; PART],
    factors: &[S],
    results: &mut [MaybeUninit<S>],
) {
    for ((result, number), factor) in results.iter_mut().zip(numbers).zip(factors) {
        result.write(S::narrow(*number * factor.widen()));
    }
}
