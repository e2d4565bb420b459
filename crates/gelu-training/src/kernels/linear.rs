//! The three products of a linear layer, in blocks that threads share out among them. The blocks
//! depend on the sizes alone, and so do the bits.

use super::product::{Before, Matrix, Place, multiply};
use super::subnormal::without_subnormals;
use super::threads::for_each_block;

/// Rows and columns of a block: large enough that packing the operands costs little beside it.
const BLOCK: usize = 512;

/// `left·right`, into rows one behind the other. `out` may be anything before.
fn product(left: Matrix<'_>, right: Matrix<'_>, out: &mut [f32]) {
    let (rows, columns) = (left.rows(), right.columns());
    let work = rows * columns * right.rows();
    for_each_block(out, [rows, columns], BLOCK, work, |block, row, column| {
        let [height, width] = block.size();
        let left = left.middle_rows(row, height);
        let right = right.middle_columns(column, width);
        multiply(left, right, Place::of_block(block), Before::Ignored);
    });
}

/// Sizes of a linear layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) batch: usize,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Sizes {
    fn input<'a>(&self, x: &'a [f32]) -> Matrix<'a> {
        Matrix::of_rows(x, self.batch, self.inputs, self.inputs)
    }

    fn weight<'a>(&self, weight: &'a [f32]) -> Matrix<'a> {
        Matrix::of_rows(weight, self.inputs, self.outputs, self.outputs)
    }

    fn output<'a>(&self, gradient: &'a [f32]) -> Matrix<'a> {
        Matrix::of_rows(gradient, self.batch, self.outputs, self.outputs)
    }

    /// `x·weight`, of `[batch, outputs]`.
    pub(crate) fn forward(&self, x: &[f32], weight: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.batch * self.outputs];
        product(self.input(&without_subnormals(x)), self.weight(weight), &mut out);
        out
    }

    /// `gradient·weightᵀ`, of `[batch, inputs]`.
    pub(crate) fn input_gradient(&self, weight: &[f32], gradient: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.batch * self.inputs];
        let gradient = without_subnormals(gradient);
        product(self.output(&gradient), self.weight(weight).transposed(), &mut out);
        out
    }

    /// `xᵀ·gradient`, of `[inputs, outputs]`.
    pub(crate) fn weight_gradient(&self, x: &[f32], gradient: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.inputs * self.outputs];
        let [x, gradient] = [x, gradient].map(without_subnormals);
        product(self.input(&x).transposed(), self.output(&gradient), &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnormal_inputs_and_gradients_count_as_0() {
        let sizes = Sizes { batch: 3, inputs: 5, outputs: 4 };
        // So large that a subnormal number's share would be seen.
        let (x, gradient) = ([1e-40; 15], [-1e-40; 12]);
        let weight = [1e30; 20];
        assert_eq!(sizes.forward(&x, &weight), [0.0; 12]);
        assert_eq!(sizes.input_gradient(&weight, &gradient), [0.0; 15]);
        assert_eq!(sizes.weight_gradient(&x, &[1e30; 12]), [0.0; 20]);
        assert_eq!(sizes.weight_gradient(&[1e30; 15], &gradient), [0.0; 20]);
    }
}
