//! Matrices turned, their columns made rows.

use crate::disjoint::Disjoint;
use crate::level::{Level, Work};
use crate::product::Matrix;
use crate::threads::{PARALLEL, Threads, each};
use crate::written::written;
use std::ops::Range;
use std::vec::Vec;

/// Rows and columns that are turned together: a line of the caches each way.
pub(crate) const SIDE: usize = 16;
/// Rows that a thread turns at a time.
const STRIP: usize = 4 * SIDE;

/// The columns of a matrix, one behind the other.
pub(crate) fn turned(matrix: Matrix<'_>) -> Vec<f32> {
    let (rows, count) = (matrix.rows(), matrix.rows() * matrix.columns());
    let level = Level::best();
    let write = |out: &mut [_]| {
        let place = Disjoint::of_unwritten(out);
        each(rows.div_ceil(STRIP), Threads::worth(count, PARALLEL), |strip| {
            let rows = strip * STRIP..((strip + 1) * STRIP).min(rows);
            level.run(Strip { matrix, rows, out: &place });
        });
    };
    // SAFETY: the strips are all rows, and each writes its place in every column.
    unsafe { written(count, write) }
}

/// Some rows of a matrix.
struct Strip<'a> {
    matrix: Matrix<'a>,
    rows: Range<usize>,
    out: &'a Disjoint<'a, f32>,
}

impl Work for Strip<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { matrix, rows, out } = self;
        let mut block = [[0.0; SIDE]; SIDE];
        for row in rows.clone().step_by(SIDE) {
            let height = (rows.end - row).min(SIDE);
            for column in (0..matrix.columns()).step_by(SIDE) {
                let width = (matrix.columns() - column).min(SIDE);
                turn([height, width], |down| &matrix.row(row + down)[column..], &mut block);
                for (across, turned) in block[..width].iter().enumerate() {
                    let start = (column + across) * matrix.rows() + row;
                    // SAFETY: no other strip has these rows.
                    let place = unsafe { out.unwritten_part(start..start + height) };
                    match place.first_chunk_mut::<SIDE>() {
                        // Of a length that is known: no call for a line of the cache.
                        Some(place) => place.write_copy_of_slice(turned),
                        None => place.write_copy_of_slice(&turned[..height]),
                    };
                }
            }
        }
    }
}

/// Writes the columns of a block of so many rows and columns, each filled up with zeros. A row is what `row`
/// begins with.
#[inline(always)]
pub(crate) fn turn<'a>(
    [height, width]: [usize; 2],
    row: impl Fn(usize) -> &'a [f32],
    block: &mut [[f32; SIDE]; SIDE],
) {
    /// Rows of which LLVM makes short vectors: of all at once it makes single numbers.
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
            assert!(turned(matrix).into_iter().eq(expected.clone()), "{rows} {columns}");
            for level in Level::available() {
                let mut out = std::vec![0.0; rows * columns];
                level.run(Strip { matrix, rows: 0..rows, out: &Disjoint::of(&mut out) });
                assert!(out.into_iter().eq(expected.clone()), "{rows} {columns} {level:?}");
            }
        }
    }
}
