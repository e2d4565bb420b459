//! Gated units: the product of a value and an activated gate. Gates and values are the halves of rows, or
//! separate slices.

use crate::GateHalf;
use crate::checks::{expect_length, expect_rows};
use crate::float::Float;
use crate::functions::Unit;
use crate::kernel::{GateKernel, Kernel, Quantity};
use crate::level::{Level, Work};
use crate::shared_slice::SharedSlice;
use crate::storage::Storage;
use crate::threads::{self, Chunks, PARALLEL, Threads};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;

/// The number of elements that are processed together: few enough for a processor's first-level cache.
const BLOCK: usize = 1024;

/// The layout of the rows of a gated unit's input.
#[derive(Clone, Copy, Debug)]
pub struct Halves {
    columns: usize,
    gate: GateHalf,
}

impl Halves {
    /// Creates the layout for an input of this shape, whose last dimension holds both halves.
    ///
    /// # Panics
    ///
    /// If `shape` has no dimension, or its last dimension is odd.
    pub fn of(shape: &[usize], gate: GateHalf) -> Self {
        match shape.last() {
            Some(whole) if whole.is_multiple_of(2) => Self { columns: whole / 2, gate },
            _ => panic!(
                "`shape` is {shape:?}, expected an even last dimension: one half of it is the gate, the \
                 other the value"
            ),
        }
    }

    /// Returns the length of a half.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// Checks that an input of length `x` consists of whole rows.
    ///
    /// # Panics
    ///
    /// If `x` is not a multiple of two halves' length.
    fn expect_rows(self, x: usize) {
        expect_rows("x", x, 2 * self.columns, format_args!("whole rows of a gate and a value"));
    }

    /// Returns the positions of the first gate and of the first value.
    fn starts(self) -> [usize; 2] {
        match self.gate {
            GateHalf::First => [0, self.columns],
            GateHalf::Last => [self.columns, 0],
        }
    }

    /// Returns the rows of one half. A row of the other half lies between every two of them.
    fn rows(self) -> Rows {
        Rows { columns: self.columns, stride: 2 * self.columns }
    }
}

/// Rows of `columns` numbers that begin `stride` numbers apart.
#[derive(Clone, Copy, Debug)]
struct Rows {
    columns: usize,
    stride: usize,
}

/// A block of one row: its position in the output, and its position relative to the first gate or value.
struct Block {
    output: usize,
    input: usize,
    count: usize,
}

impl Rows {
    /// Returns the block at the start of `range`, a range of the output. The block is at most [`BLOCK`]
    /// numbers long and within one row.
    #[inline(always)]
    fn first_block(self, range: &Range<usize>) -> Block {
        let output = range.start;
        let (row, column) = (output / self.columns, output % self.columns);
        let count = (self.columns - column).min(range.len()).min(BLOCK);
        Block { output, input: row * self.stride + column, count }
    }
}

/// Returns `unit(gate)·value` for the halves of the rows of `x`.
///
/// # Panics
///
/// If `x` does not consist of whole rows of two halves, or the unit's parameter is out of range.
pub fn gated<S: Storage>(unit: Unit, halves: Halves, x: &[S]) -> Vec<S> {
    halves.expect_rows(x.len());
    let [gates, values] = halves.starts().map(|start| x.get(start..).unwrap_or_default());
    forward(unit, halves.rows(), gates, values, x.len() / 2)
}

/// Returns `unit(gate)·value` for two slices.
///
/// # Panics
///
/// If the lengths differ, or the unit's parameter is out of range.
pub fn gated_pair<S: Storage>(unit: Unit, gates: &[S], values: &[S]) -> Vec<S> {
    let length = gates.len();
    expect_length("values", values.len(), length, format_args!("as many as `gates`"));
    forward(unit, Rows { columns: length, stride: length }, gates, values, length)
}

/// Returns `length` results. `gates` and `values` have to be long enough for `rows` to reach that far.
fn forward<S: Storage>(unit: Unit, rows: Rows, gates: &[S], values: &[S], length: usize) -> Vec<S> {
    let level = Level::best();
    let kernel = Kernel::new(Quantity::GateValue, unit.checked(), level);
    let mut y = Vec::with_capacity(length);
    let out = SharedSlice::uninit(&mut y.spare_capacity_mut()[..length]);
    let (chunks, threads) = (Chunks::new(length, 0), Threads::for_work(length, PARALLEL));
    threads::map(chunks.count(), threads, |index| {
        let range = chunks.range(index);
        level.run(Forward { rows, kernel, gates, values, out: &out, range });
    });
    // SAFETY: the ranges cover all results, and the work above has written each range.
    unsafe { y.set_len(length) };
    y
}

/// Returns the gradient of [`gated`] for `x`, given the gradient `dy` of its result.
///
/// # Panics
///
/// If `x` does not consist of whole rows of two halves, `dy` is not half as long as `x`, or the unit's
/// parameter is out of range.
pub fn gated_backward<S: Storage>(unit: Unit, halves: Halves, x: &[S], dy: &[S]) -> Vec<S> {
    halves.expect_rows(x.len());
    expect_length("dy", dy.len(), x.len() / 2, format_args!("half as many as `x`"));
    let mut dx = Vec::with_capacity(x.len());
    let out = SharedSlice::uninit(&mut dx.spare_capacity_mut()[..x.len()]);
    let starts = halves.starts();
    let [gates, values] = starts.map(|start| x.get(start..).unwrap_or_default());
    let [dgates, dvalues] = starts.map(|start| Gradients { out: &out, start });
    backward(unit, halves.rows(), [gates, values], dy, [dgates, dvalues]);
    // SAFETY: every element of the input is a gate or a value, and `backward` has written one gradient for
    // each.
    unsafe { dx.set_len(x.len()) };
    dx
}

