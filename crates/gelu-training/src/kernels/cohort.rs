//! The layers of many networks of one shape, one behind the other in memory. Each network's numbers come from the
//! kernels that it would have alone, so that its bits depend neither on how many others there are nor on them.

use crate::kernels::AdamStep;
use crate::kernels::adam::adam;
use crate::kernels::blocks::PARALLEL_PRODUCT;
use crate::kernels::checks::{self, expect_length};
use crate::kernels::linear::Sizes;
use crate::kernels::written::written;
use gelu_kernels::threads::{self, PARALLEL, Threads};
use gelu_kernels::{Pass, SharedSlice};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Sizes of a linear layer that each network of a cohort has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CohortSizes {
    /// Networks.
    pub slices: usize,
    /// Their layers' sizes.
    pub layer: Sizes,
}

impl CohortSizes {
    /// The products `x·weight` of all networks, `[slices, batch, outputs]`. Subnormal inputs count as 0.
    ///
    /// # Panics
    ///
    /// If a slice does not have the length that the sizes say, or the sizes are larger than memory.
    pub fn forward(&self, x: &[f32], weight: &[f32]) -> Vec<f32> {
        let Sizes { batch, inputs, outputs } = self.layer;
        let [x, weight] = self.each([("x", x, batch, inputs), ("weight", weight, inputs, outputs)]);
        self.written(batch * outputs, |index, out| {
            self.layer.write_forward(x.of(index), weight.of(index), out);
        })
    }

    /// `gradient·weightᵀ` of all networks, `[slices, batch, inputs]`.
    ///
    /// # Panics
    ///
    /// As [`forward`](Self::forward).
    pub fn input_gradient(&self, weight: &[f32], gradient: &[f32]) -> Vec<f32> {
        let Sizes { batch, inputs, outputs } = self.layer;
        let [weight, gradient] = self
            .each([("weight", weight, inputs, outputs), ("gradient", gradient, batch, outputs)]);
        self.written(batch * inputs, |index, out| {
            self.layer.write_input_gradient(weight.of(index), gradient.of(index), out);
        })
    }

    /// `xᵀ·gradient` of all networks, `[slices, inputs, outputs]`.
    ///
    /// # Panics
    ///
    /// As [`forward`](Self::forward).
    pub fn weight_gradient(&self, x: &[f32], gradient: &[f32]) -> Vec<f32> {
        let Sizes { batch, inputs, outputs } = self.layer;
        let [x, gradient] =
            self.each([("x", x, batch, inputs), ("gradient", gradient, batch, outputs)]);
        self.written(inputs * outputs, |index, out| {
            self.layer.write_weight_gradient(x.of(index), gradient.of(index), out);
        })
    }

    fn each<'a, const COUNT: usize>(
        &self,
        arguments: [(&str, &'a [f32], usize, usize); COUNT],
    ) -> [Slices<'a>; COUNT] {
        let Self { slices, layer: Sizes { batch, inputs, outputs } } = *self;
        for [rows, columns] in [[batch, inputs], [inputs, outputs], [batch, outputs]] {
            checks::product("the matrices of a cohort", &[slices, rows, columns]);
        }
        arguments.map(|(argument, numbers, rows, columns)| {
            let why = format_args!("{slices} times {rows} rows of {columns}");
            expect_length(argument, numbers.len(), slices * rows * columns, why);
            Slices { numbers, length: rows * columns }
        })
    }

    /// So many numbers of each network, all of which `write` writes.
    fn written(
        &self,
        length: usize,
        write: impl Fn(usize, &mut [MaybeUninit<f32>]) + Sync,
    ) -> Vec<f32> {
        let Self { slices, layer: Sizes { batch, inputs, outputs } } = *self;
        let operations = batch.saturating_mul(inputs).saturating_mul(outputs);
        let threads = Threads::for_work(operations.saturating_mul(slices), PARALLEL_PRODUCT);
        // SAFETY: each part is written.
        unsafe { written_by_slice(slices, length, threads, write) }
    }
}

/// The same numbers of all networks.
#[derive(Clone, Copy)]
struct Slices<'a> {
    numbers: &'a [f32],
    length: usize,
}

