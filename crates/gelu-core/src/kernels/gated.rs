//! Gated units: each row is a gate and a value, and the result their product after the gate went
//! through a function.

use super::elementwise::{Kernel, Places};
use super::level::{Level, Work};
use super::storage::{Lane, Storage};
use super::threads::for_each_chunk;
use crate::GateHalf;
use crate::functions::Unit;
use core::mem::MaybeUninit;
use core::ops::Range;

/// How many numbers are worked on together: few enough for a processor's first cache.
const PART: usize = 1024;

/// How the rows of a gated unit's input are divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halves {
    /// The length of a half.
    pub(crate) columns: usize,
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
    pub(crate) fn of(shape: &[usize], gate: GateHalf) -> Self {
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
pub(crate) fn gated<'a, S: Storage>(
    unit: Unit,
    halves: Halves,
    x: &[S],
    y: &'a mut [MaybeUninit<S>],
) -> &'a mut [S] {
    assert_eq!(x.len(), 2 * y.len(), "two inputs for every result");
    halves.assert_rows(y.len());
    let level = Level::best();
    let kernel = Kernel::gate(unit.kind(), unit.parameter(), level);
    let out = Out(y.as_mut_ptr().cast());
    for_each_chunk(y.len(), 0, |range| {
        level.run(Forward { halves, kernel, x, out: out.start(), range });
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
pub(crate) fn gated_backward<'a, S: Storage>(
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
    let value = Kernel::gate(unit.kind(), unit.parameter(), level);
    let derivative = Kernel::gate_derivative(unit.kind(), unit.parameter(), level);
    let out = Out(dx.as_mut_ptr().cast());
    for_each_chunk(dy.len(), 0, |range| {
        level.run(Backward { halves, value, derivative, x, dy, out: out.start(), range });
    });
    // SAFETY: every gradient belongs to one gate and one value, which are all of the input; each
    // has been written.
    unsafe { dx.assume_init_mut() }
}

/// Where threads write.
struct Out<S>(*mut S);

// SAFETY: threads are given disjoint ranges of the output, and with them of what is written.
unsafe impl<S: Send> Sync for Out<S> {}

impl<S> Out<S> {
    fn start(&self) -> *mut S {
        self.0
    }
}

struct Forward<'a, S: Storage> {
    halves: Halves,
    kernel: Kernel<S::Lane>,
    x: &'a [S],
    /// The start of the output, of which a range is ours.
    out: *mut S,
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
            apply(kernel, &mut gates, count);
            // SAFETY: the part lies within the range, which is ours.
            let y = unsafe { core::slice::from_raw_parts_mut(out.add(output).cast(), count) };
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
    /// The start of the input's gradient, of which the gates and values of a range are ours.
    out: *mut S,
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
            let (dgates, dvalues): (&mut [MaybeUninit<S>], &mut [MaybeUninit<S>]) = unsafe {
                (
                    core::slice::from_raw_parts_mut(out.add(gate).cast(), count),
                    core::slice::from_raw_parts_mut(out.add(value).cast(), count),
                )
            };
            widen(inputs, &mut gates);
            apply(self.value, &mut gates, count);
            write_products(&gates, dy, dvalues);
            for ((product, dy), value) in products.iter_mut().zip(dy).zip(values) {
                *product = dy.widen() * value.widen();
            }
            widen(inputs, &mut gates);
            let place = products.as_mut_ptr();
            // SAFETY: the arrays are of this function alone, and no part is longer.
            unsafe {
                let x = gates.as_ptr();
                self.derivative.run(Places { x, dy: place, out: place, length: count });
            }
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

/// The function of the first `count` numbers.
#[inline(always)]
fn apply<E: Lane>(kernel: Kernel<E>, numbers: &mut [E; PART], count: usize) {
    let out = numbers.as_mut_ptr();
    // SAFETY: the array is borrowed for this call, and as long as that.
    unsafe { kernel.run(Places { x: out, dy: out, out, length: count.min(PART) }) };
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
