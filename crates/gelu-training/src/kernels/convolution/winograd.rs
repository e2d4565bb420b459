//! Winograd's F(2×2, 3×3): 3×3 correlations of stride 1, computed from 4×4 squares of the image, each of which
//! gives 2×2 results. Squares and weights are transformed, multiplied element by element and summed over
//! channels, and the sums are transformed back. This takes 16 multiplications where the definition takes 36.
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
//! The weights' gradient is computed from the same squares and from the 2×2 gradients y of their results. It is
//! transformed once, after all have been summed: `Gᵀ [ Σ (Bᵀ d B) ⊙ (A y Aᵀ) ] G`.
//!
//! Source: A. Lavin and S. Gray, *Fast Algorithms for Convolutional Neural Networks*, arXiv 1509.09308.

mod block;
mod gather;
mod gradient;
mod kernels;
mod lines;
mod results;
mod sources;
mod squares;
mod transform;

use crate::kernels::blocks::{PARALLEL_PRODUCT, for_each_part};
use crate::kernels::scratch::with_scratch;
use crate::kernels::tile;
use block::{Block, Lent};
use gelu_kernels::Level;
use gelu_kernels::SharedSlice;
use gelu_kernels::threads::{self, Threads};
use kernels::KernelPanels;
pub(super) use kernels::Kernels;
use squares::SQUARE;
pub(super) use squares::Squares;
use std::mem::MaybeUninit;

/// The size of a block of transformed squares. A block stays in the second-level cache.
const BLOCK: usize = 1 << 16;

/// A correlation with 3×3 weights.
#[derive(Clone, Debug)]
pub(super) struct Winograd {
    squares: Squares,
    /// Channels, height and width of an image's results.
    results: [usize; 3],
}

impl Winograd {
    pub(super) fn new(squares: Squares, results: [usize; 3]) -> Self {
        Self { squares, results }
    }

    /// Writes the results of all images, one after the other.
    pub(super) fn run(
        &self,
        level: Level,
        pictures: &[f32],
        kernels: Kernels<'_>,
        bias: &[f32],
        results: &mut [MaybeUninit<f32>],
    ) {
        let [outputs, height, width] = self.results;
        let Squares { source: [channels, ..], count, .. } = self.squares;
        if results.is_empty() {
            return;
        }
        let [tile_rows, lanes] = tile::sizes(level);
        // A block has whole vectors of squares, and at least one tile.
        let squares = (BLOCK / (SQUARE * channels)).next_multiple_of(2 * lanes);
        let block = self.squares.rows(squares);
        let all = results.len() / (outputs * height * width) * count[0];
        let blocks = all.div_ceil(block);
        let threads = Threads::for_work(results.len().saturating_mul(channels), PARALLEL_PRODUCT);
        let panels = KernelPanels { kernels, channels: [outputs, channels], level };
        let (count, panel) = (panels.count(), panels.size());
        // One or two images have fewer blocks than there are threads, so the threads also share the channels.
        let parts = threads.count().div_ceil(blocks).min(count);
        // A single block needs each panel only once. It computes the panel when needed, and then finds it in the
        // cache.
        let mut ready = vec![0.0; if blocks > 1 { count * panel } else { 0 }];
        for_each_part(&mut ready, panel, |index, to| panels.write(index, to));
        let ready = (blocks > 1).then_some(&ready[..]);
        let whole = SharedSlice::uninit(results);
        threads::map(blocks * parts, threads, |index| {
            let (index, part) = (index / parts, index % parts);
            let work = Block {
                squares: &self.squares,
                shape: self.results,
                rows: index * block..all.min((index + 1) * block),
                part: part * count / parts..(part + 1) * count / parts,
                panels,
                ready,
                pictures,
                bias,
                results: &whole,
            };
            let size = work.sizes(lanes, tile_rows).iter().sum();
            with_scratch(size, |scratch| tile::run(level, Lent(work, scratch)));
        });
    }
}