impl<'a> Slices<'a> {
    fn of(self, index: usize) -> &'a [f32] {
        &self.numbers[range(index, self.length)]
    }
}

fn range(index: usize, length: usize) -> Range<usize> {
    index * length..(index + 1) * length
}

/// # Safety
///
/// `write` has to write every number that it is given.
unsafe fn written_by_slice(
    slices: usize,
    length: usize,
    threads: Threads,
    write: impl Fn(usize, &mut [MaybeUninit<f32>]) + Sync,
) -> Vec<f32> {
    let write_all = |out: &mut [_]| {
        let whole = SharedSlice::uninit(out);
        threads::map(slices, threads, |index| {
            // SAFETY: the networks' parts do not overlap.
            write(index, unsafe { whole.uninit_range(range(index, length)) });
        });
    };
    // SAFETY: all parts are written, as the caller promises.
    unsafe { written(slices * length, write_all) }
}

/// The results of each network's own pass for its part of `x`.
///
/// # Panics
///
/// If `x` is not as long for each pass.
pub fn map(passes: &[Pass<f32>], x: &[f32]) -> Vec<f32> {
    let slices = parts_of("x", x, passes.len());
    let threads = Threads::for_work(x.len(), PARALLEL);
    // SAFETY: a pass writes all of its part.
    unsafe {
        written_by_slice(passes.len(), slices.length, threads, |index, out| {
            passes[index].write(slices.of(index), out);
        })
    }
}

/// The product of each part of `dy`, in its place, with the derivative of its network's pass at `x`, and its sums
/// over the rows.
///
/// # Panics
///
/// If the lengths differ, or are not a multiple of the number of passes.
pub fn scale_in_place(passes: &[Pass<f32>], x: &[f32], dy: &mut [f32]) -> Vec<f32> {
    let slices = parts_of("x", x, passes.len());
    expect_length("dy", dy.len(), x.len(), format_args!("one for each of `x`"));
    let threads = Threads::for_work(x.len(), PARALLEL);
    let whole = SharedSlice::new(dy);
    let sums = threads::map(passes.len(), threads, |index| {
        // SAFETY: the networks' parts do not overlap.
        let dy = unsafe { whole.range(range(index, slices.length)) };
        passes[index].scale_in_place(slices.of(index), dy)
    });
    sums.concat()
}

/// One step of [`adam`] of each network, by its own numbers.
///
/// # Panics
///
/// If the lengths differ, or are not a multiple of the number of steps.
pub fn adam_each(
    parameter: &[f32],
    gradient: &mut [f32],
    moment_1: &mut [f32],
    moment_2: &mut [f32],
    steps: &[AdamStep],
) {
    let slices = parts_of("parameter", parameter, steps.len());
    let others = [gradient, moment_1, moment_2];
    for (argument, other) in ["gradient", "moment_1", "moment_2"].into_iter().zip(&others) {
        let why = format_args!("as long as `parameter`");
        expect_length(argument, other.len(), parameter.len(), why);
    }
    let threads = Threads::for_work(parameter.len(), PARALLEL);
    let others = others.map(SharedSlice::new);
    threads::map(steps.len(), threads, |index| {
        let range = range(index, slices.length);
        // SAFETY: the networks' parts do not overlap.
        let [gradient, moment_1, moment_2] =
            others.each_ref().map(|other| unsafe { other.range(range.clone()) });
        adam(slices.of(index), gradient, moment_1, moment_2, steps[index]);
    });
}

fn parts_of<'a>(argument: &str, numbers: &'a [f32], count: usize) -> Slices<'a> {
    let length = numbers.len() / count.max(1);
    let why = format_args!("as many for each of {count} networks");
    expect_length(argument, numbers.len(), count * length, why);
    Slices { numbers, length }
}
