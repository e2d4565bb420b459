use crate::kernels::tile::{Tile, product};
use crate::kernels::transpose::{SIDE, transpose_block};
use std::array::from_fn;
use std::ops::Range;

/// A row-major matrix, padded with zeros to whole tiles.
pub(super) struct Matrix<'a> {
    numbers: &'a mut [f32],
    stride: usize,
}

impl<'a> Matrix<'a> {
    /// Takes the memory of a matrix from the front of `scratch`, which keeps the rest.
    #[inline(always)]
    pub(super) fn lent(scratch: &mut &'a mut [f32], rows: usize, stride: usize) -> Self {
        let (numbers, rest) = std::mem::take(scratch).split_at_mut(rows * stride);
        *scratch = rest;
        Self { numbers, stride }
    }

    /// Copies `rows` to the beginnings of the matrix's rows; all other elements become 0.
    #[inline(always)]
    pub(super) fn fill<'b>(&mut self, rows: impl Iterator<Item = &'b [f32]>) {
        let mut to = self.numbers.chunks_exact_mut(self.stride);
        for (to, from) in (&mut to).zip(rows) {
            to[..from.len()].copy_from_slice(from);
            to[from.len()..].fill(0.0);
        }
        to.for_each(|row| row.fill(0.0));
    }

    /// Copies numbers to the beginnings of the first `count` columns; all other elements become 0.
    #[inline(always)]
    pub(super) fn fill_transposed<'b>(
        &mut self,
        count: usize,
        column: impl Fn(usize) -> &'b [f32],
    ) {
        let rows = self.numbers.len() / self.stride;
        let mut block = [[0.0; SIDE]; SIDE];
        for first in (0..count).step_by(SIDE) {
            let width = (count - first).min(SIDE);
            for row in (0..rows).step_by(SIDE) {
                let height = (rows - row).min(SIDE);
                transpose_block([width, height], |index| &column(first + index)[row..], &mut block);
                for (index, numbers) in block[..height].iter().enumerate() {
                    self.row_mut(row + index)[first..first + SIDE].copy_from_slice(numbers);
                }
            }
        }
        let filled = count.next_multiple_of(SIDE);
        self.numbers.chunks_exact_mut(self.stride).for_each(|row| row[filled..].fill(0.0));
    }

    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.numbers[row * self.stride..][..self.stride]
    }

    #[inline(always)]
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.numbers[row * self.stride..][..self.stride]
    }

    /// Writes a tile whose first element is at `row` and `column`.
    #[inline(always)]
    pub(super) fn set<const ROWS: usize, const LANES: usize>(
        &mut self,
        row: usize,
        column: usize,
        tile: &Tile<ROWS, LANES>,
    ) {
        for (index, tile) in tile.iter().enumerate() {
            let to = &mut self.row_mut(row + index)[column..][..2 * LANES];
            to.copy_from_slice(tile.as_flattened());
        }
    }

    /// Returns `Σ self(row, k)·right(k, column)` over the depth, for a tile whose first element is
    /// at `row` and `column`.
    #[inline(always)]
    pub(super) fn times<const FUSED: bool, const ROWS: usize, const LANES: usize>(
        &self,
        row: usize,
        right: &Matrix<'_>,
        column: usize,
        depth: usize,
    ) -> Tile<ROWS, LANES> {
        let rows: [&[f32]; ROWS] = from_fn(|index| &self.row(row + index)[..depth]);
        let right = right.from(0, column);
        product::<FUSED, ROWS, LANES>([1, depth], |_, k, row| rows[row][k], |_, k| pair(right, k))
    }

    /// Returns `Σ self(k, row)·right(k, column)` over the depth, for a tile whose first element is
    /// at `row` and `column`.
    #[inline(always)]
    pub(super) fn transposed_times<const FUSED: bool, const ROWS: usize, const LANES: usize>(
        &self,
        row: usize,
        right: &Matrix<'_>,
        column: usize,
        depth: Range<usize>,
    ) -> Tile<ROWS, LANES> {
        let (left, right) = (self.from(depth.start, row), right.from(depth.start, column));
        let at = |k: usize| -> &[f32; ROWS] {
            left.0[k * left.1..].first_chunk().expect("tiles lie within their matrix")
        };
        product::<FUSED, ROWS, LANES>(
            [1, depth.len()],
            |_, k, row| at(k)[row],
            |_, k| pair(right, k),
        )
    }

    /// Returns the elements from `row` and `column` on, and their stride.
    #[inline(always)]
    fn from(&self, row: usize, column: usize) -> (&[f32], usize) {
        (self.numbers.get(row * self.stride + column..).unwrap_or(&[]), self.stride)
    }
}

/// Returns the two vectors at the beginning of row k.
#[inline(always)]
fn pair<const LANES: usize>((numbers, stride): (&[f32], usize), k: usize) -> [[f32; LANES]; 2] {
    let (vectors, _) = numbers[k * stride..].as_chunks::<LANES>();
    [vectors[0], vectors[1]]
}