/// Returns the gradients of [`gated_pair`] for the gates and for the values, given the gradient `dy` of its
/// result.
///
/// # Panics
///
/// If the lengths differ, or the unit's parameter is out of range.
pub fn gated_pair_backward<S: Storage>(
    unit: Unit,
    gates: &[S],
    values: &[S],
    dy: &[S],
) -> (Vec<S>, Vec<S>) {
    let length = gates.len();
    for (argument, found) in [("values", values.len()), ("dy", dy.len())] {
        expect_length(argument, found, length, format_args!("as many as `gates`"));
    }
    let (mut dgates, mut dvalues) = (Vec::with_capacity(length), Vec::with_capacity(length));
    let out = [&mut dgates, &mut dvalues]
        .map(|gradient| SharedSlice::uninit(&mut gradient.spare_capacity_mut()[..length]));
    let gradients = out.each_ref().map(|out| Gradients { out, start: 0 });
    backward(unit, Rows { columns: length, stride: length }, [gates, values], dy, gradients);
    // SAFETY: `backward` has written all gradients.
    unsafe {
        dgates.set_len(length);
        dvalues.set_len(length);
    }
    (dgates, dvalues)
}

/// The destination of the gradients for gates or for values, in the same rows as the gates or values.
#[derive(Clone, Copy)]
struct Gradients<'a, S> {
    out: &'a SharedSlice<'a, S>,
    start: usize,
}

/// Writes the gradients for gates and values. `rows` of gates, values and gradients reach as far as `dy`, and
/// the two gradients must not overlap.
fn backward<S: Storage>(
    unit: Unit,
    rows: Rows,
    [gates, values]: [&[S]; 2],
    dy: &[S],
    [dgates, dvalues]: [Gradients<'_, S>; 2],
) {
    let level = Level::best();
    let kernel = GateKernel::new(unit.checked(), level);
    let length = dy.len();
    let (chunks, threads) = (Chunks::new(length, 0), Threads::for_work(length, PARALLEL));
    threads::map(chunks.count(), threads, |index| {
        let range = chunks.range(index);
        level.run(Backward { rows, kernel, gates, values, dy, dgates, dvalues, range });
    });
}

struct Forward<'a, S: Storage> {
    rows: Rows,
    kernel: Kernel<S::Float>,
    gates: &'a [S],
    values: &'a [S],
    /// The output; this thread alone writes `range` of it.
    out: &'a SharedSlice<'a, S>,
    range: Range<usize>,
}

impl<S: Storage> Work for Forward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { rows, kernel, gates, values, out, mut range } = self;
        let mut widened = [S::Float::ZERO; BLOCK];
        while !range.is_empty() {
            let Block { output, input, count } = rows.first_block(&range);
            widen(&gates[input..input + count], &mut widened);
            kernel.replace(&mut widened[..count]);
            // SAFETY: the block lies within the range, which this thread alone uses.
            let y = unsafe { out.uninit_range(output..output + count) };
            write_products(&widened, &values[input..input + count], y);
            range.start += count;
        }
    }
}

struct Backward<'a, S: Storage> {
    rows: Rows,
    kernel: GateKernel<S::Float>,
    gates: &'a [S],
    values: &'a [S],
    dy: &'a [S],
    /// The gradients for gates and for values; this thread alone writes those of `range`.
    dgates: Gradients<'a, S>,
    dvalues: Gradients<'a, S>,
    range: Range<usize>,
}

impl<S: Storage> Work for Backward<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { rows, gates, values, dy, dgates, dvalues, mut range, .. } = self;
        let mut widened = [S::Float::ZERO; BLOCK];
        let mut products = [S::Float::ZERO; BLOCK];
        while !range.is_empty() {
            let Block { output, input, count } = rows.first_block(&range);
            let (gates, values) = (&gates[input..input + count], &values[input..input + count]);
            let dy = &dy[output..output + count];
            // SAFETY: the block's gradients lie within this thread's range, and those for gates and for
            // values do not overlap.
            let [dgates, dvalues] = unsafe {
                [dgates, dvalues].map(|Gradients { out, start }| {
                    out.uninit_range(start + input..start + input + count)
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
fn widen<S: Storage>(inputs: &[S], results: &mut [S::Float; BLOCK]) {
    results.iter_mut().zip(inputs).for_each(|(result, input)| *result = input.widen());
}

#[inline(always)]
fn write_products<S: Storage>(
    numbers: &[S::Float; BLOCK],
    factors: &[S],
    results: &mut [MaybeUninit<S>],
) {
    for ((result, number), factor) in results.iter_mut().zip(numbers).zip(factors) {
        result.write(S::narrow(*number * factor.widen()));
    }
}
