//! The transformed squares of images.

use super::lines::Lines;
use super::squares::Squares;
use super::transform::{source, transposed};
use std::ops::Range;

/// Computes `Bᵀ d B` for all squares of some rows, counted through all images.
pub(super) struct Sources<'a> {
    pub(super) squares: &'a Squares,
    pub(super) pictures: &'a [f32],
    pub(super) channels: Range<usize>,
    pub(super) rows: Range<usize>,
    pub(super) layout: Layout,
}

/// The distances between numbers of a square, between channels, and between tiles of squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) number: usize,
    pub(super) channel: usize,
    pub(super) tile: usize,
}

impl Sources<'_> {
    /// Returns the size of a channel's lines for at most `rows` rows of squares.
    #[inline(always)]
    pub(super) fn lines(squares: &Squares, rows: usize, lanes: usize) -> usize {
        Lines::new(squares, rows.min(squares.count[0]), lanes).size()
    }

    /// Writes the squares, and the rest of a piece's last vector. `seen` receives each channel's
    /// lines.
    #[inline(always)]
    pub(super) fn write<const LANES: usize>(
        &self,
        lines: &mut [f32],
        mut seen: impl FnMut(&[f32]),
        to: &mut [f32],
    ) {
        let Self { squares, pictures, channels, rows, layout } = self;
        let [of_picture, height, width] = squares.source;
        let (both, plane) = (2 * LANES, height * width);
        for piece in squares.pieces(rows.clone()) {
            let count = piece.rows.len() * squares.count[1];
            let of = Lines::new(squares, piece.rows.len(), LANES);
            let lines = &mut lines[..of.size()];
            // Pixels outside the image stay 0.
            lines.fill(0.0);
            for (index, channel) in channels.clone().enumerate() {
                let start = (piece.picture * of_picture + channel) * plane;
                of.fill(&pictures[start..][..plane], piece.rows.start, lines);
                seen(lines);
                let to = &mut to[index * layout.channel..];
                for first in (0..count).step_by(LANES) {
                    let found = transformed(of.squares::<LANES>(lines, first));
                    let square = piece.first + first;
                    let start = square / both * layout.tile + square % both;
                    if layout.tile == both || square % both + LANES <= both {
                        for line in 0..4 {
                            for column in 0..4 {
                                let start = start + (4 * line + column) * layout.number;
                                to[start..][..LANES].copy_from_slice(&found[line][column]);
                            }
                        }
                    } else {
                        // Some of these squares are in the next tile.
                        for lane in 0..LANES.min(count - first) {
                            let square = square + lane;
                            let start = square / both * layout.tile + square % both;
                            for number in 0..16 {
                                let found = &found[number / 4][number % 4];
                                to[start + number * layout.number] = found[lane];
                            }
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn transformed<const LANES: usize>(square: [[[f32; LANES]; 4]; 4]) -> [[[f32; LANES]; 4]; 4] {
    let columns = transposed(square);
    let mut down = square;
    for column in 0..4 {
        down[column] = source(columns[column]);
    }
    let mut found = transposed(down);
    for line in 0..4 {
        found[line] = source(found[line]);
    }
    found
}
