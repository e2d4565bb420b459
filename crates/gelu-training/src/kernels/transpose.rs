//! Transposition of matrices.

use crate::kernels::product::Matrix;
use crate::kernels::written::written;
use gelu_kernels::SharedSlice;
use gelu_kernels::threads::{self, PARALLEL, Threads};
use gelu_kernels::{Level, Work};
use std::ops::Range;

/// The number of rows and columns that are transposed together: one cache line in each direction.
pub(crate) const SIDE: usize = 16;
/// The number of rows that a thread transposes at a time.
const CHUNK: usize = 4 * SIDE;

/// Returns the columns of a matrix, one after the other.
pub(crate) fn transposed(matrix: Matrix<'_>) -> Vec<f32> {
    let (rows, count) = (matrix.rows(), matrix.rows() * matrix.columns());
    let level = Level::best();
    let write = |out: &mut [_]| {
        let place = SharedSlice::uninit(out);
        threads::map(rows.div_ceil(CHUNK), Threads::for_work(count, PARALLEL), |chunk| {
            let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(rows);
            level.run(Chunk { matrix, rows, out: &place });
        });
    };
    // SAFETY: the chunks cover all rows, and each writes its range of every column.
    unsafe { written(count, write) }
}

/// The work on some rows of a matrix.
struct Chunk<'a> {
    matrix: Matrix<'a>,
    rows: Range<usize>,
    out: &'a SharedSlice<'a, f32>,
}

impl Work for Chunk<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { matrix, rows, out } = self;
        let mut block = [[0.0; SIDE]; SIDE];
        for row in rows.clone().step_by(SIDE) {
            let height = (rows.end - row).min(SIDE);
            for column in (0..matrix.columns()).step_by(SIDE) {
                let width = (matrix.columns() - column).min(SIDE);
                transpose_block(
                    [height, width],
                    |down| &matrix.row(row + down)[column..],
                    &mut block,
                );
                for (across, transposed) in block[..width].iter().enumerate() {
                    let start = (column + across) * matrix.rows() + row;
                    // SAFETY: no other chunk contains these rows.
                    let place = unsafe { out.uninit_range(start..start + height) };
                    match place.first_chunk_mut::<SIDE>() {
                        // With a constant length, copying a cache line needs no function call.
                        Some(place) => place.write_copy_of_slice(transposed),
                        None => place.write_copy_of_slice(&transposed[..height]),
                    };
                }
            }
        }
    }
}

/// Writes the columns of a block of `height` rows and `width` columns, padded with zeros. A row consists of
/// the first `width` elements of `row`.
#[inline(always)]
pub(crate) fn transpose_block<'a>(
    [height, width]: [usize; 2],
    row: impl Fn(usize) -> &'a [f32],
    block: &mut [[f32; SIDE]; SIDE],
) {
    /// The number of rows for which LLVM generates short vectors. For all rows at once it generates scalar
    /// code.
    const ROWS: usize = 4;
    if [height, width] != [SIDE; 2] {
        *block = [[0.0; SIDE]; SIDE];
        for down in 0..height {
            let from = &row(down)[..width];
            block.iter_mut().zip(from).for_each(|(column, from)| column[down] = *from);
        }
        return;
    }
    for first in (0..SIDE).step_by(ROWS) {
        let mut columns = [[0.0; ROWS]; SIDE];
        for down in 0..ROWS {
            let from: &[f32; SIDE] =
                row(first + down).first_chunk().expect("a row is as long as the block");
            columns.iter_mut().zip(from).for_each(|(column, from)| column[down] = *from);
        }
        for (to, column) in block.iter_mut().zip(columns) {
            to[first..first + ROWS].copy_from_slice(&column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns_on_every_level() {
        for [rows, columns] in
            [[1, 1], [0, 5], [7, 0], [16, 16], [17, 31], [64, 1000], [130, 500], [300, 257]]
        {
            let numbers: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
            let matrix = Matrix::of_rows(&numbers, rows, columns, columns);
            let expected = (0..columns)
                .flat_map(|column| (0..rows).map(move |row| (row * columns + column) as f32));
            assert!(transposed(matrix).into_iter().eq(expected.clone()), "{rows} {columns}");
            for level in Level::available() {
                let mut out = vec![0.0; rows * columns];
                level.run(Chunk { matrix, rows: 0..rows, out: &SharedSlice::new(&mut out) });
                assert!(out.into_iter().eq(expected.clone()), "{rows} {columns} {level:?}");
            }
        }
    }
}
