//! The transformed squares of the results' gradients.

use super::super::panels::transpose;
use super::squares::{Piece, Squares};
use super::transform::{gradient, vector};
use crate::kernels::extent::Extent;
use std::ops::Range;

/// Computes `A y Aᵀ` for all squares of some rows, counted through all images.
pub(super) struct Results<'a> {
    pub(super) squares: &'a Squares,
    /// Channels, height and width of an image's gradients.
    pub(super) size: [usize; 3],
    pub(super) numbers: &'a [f32],
    pub(super) rows: Range<usize>,
}

impl Results<'_> {
    /// Returns the extent of the gradients before the transform.
    #[inline(always)]
    pub(super) fn extent(&self) -> Extent {
        let mut extent = Extent::NONE;
        for piece in self.squares.pieces(self.rows.clone()) {
            let (planes, pixels) = self.planes(&piece);
            for plane in planes.chunks_exact(self.size[1] * self.size[2]) {
                extent = extent.with(Extent::of_few(&plane[pixels.clone()]));
            }
        }
        extent
    }

    /// Returns all channels of an image, and the range of their pixels in a piece.
    #[inline(always)]
    fn planes(&self, piece: &Piece) -> (&[f32], Range<usize>) {
        let [outputs, height, width] = self.size;
        let picture = outputs * height * width;
        let line = |row: usize| (2 * row).min(height) * width;
        let planes = &self.numbers[piece.picture * picture..][..picture];
        (planes, line(piece.rows.start)..line(piece.rows.end))
    }

    /// Writes the squares times `scale`: by number of the square, panel of channels, square and channel. Numbers
    /// are `step` apart. `transposed` is scratch memory for a panel's pixels.
    #[inline(always)]
    pub(super) fn write<const LANES: usize>(
        &self,
        scale: f32,
        transposed: &mut [f32],
        step: usize,
        to: &mut [f32],
    ) {
        let Self { squares, size: [_, height, width], rows, .. } = self;
        let (both, plane, columns) = (2 * LANES, height * width, squares.count[1]);
        let all = rows.len() * columns;
        for piece in squares.pieces(rows.clone()) {
            let (planes, pixels) = self.planes(&piece);
            let transposed = &mut transposed[..pixels.len() * both];
            for (panel, planes) in planes.chunks(both * plane).enumerate() {
                transpose::<LANES>(planes, plane, pixels.clone(), transposed);
                let mut start = (panel * all + piece.first) * both;
                for row in 0..piece.rows.len() {
                    for column in 0..columns {
                        for half in [0, LANES] {
                            let from = square::<LANES>(
                                transposed,
                                *width,
                                [2 * row, 2 * column],
                                half,
                                scale,
                            );
                            let found = transformed(from);
                            for (number, found) in found.as_flattened().iter().enumerate() {
                                let start = start + half + number * step;
                                to[start..][..LANES].copy_from_slice(found);
                            }
                        }
                        start += both;
                    }
                }
            }
        }
    }
}

/// Returns one square by columns, with a vector of channels for each pixel: half a panel, times `scale`. Pixels
/// outside the image are 0.
#[inline(always)]
fn square<const LANES: usize>(
    transposed: &[f32],
    width: usize,
    [top, left]: [usize; 2],
    half: usize,
    scale: f32,
) -> [[[f32; LANES]; 2]; 2] {
    let both = 2 * LANES;
    let lines = transposed.len() / (width * both);
    let mut square = [[[0.0; LANES]; 2]; 2];
    for right in 0..2 {
        for below in 0..2 {
            let (line, column) = (top + below, left + right);
            if line < lines && column < width {
                let start = (line * width + column) * both + half;
                let found: [f32; LANES] = vector(transposed, start);
                for lane in 0..LANES {
                    square[right][below][lane] = scale * found[lane];
                }
            }
        }
    }
    square
}

#[inline(always)]
fn transformed<const LANES: usize>(square: [[[f32; LANES]; 2]; 2]) -> [[[f32; LANES]; 4]; 4] {
    let [left, right] = [gradient(square[0]), gradient(square[1])];
    let mut found = [[[0.0; LANES]; 4]; 4];
    for line in 0..4 {
        found[line] = gradient([left[line], right[line]]);
    }
    found
}
