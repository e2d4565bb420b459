//! The three products of a linear layer, in blocks that threads share. An element of the result is summed in the
//! same order in any block, so that results depend on the sizes alone.

#![allow(unsafe_code, reason = "to set to 0 first what is written over takes its own time")]

use crate::kernels::blocks::for_each_block;
use crate::kernels::checks::{self, expect_length};
use crate::kernels::factors::Factors;
use crate::kernels::gemv::gemv;
use crate::kernels::product::{Matrix, MatrixMut, multiply};
use crate::kernels::transpose::transposed;
use crate::kernels::written::written;
use gelu_kernels::SharedSlice;
use std::mem::MaybeUninit;

/// The number of rows and columns of a block: so many that packing the operands costs little in comparison.
const BLOCK: usize = 512;

/// The size of a result up to which gemm sums in another order, if both factors are contiguous along the sum.
const LARGEST_OF_GEMMS_OWN_LOOP: usize = 256;

/// Returns `scale·left·right`, row by row.
fn product(left: Matrix<'_>, right: Matrix<'_>, scale: f32) -> Vec<f32> {
    let count = left.rows() * right.columns();
    // SAFETY: all of a product is written.
    unsafe { written(count, |out| product_into(left, right, scale, out)) }
}

/// Writes `scale·left·right` over all of `out`.
fn product_into(left: Matrix<'_>, right: Matrix<'_>, scale: f32, out: &mut [MaybeUninit<f32>]) {
    let size = [left.rows(), right.columns()];
    let operations = out.len().saturating_mul(right.rows());
    let whole = SharedSlice::uninit(out);
    for_each_block(size, BLOCK, operations, |rows, columns| {
        // SAFETY: blocks do not overlap.
        let place = unsafe { MatrixMut::of_block(&whole, size[1], rows.clone(), columns.clone()) };
        let left = left.middle_rows(rows.start, rows.len());
        let right = right.middle_columns(columns.start, columns.len());
        multiply(left, right, place, scale);
    });
}

fn copy(numbers: &[f32], out: &mut [MaybeUninit<f32>]) {
    out.write_copy_of_slice(numbers);
}

/// Returns `(scale·left·rightᵀ)ᵀ`, row by row: one row for each row of `right`, which is stored in rows.
fn transposed_product(left: Matrix<'_>, right: Matrix<'_>, scale: f32) -> Vec<f32> {
    let columns = transposed(right);
    let columns = Matrix::of_rows(&columns, right.columns(), right.rows(), right.rows());
    let result = product(left, columns, scale);
    transposed(Matrix::of_rows(&result, left.rows(), right.rows(), right.rows()))
}

/// The sizes of a linear layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The number of rows of the input.
    pub batch: usize,
    /// The number of columns of the input.
    pub inputs: usize,
    /// The number of columns of the output.
    pub outputs: usize,
}

impl Sizes {
    /// Checks the sizes and the lengths of two arguments.
    ///
    /// # Panics
    ///
    /// If the sizes are larger than memory, or the length of an argument does not match its sizes.
    fn expect(&self, arguments: [(&str, &[f32], [usize; 2]); 2]) {
        let Self { batch, inputs, outputs } = *self;
        for sizes in [[batch, inputs], [inputs, outputs], [batch, outputs]] {
            checks::product("a matrix of a linear layer", &sizes);
        }
        for (argument, numbers, [rows, columns]) in arguments {
            let why = format_args!("{rows} rows of {columns}, by {self:?}");
            expect_length(argument, numbers.len(), rows * columns, why);
        }
    }

