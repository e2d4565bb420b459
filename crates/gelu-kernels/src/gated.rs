//! Gated units: the product of a value and of a gate that went through a function. Gates and values are
//! the halves of rows, or slices of their own.

use crate::GateHalf;
use crate::checks::{expect_length, expect_rows};
use crate::disjoint::Disjoint;
use crate::functions::Unit;
use crate::kernel::{GateKernel, Kernel};
use crate::lane::Lane;
use crate::level::{Level, Work};
use crate::places::Of;
use crate::storage::Storage;
use crate::threads::for_each_chunk;
use core::mem::MaybeUninit;
use core::ops::Range;

/// How many numbers are worked on together: few enough for a processor's first cache.
const PART: usize = 1024;

/// How the rows of a gated unit's input are divided.
#[derive(Clone, Copy, Debug)]
pub struct Halves {
    columns: usize,
    gate: GateHalf,
}

impl Halves {
    /// The halves of the last dimension.
    ///
    /// # Panics
    ///
    /// If there is none, or it is odd.
    pub fn of(shape: &[usize], gate: GateHalf) -> Self {
        match shape.last() {
            Some(whole) if whole.is_multiple_of(2) => Self { columns: whole / 2, gate },
            _ => panic!(
                "`shape` is {shape:?}, expected an even last dimension: one half of it is the gate, the \
                 other the value"
            ),
        }
    }

    /// The length of a half.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// # Panics
    ///
    /// If `x` is not whole rows of two halves.
    fn expect_rows(self, x: usize) {
        expect_rows("x", x, 2 * self.columns, format_args!("whole rows of a gate and a value"));
    }

    /// Where the first gate and the first value are.
    fn starts(self) -> [usize; 2] {
        match self.gate {
            GateHalf::First => [0, self.columns],
            GateHalf::Last => [self.columns, 0],
        }
    }

    /// The rows of a half, each of which the other half's follows.
    fn rows(self) -> Rows {
        Rows { columns: self.columns, stride: 2 * self.columns }
    }
}

/// Rows of so many numbers, in steps of a stride.
#[derive(Clone, Copy, Debug)]
struct Rows {
    columns: usize,
    stride: usize,
}

/// A stretch of one row: where it begins in the output, and where from the first gate or value.
struct Part {
    output: usize,
    input: usize,
    count: usize,
}

impl Rows {
    /// The part of a range of the output that it begins with, at most [`PART`] long and within one
    /// row.
    #[inline(always)]
    fn first_part(self, range: &Range<usize>) -> Part {
        let output = range.start;
        let (row, column) = (output / self.columns, output % self.columns);
        let count = (self.columns - column).min(range.len()).min(PART);
        Part { output, input: row * self.stride + column, count }
    }
}

/// Writes `unit(gate)·value` of the halves of `x` to `y`, and gives it back written.
///
/// # Panics
///
/// If `x` is not whole rows of two halves, `y` is not half as long, or the unit does not take its parameter.
pub fn gated<'a, S: Storage>(
    unit: Unit,
    halves: Halves,
    x: &[S],
    y: &'a mut [MaybeUninit<S>],
) -> &'a mut [S] {
    halves.expect_rows(x.len());
    expect_length("y", y.len(), x.len() / 2, format_args!("half as many as `x`"));
    let [gates, values] = halves.starts().map(|start| x.get(start..).unwrap_or_default());
    forward(unit, halves.rows(), gates, values, y)
}

/// Writes `unit(gate)·value` to `y`, and gives it back written.
///
/// # Panics
///
/// If the lengths differ, or the unit does not take its parameter.
pub fn gated_pair<'a, S: Storage>(
    unit: Unit,
    gates: &[S],
    values: &[S],
    y: &'a mut [MaybeUninit<S>],
) -> &'a mut [S] {
    for (argument, found) in [("values", values.len()), ("y", y.len())] {
        expect_length(argument, found, gates.len(), format_args!("as many as `gates`"));
    }
    forward(unit, Rows { columns: y.len(), stride: y.len() }, gates, values, y)
}

/// The rows of gates and values reach as far as the results.
fn forward<'a, S: Storage>(
    unit: Unit,
    rows: Rows,
    gates: &[S],
    values: &[S],
    y: &'a mut [MaybeUninit<S>],
) -> &'a mut [S] {
    let (unit, level) = (unit.checked(), Level::best());
    let kernel = Kernel::new(Of::Gate, unit.kind(), unit.parameter(), level);
    let (length, out) = (y.len(), Disjoint::of_unwritten(y));
    for_each_chunk(length, 0, |range| {
        level.run(Forward { rows, kernel, gates, values, out: &out, range });
    });
    // SAFETY: the ranges are all of the results, and each has been written.
    unsafe { y.assume_init_mut() }
}

