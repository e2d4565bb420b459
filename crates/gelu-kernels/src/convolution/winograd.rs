//! Winograd's F(2×2, 3×3): 3×3 correlations of stride 1 by 4×4 squares of the picture, of which each gives
//! 2×2 results. Squares and weights are transformed, multiplied number by number and summed over channels, and
//! the sums transformed back: 16 multiplications where the definition has 36.
//!
//! ```text
//! Y = Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A
//!
//!      ⎡1  0 −1  0⎤        ⎡ 1   0   0⎤
//! Bᵀ = ⎢0  1  1  0⎥    G = ⎢ ½   ½   ½⎥    Aᵀ = ⎡1  1  1  0⎤
//!      ⎢0 −1  1  0⎥        ⎢ ½  −½   ½⎥         ⎣0  1 −1 −1⎦
//!      ⎣0  1  0 −1⎦        ⎣ 0   0   1⎦
//! ```
//!
//! (A. Lavin and S. Gray, *Fast Algorithms for Convolutional Neural Networks*, arXiv 1509.09308.)

mod block;
mod squares;
mod transform;

use crate::disjoint::Disjoint;
use crate::level::{Level, Tiled};
use crate::scratch::with_scratch;
use crate::threads::{PARALLEL_PRODUCT, Threads, each, for_each_part};
use block::{Block, Lent};
use squares::SQUARE;
pub(super) use squares::Squares;
use std::mem::MaybeUninit;
use std::vec;
use transform::weights;

/// Numbers of transformed squares that are worked on together: they stay in the second cache level.
const BLOCK: usize = 1 << 16;

/// The transformed weights of as many channels of the result as a tile has rows, by number, channel of the
/// picture and row.
struct Weights<'a, F> {
    /// By row, channel and place of the kernel.
    of: F,
    rows: usize,
    channels: usize,
    panel: &'a mut [f32],
}

impl<F: Fn(usize, usize, usize) -> f32> Tiled for Weights<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Self { of, rows, channels, panel } = self;
        for channel in 0..channels {
            let mut kernel = [[[0.0; ROWS]; 3]; 3];
            for row in 0..rows {
                for place in 0..9 {
                    // By column and line.
                    kernel[place % 3][place / 3][row] = of(row, channel, place);
                }
            }
            let [a, b, c] = [weights(kernel[0]), weights(kernel[1]), weights(kernel[2])];
            for line in 0..4 {
                let numbers = weights([a[line], b[line], c[line]]);
                for column in 0..4 {
                    let start = ((4 * line + column) * channels + channel) * ROWS;
                    let to = &mut panel[start..start + ROWS];
                    for row in 0..ROWS {
                        to[row] = numbers[column][row];
                    }
                }
            }
        }
    }
}

// Loops, no closures: those would not be compiled for the level that calls them.

/// A correlation with 3×3 weights.
#[derive(Clone, Debug)]
pub(super) struct Winograd {
    squares: Squares,
    /// Channels, height and width of a picture's results.
    results: [usize; 3],
}

impl Winograd {
    pub(super) fn new(squares: Squares, results: [usize; 3]) -> Self {
        Self { squares, results }
    }

    /// As [`Correlation::run`](super::correlation::Correlation::run).
    pub(super) fn run(
        &self,
        level: Level,
        pictures: &[f32],
        weight: impl Fn(usize, usize, usize) -> f32 + Sync + Send,
        bias: &[f32],
        results: &mut [MaybeUninit<f32>],
    ) {
        let [outputs, height, width] = self.results;
        let Squares { source: [channels, ..], count, .. } = self.squares;
        let size = outputs * height * width;
        if size == 0 {
            return;
        }
        let [tile_rows, lanes] = level.tile();
        // By panel, number of the square, channel, row of the panel.
        let panel = SQUARE * channels * tile_rows;
        let mut panels = vec![0.0; outputs.div_ceil(tile_rows) * panel];
        for_each_part(&mut panels, panel, |index, panel| {
            let first = index * tile_rows;
            level.run_tiled(Weights {
                of: |row, channel, tap| weight(first + row, channel, tap),
                rows: tile_rows.min(outputs - first),
                channels,
                panel,
            });
        });
        // Whole vectors of squares, at least one tile of them.
        let squares = (BLOCK / (SQUARE * channels)).next_multiple_of(2 * lanes);
        let block = self.squares.rows(squares);
        let all = results.len() / size * count[0];
        let operations = results.len().saturating_mul(channels);
        let whole = Disjoint::of_unwritten(results);
        each(all.div_ceil(block), Threads::worth(operations, PARALLEL_PRODUCT), |index| {
            let rows = index * block..all.min((index + 1) * block);
            let work = Block {
                squares: &self.squares,
                shape: self.results,
                rows,
                panels: &panels,
                pictures,
                bias,
                results: &whole,
                level,
            };
            let size = work.sizes(lanes, tile_rows).iter().sum();
            with_scratch(size, |scratch| level.run_tiled(Lent(work, scratch)));
        });
    }
}