    fn input<'a>(&self, x: &'a [f32]) -> Matrix<'a> {
        Matrix::of_rows(x, self.batch, self.inputs, self.inputs)
    }

    fn weight<'a>(&self, weight: &'a [f32]) -> Matrix<'a> {
        Matrix::of_rows(weight, self.inputs, self.outputs, self.outputs)
    }

    fn output<'a>(&self, gradient: &'a [f32]) -> Matrix<'a> {
        Matrix::of_rows(gradient, self.batch, self.outputs, self.outputs)
    }

    /// Returns whether the weights exceed a core's own caches. A single column does not count as large, because gemm
    /// sums it in another order.
    fn is_large(&self) -> bool {
        self.outputs > 1 && self.inputs.saturating_mul(self.outputs) >= 1 << 18
    }

    /// Returns whether so few rows are multiplied with the weights' columns that transposing the rows and the
    /// product is faster than gemm's copying of the weights across their rows. As the other factor, gemm reads the
    /// weights along their rows (`cargo bench --bench products`). Results are bit-identical if the result is not so
    /// small that gemm uses a separate loop for it.
    fn is_narrow(&self) -> bool {
        let transposed = self.batch.saturating_mul(self.inputs.saturating_add(self.outputs));
        (2..=128).contains(&self.batch)
            && self.batch.saturating_mul(self.inputs) > LARGEST_OF_GEMMS_OWN_LOOP
            && transposed <= self.inputs.saturating_mul(self.outputs) / 2
    }

    /// Returns whether so many rows are in the product that transposing the weights first is worth it. gemm
    /// transposes them more slowly, and again for each block.
    fn is_wide(&self) -> bool {
        self.batch >= 256 && self.batch.saturating_mul(self.inputs) > LARGEST_OF_GEMMS_OWN_LOOP
    }

    /// Returns `x·weight`, `[batch, outputs]`. Subnormal inputs count as 0, because processors multiply them in slow
    /// microcode.
    ///
    /// # Panics
    ///
    /// If the length of a slice does not match the sizes, or the sizes are larger than memory.
    pub fn forward(&self, x: &[f32], weight: &[f32]) -> Vec<f32> {
        let Self { batch, inputs, outputs } = *self;
        self.expect([("x", x, [batch, inputs]), ("weight", weight, [inputs, outputs])]);
        // SAFETY: all is written.
        unsafe { written(batch * outputs, |out| self.write_forward(x, weight, out)) }
    }

    /// Writes [`forward`](Self::forward) over all of `out`.
    pub(crate) fn write_forward(&self, x: &[f32], weight: &[f32], out: &mut [MaybeUninit<f32>]) {
        let Factors { left, right, scale } = Factors::with_weights(x, weight, self.inputs);
        let (x, weight) = (self.input(&left), self.weight(&right));
        match self.batch == 1 && self.is_large() {
            true => copy(&gemv(&left, weight, scale), out),
            false => product_into(x, weight, scale, out),
        }
    }

    /// Returns `gradient·weightᵀ`, `[batch, inputs]`.
    ///
    /// # Panics
    ///
    /// If the length of a slice does not match the sizes, or the sizes are larger than memory.
    pub fn input_gradient(&self, weight: &[f32], gradient: &[f32]) -> Vec<f32> {
        let Self { batch, inputs, outputs } = *self;
        let of_gradient = ("gradient", gradient, [batch, outputs]);
        self.expect([("weight", weight, [inputs, outputs]), of_gradient]);
        // SAFETY: all is written.
        unsafe { written(batch * inputs, |out| self.write_input_gradient(weight, gradient, out)) }
    }

    /// Writes [`input_gradient`](Self::input_gradient) over all of `out`.
    pub(crate) fn write_input_gradient(
        &self,
        weight: &[f32],
        gradient: &[f32],
        out: &mut [MaybeUninit<f32>],
    ) {
        let Factors { left, right, scale } = Factors::with_weights(gradient, weight, self.outputs);
        let (gradient, weight) = (self.output(&left), self.weight(&right));
        if self.is_narrow() {
            return copy(&transposed_product(weight, gradient, scale), out);
        }
        if !self.is_wide() {
            return product_into(gradient, weight.transposed(), scale, out);
        }
        let columns = transposed(weight);
        let columns = Matrix::of_rows(&columns, self.outputs, self.inputs, self.inputs);
        product_into(gradient, columns, scale, out);
    }

    /// Returns `xᵀ·gradient`, `[inputs, outputs]`.
    ///
    /// # Panics
    ///
    /// If the length of a slice does not match the sizes, or the sizes are larger than memory.
    pub fn weight_gradient(&self, x: &[f32], gradient: &[f32]) -> Vec<f32> {
        let Self { batch, inputs, outputs } = *self;
        let of_gradient = ("gradient", gradient, [batch, outputs]);
        self.expect([("x", x, [batch, inputs]), of_gradient]);
        // SAFETY: all is written.
        unsafe { written(inputs * outputs, |out| self.write_weight_gradient(x, gradient, out)) }
    }

    /// Writes [`weight_gradient`](Self::weight_gradient) over all of `out`.
    pub(crate) fn write_weight_gradient(
        &self,
        x: &[f32],
        gradient: &[f32],
        out: &mut [MaybeUninit<f32>],
    ) {
        let Factors { left, right, scale } = Factors::new(x, gradient, self.batch);
        product_into(self.input(&left).transposed(), self.output(&right), scale, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_over_nothing_is_0() {
        let sizes = Sizes { batch: 2, inputs: 3, outputs: 0 };
        assert_eq!(sizes.input_gradient(&[], &[]), [0.0; 6]);
        let sizes = Sizes { batch: 0, inputs: 3, outputs: 2 };
        assert_eq!(sizes.weight_gradient(&[], &[]), [0.0; 6]);
        assert!(sizes.forward(&[], &[1.0; 6]).is_empty());
    }

    #[test]
    fn a_product_has_the_bits_of_one_block() {
        let wave = |length: usize, frequency: f32| -> Vec<f32> {
            (0..length).map(|i| (i as f32 * frequency).sin()).collect()
        };
        for [batch, inputs, outputs] in
            [[768, 128, 384], [128, 768, 512], [64, 500, 250], [600, 70, 520], [300, 2000, 40]]
        {
            let (x, weight) = (wave(batch * inputs, 0.37), wave(inputs * outputs, 0.53));
            let sizes = Sizes { batch, inputs, outputs };
            let mut whole = vec![0.0; batch * outputs];
            let place = SharedSlice::new(&mut whole);
            // SAFETY: nothing else uses the slice.
            let place = unsafe { MatrixMut::of_block(&place, outputs, 0..batch, 0..outputs) };
            multiply(sizes.input(&x), sizes.weight(&weight), place, 1.0);
            assert!(sizes.forward(&x, &weight) == whole, "{sizes:?}");
        }
    }

    #[test]
    fn a_product_that_is_turned_has_the_bits_of_one_that_is_not() {
        let wave = |length: usize, frequency: f32| -> Vec<f32> {
            (0..length).map(|i| (i as f32 * frequency).sin()).collect()
        };
        let mut transposed = [0; 2];
        for [batch, inputs, outputs] in [
            [64, 784, 1000],
            [128, 1000, 784],
            [50, 500, 250],
            [17, 129, 600],
            [8, 1030, 33],
            [5, 70, 70],
            [1, 600, 700],
            [1, 300_000, 1],
            [2, 200, 9],
            [4, 16, 1000],
            [300, 784, 10],
            [256, 2, 600],
            [700, 128, 512],
        ] {
            let sizes = Sizes { batch, inputs, outputs };
            let (x, weight) = (wave(batch * inputs, 0.37), wave(inputs * outputs, 0.53));
            let gradient = wave(batch * outputs, 0.71);
            let of_weights = product(sizes.input(&x), sizes.weight(&weight), 1.0);
            assert!(sizes.forward(&x, &weight) == of_weights, "{sizes:?}");
            let of_columns =
                product(sizes.output(&gradient), sizes.weight(&weight).transposed(), 1.0);
            assert!(sizes.input_gradient(&weight, &gradient) == of_columns, "{sizes:?}");
            let ways = [sizes.is_narrow(), sizes.is_wide()];
            transposed.iter_mut().zip(ways).for_each(|(count, way)| *count += usize::from(way));
        }
        assert!(transposed[0] > 3 && transposed[1] > 1, "{transposed:?}");
    }

    #[test]
    fn a_product_of_tiny_numbers_is_that_of_f64() {
        let sizes = Sizes { batch: 70, inputs: 30, outputs: 40 };
        let wave = |length: usize, size: f32| -> Vec<f32> {
            (0..length).map(|i| size * (i as f32 * 0.37).sin()).collect()
        };
        // Live and dead columns are next to each other.
        let mixed = |length: usize, columns: usize| -> Vec<f32> {
            let size = |i: usize| if (i % columns).is_multiple_of(3) { 1.0 } else { 1e-30 };
            wave(length, 1.0).iter().enumerate().map(|(i, x)| x * size(i)).collect()
        };
        for (x, gradient) in
            [(wave(70 * 30, 1e-20), wave(70 * 40, 1e-17)), (mixed(70 * 30, 30), mixed(70 * 40, 40))]
        {
            let found = sizes.weight_gradient(&x, &gradient);
            for (place, found) in found.iter().enumerate() {
                let (i, j) = (place / 40, place % 40);
                let terms = (0..70)
                    .map(|row| f64::from(x[row * 30 + i]) * f64::from(gradient[row * 40 + j]));
                let size: f64 = terms.clone().map(f64::abs).sum();
                let error = (f64::from(*found) - terms.sum::<f64>()).abs();
                assert!(error <= 1e-6 * size + 1e-45, "{i} {j}: {found:e} is off by {error:e}");
            }
        }
        let (x, weight) = (wave(70 * 30, 1e-25), wave(30 * 40, 1e-10));
        let [tiny, usual] = [&x, &x.iter().map(|x| x * 2f32.powi(80)).collect()]
            .map(|x: &Vec<f32>| sizes.forward(x, &weight));
        let back: Vec<f32> = usual.iter().map(|y| y * 2f32.powi(-80)).collect();
        assert!(tiny == back, "a power of two changes no bit");
    }

    #[test]
    #[should_panic(expected = "of sizes [8589934592, 8589934592] is larger than memory")]
    fn sizes_that_overflow_are_refused() {
        let sizes = Sizes { batch: 1 << 33, inputs: 1 << 33, outputs: 1 };
        let _ = sizes.forward(&[1.0; 4], &[1.0; 4]);
    }

    #[test]
    fn subnormal_inputs_and_gradients_count_as_0() {
        let sizes = Sizes { batch: 3, inputs: 5, outputs: 4 };
        // The weights are so large that the effect of a subnormal number would be visible.
        let (x, gradient) = ([1e-40; 15], [-1e-40; 12]);
        let weight = [1e30; 20];
        assert_eq!(sizes.forward(&x, &weight), [0.0; 12]);
        assert_eq!(sizes.input_gradient(&weight, &gradient), [0.0; 15]);
        assert_eq!(sizes.weight_gradient(&x, &[1e30; 12]), [0.0; 20]);
        assert_eq!(sizes.weight_gradient(&[1e30; 15], &gradient), [0.0; 20]);
    }
}