/// Writes the gradient of [`gated`]'s result for `x` to `dx`, given that of the result, and gives it
/// back written.
///
/// # Panics
///
/// If `x` is not whole rows of two halves, `dy` is not half as long or `dx` not as long, or the unit does not take
/// its parameter.
pub fn gated_backward<'a, S: Storage>(
    unit: Unit,
    halves: Halves,
    x: &[S],
    dy: &[S],
    dx: &'a mut [MaybeUninit<S>],
) -> &'a mut [S] {
    halves.expect_rows(x.len());
    expect_length("dy", dy.len(), x.len() / 2, format_args!("half as many as `x`"));
    expect_length("dx", dx.len(), x.len(), format_args!("as many as `x`"));
    let out = Disjoint::of_unwritten(dx);
    let starts = halves.starts();
    let [gates, values] = starts.map(|start| x.get(start..).unwrap_or_default());
    let [dgates, dvalues] = starts.map(|start| Gradients { out: &out, start });
    backward(unit, halves.rows(), [gates, values], dy, [dgates, dvalues]);
    // SAFETY: every gradient belongs to one gate and one value, which are all of the input; each
    // has been written.
    unsafe { dx.assume_init_mut() }
}

/// Writes the gradients of [`gated_pair`]'s result for the gates and for the values, given that of the
/// result, and gives them back written.
///
/// # Panics
///
/// As [`gated_pair`].
pub fn gated_pair_backward<'g, 'v, S: Storage>(
    unit: Unit,
    gates: &[S],
    values: &[S],
    dy: &[S],
    dgates: &'g mut [MaybeUninit<S>],
    dvalues: &'v mut [MaybeUninit<S>],
) -> (&'g mut [S], &'v mut [S]) {
    let (values_found, found) = (("values", values.len()), ("dgates", dgates.len()));
    for (argument, found) in [values_found, ("dy", dy.len()), found, ("dvalues", dvalues.len())] {
        expect_length(argument, found, gates.len(), format_args!("as many as `gates`"));
    }
    let of_gates = Disjoint::of_unwritten(dgates);
    let of_values = Disjoint::of_unwritten(dvalues);
    let places = [&of_gates, &of_values].map(|out| Gradients { out, start: 0 });
    let rows = Rows { columns: dy.len(), stride: dy.len() };
    backward(unit, rows, [gates, values], dy, places);
    // SAFETY: each has been written.
    unsafe { (dgates.assume_init_mut(), dvalues.assume_init_mut()) }
}

/// Where the gradients for gates or for values go, in rows as those themselves.
#[derive(Clone, Copy)]
struct Gradients<'a, S> {
    out: &'a Disjoint<'a, S>,
    start: usize,
}

/// The rows of gates, values and their gradients reach as far as `dy`, and the gradients do not overlap.
fn backward<S: Storage>(
    unit: Unit,
    rows: Rows,
    [gates, values]: [&[S]; 2],
    dy: &[S],
    [dgates, dvalues]: [Gradients<'_, S>; 2],
) {
    let level = Level::best();
    let kernel = GateKernel::new(unit.checked(), level);
    for_each_chunk(dy.len(), 0, |range| {
        level.run(Backward { rows, kernel, gates, values, dy, dgates, dvalues, range });
    });
}

struct Forward<'a, S: Storage> {
    rows: Rows,
    kernel: Kernel<S::Lane>,
    gates: &'a [S],
    values: &'a [S],
    /// The output, of which a range is ours.
    out: &'a Disjoint<'a, S>,
    range: Range<usize>,
}

impl<S: Storage> Work for Forward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { rows, kernel, gates, values, out, mut range } = self;
        let mut widened = [S::Lane::ZERO; PART];
        while !range.is_empty() {
            let Part { output, input, count } = rows.first_part(&range);
            widen(&gates[input..input + count], &mut widened);
            kernel.replace(&mut widened[..count]);
            // SAFETY: the part lies within the range, which is ours.
            let y = unsafe { out.unwritten_part(output..output + count) };
            write_products(&widened, &values[input..input + count], y);
            range.start += count;
        }
    }
}

struct Backward<'a, S: Storage> {
    rows: Rows,
    kernel: GateKernel<S::Lane>,
    gates: &'a [S],
    values: &'a [S],
    dy: &'a [S],
    /// Of the gradients for gates and values, those of a range are ours.
    dgates: Gradients<'a, S>,
    dvalues: Gradients<'a, S>,
    range: Range<usize>,
}

impl<S: Storage> Work for Backward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { rows, gates, values, dy, dgates, dvalues, mut range, .. } = self;
        let mut widened = [S::Lane::ZERO; PART];
        let mut products = [S::Lane::ZERO; PART];
        while !range.is_empty() {
            let Part { output, input, count } = rows.first_part(&range);
            let (gates, values) = (&gates[input..input + count], &values[input..input + count]);
            let dy = &dy[output..output + count];
            // SAFETY: the part's gates and values lie within what is ours, and do not overlap.
            let [dgates, dvalues] = unsafe {
                [dgates, dvalues].map(|Gradients { out, start }| {
                    out.unwritten_part(start + input..start + input + count)
                })
            };
            widen(gates, &mut widened);
            for ((product, dy), value) in products.iter_mut().zip(dy).zip(values) {
                *product = dy.widen() * value.widen();
            }
            self.kernel.replace_and_scale(&mut widened[..count], &mut products[..count]);
            write_products(&widened, dy, dvalues);
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
