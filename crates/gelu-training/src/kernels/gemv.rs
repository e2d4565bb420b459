//! The product of a single row with weights. It takes as long as reading the weights.

use crate::kernels::blocks::PARALLEL_PRODUCT;
use crate::kernels::product::Matrix;
use gelu_kernels::SharedSlice;
use gelu_kernels::threads::{self, Threads};
use gelu_kernels::{Level, Work};
use std::ops::Range;

/// The smallest number of columns in a part that a thread works on: one page of memory in each row.
const COLUMNS: usize = 1024;
const PARTS: usize = 8;
/// The number of multiplications that take as long as reading a weight.
const READ: usize = 8;

/// Returns `scale·x·weights`. Each element is summed from the first row to the last.
///
/// # Panics
///
/// If `x` has fewer numbers than `weights` has rows.
pub(crate) fn gemv(x: &[f32], weights: Matrix<'_>, scale: f32) -> Vec<f32> {
    let (x, columns) = (&x[..weights.rows()], weights.columns());
    let mut out = vec![0.0; columns];
    let place = SharedSlice::new(&mut out);
    let effort = READ.saturating_mul(x.len()).saturating_mul(columns);
    let threads = Threads::for_work(effort, PARALLEL_PRODUCT);
    let parts = if threads.are_several() { (columns / COLUMNS).clamp(1, PARTS) } else { 1 };
    let level = Level::best();
    threads::map(parts, threads, |part| {
        let [start, end] = [part, part + 1].map(|part| part * columns / parts);
        // SAFETY: the parts do not overlap.
        let out = unsafe { place.range(start..end) };
        level.run(Columns { x, weights, range: start..end, scale, out });
    });
    out
}

/// The work on some columns of the result.
struct Columns<'a> {
    x: &'a [f32],
    weights: Matrix<'a>,
    range: Range<usize>,
    scale: f32,
    /// The results, which are 0 at the start.
    out: &'a mut [f32],
}

impl Work for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        /// The number of rows that are added at a time. The sums are read and written once for all
        /// of them.
        const ROWS: usize = 8;
        const VECTOR: usize = 32;
        let Self { x, weights, range, scale, out } = self;
        let add = |sum: f32, x: f32, weight: f32| match FUSED {
            true => x.mul_add(weight, sum),
            false => x * weight + sum,
        };
        let count = out.len();
        let row = |row: usize| &weights.row(row)[range.clone()][..count];
        let (whole, rest) = x.as_chunks::<ROWS>();
        for (group, x) in whole.iter().enumerate() {
            let rows: [_; ROWS] = std::array::from_fn(|index| {
                let (vectors, rest) = row(group * ROWS + index).as_chunks::<VECTOR>();
                (&vectors[..count / VECTOR], rest)
            });
            let (vectors, rest) = out.as_chunks_mut::<VECTOR>();
            for (index, vector) in vectors.iter_mut().enumerate() {
                // These sums stay in a register.
                let mut sums = *vector;
                for (x, (vectors, _)) in x.iter().zip(&rows) {
                    let weights = &vectors[index];
                    for lane in 0..VECTOR {
                        sums[lane] = add(sums[lane], *x, weights[lane]);
                    }
                }
                *vector = sums;
            }
            for (x, (_, weights)) in x.iter().zip(&rows) {
                rest.iter_mut()
                    .zip(*weights)
                    .for_each(|(sum, weight)| *sum = add(*sum, *x, *weight));
            }
        }
        for (index, x) in rest.iter().enumerate() {
            let row = row(whole.len() * ROWS + index);
            out.iter_mut().zip(row).for_each(|(sum, weight)| *sum = add(*sum, *x, *weight));
        }
        if scale != 1.0 {
            out.iter_mut().for_each(|sum| *sum *= scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_times_weights_is_that_of_the_definition_on_every_level() {
        for [inputs, outputs] in [[0, 3], [1, 1], [7, 300], [8, 31], [130, 513], [784, 1000]] {
            let wave = |length: usize, frequency: f32| -> Vec<f32> {
                (0..length).map(|i| (i as f32 * frequency).sin()).collect()
            };
            let (x, numbers) = (wave(inputs, 0.37), wave(inputs * outputs, 0.53));
            let weights = Matrix::of_rows(&numbers, inputs, outputs, outputs);
            let exact = |column: usize| -> f64 {
                let terms = (0..inputs)
                    .map(|row| f64::from(x[row]) * f64::from(numbers[row * outputs + column]));
                terms.sum()
            };
            let close = |found: &[f32]| {
                found.iter().enumerate().all(|(column, found)| {
                    (f64::from(*found) - 0.5 * exact(column)).abs() <= 1e-6 * inputs as f64
                })
            };
            let found = gemv(&x, weights, 0.5);
            assert!(found.len() == outputs && close(&found), "{inputs} {outputs}");
            for level in Level::available() {
                let mut out = vec![0.0; outputs];
                level.run(Columns { x: &x, weights, range: 0..outputs, scale: 0.5, out: &mut out });
                assert!(close(&out) && (out == found || !level.fuses()), "{level:?}");
            }
        }
    }
}
