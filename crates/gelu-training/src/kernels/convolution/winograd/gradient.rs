//! The gradient for the weights: `Gᵀ [ Σ (Bᵀ d B) ⊙ (A y Aᵀ) ] G` over all squares of the images and of the
//! results' gradients.

use super::super::parts::Parts;
use super::Winograd;
use super::gather::Gather;
use super::results::Results;
use super::sources::{Layout, Sources};
use super::squares::{SQUARE, Squares};
use crate::kernels::blocks::for_each_part;
use crate::kernels::extent::Extent;
use crate::kernels::scratch::with_scratch;
use crate::kernels::tile::product;
use crate::kernels::tile::{self, Tiled};
use crate::kernels::written::{written, zeros};
use gelu_kernels::Level;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The number of squares that are summed before a tile's sums are added to the total. A tile's gradients stay
/// in the first-level cache.
const SQUARES: usize = 128;

impl Winograd {
    /// Returns the gradient for the weight; see [`weight_gradient`](super::super::weight_gradient).
    pub(in super::super) fn weight_gradient(
        &self,
        level: Level,
        pictures: usize,
        input: &[f32],
        gradient: &[f32],
    ) -> Vec<f32> {
        let ([outputs, ..], channels) = (self.results, self.squares.source[0]);
        let depth = 9 * channels;
        let least = (2 * SQUARES).div_ceil(self.squares.count.iter().product());
        let parts = Parts::new(channels, pictures, least, gradient.len() * depth);
        let sums = parts.each(|parts, pictures| {
            let channels = parts[0].start..parts[parts.len() - 1].end;
            Share {
                squares: &self.squares,
                results: self.results,
                channels,
                pictures,
                input,
                gradient,
            }
            .sums(level)
        });
        let mut result = zeros(outputs * depth);
        let lanes = tile::sizes(level)[1];
        for_each_part(&mut result, lanes * depth, |index, result| {
            for (share, sums) in sums.chunks_exact(parts.groups).enumerate() {
                let channels = parts.channels(share);
                tile::run(level, Gather { sums, vector: index, channels, depth, result });
            }
        });
        result
    }
}

/// The work of one thread.
struct Share<'a> {
    squares: &'a Squares,
    results: [usize; 3],
    channels: Range<usize>,
    pictures: Range<usize>,
    input: &'a [f32],
    gradient: &'a [f32],
}

impl Share<'_> {
    /// Returns the sums over the thread's images, by panel, number of the square, channel and output.
    fn sums(&self, level: Level) -> Vec<f32> {
        let Self { squares, results: [outputs, ..], .. } = self;
        let lanes = tile::sizes(level)[1];
        let size = SQUARE * self.channels.len() * outputs.next_multiple_of(2 * lanes);
        let of_picture = squares.count[0];
        let all = self.pictures.start * of_picture..self.pictures.end * of_picture;
        assert!(!all.is_empty(), "a group has a picture");
        let write = |sums: &mut [_]| self.add_up(level, all, sums);
        // SAFETY: the first chunk writes all sums, and there is at least one chunk.
        unsafe { written(size, write) }
    }

    /// Writes the sums over the rows of squares `all`.
    fn add_up(&self, level: Level, all: Range<usize>, sums: &mut [MaybeUninit<f32>]) {
        let (squares, lanes) = (self.squares, tile::sizes(level)[1]);
        for start in all.clone().step_by(squares.rows(SQUARES)) {
            let chunk = Chunk {
                of: self,
                rows: start..all.end.min(start + squares.rows(SQUARES)),
                is_first: start == all.start,
                sums: &mut *sums,
            };
            let scratch = chunk.sizes(lanes).iter().sum();
            with_scratch(scratch, |scratch| tile::run(level, Lent(chunk, scratch)));
        }
    }
}

/// Some rows of squares, counted through all images.
struct Chunk<'a> {
    of: &'a Share<'a>,
    rows: Range<usize>,
    /// Whether this is the first chunk, before which there are no sums.
    is_first: bool,
    sums: &'a mut [MaybeUninit<f32>],
}

impl Chunk<'_> {
    fn squares(&self) -> usize {
        self.rows.len() * self.of.squares.count[1]
    }

    /// Returns the layout of the images' transformed squares: by number and channel.
    fn layout(&self, lanes: usize) -> Layout {
        // A channel has room for the rest of the last vector. The extra line keeps the numbers from sharing a
        // few sets of the first-level cache.
        let channel = self.squares().next_multiple_of(16) + 16;
        Layout { number: self.of.channels.len() * channel + 32, channel, tile: 2 * lanes }
    }

    /// Returns the number of outputs in all panels.
    fn outputs(&self, lanes: usize) -> usize {
        self.of.results[0].next_multiple_of(2 * lanes)
    }

    /// Returns the distance between numbers of the gradients' squares. Each number's panels are contiguous.
    fn number(&self, lanes: usize) -> usize {
        self.squares() * self.outputs(lanes) + 2 * lanes
    }

    /// Returns the sizes of a channel's lines, of the transformed squares, of a panel of gradients, and of the
    /// gradients' squares, in whole cache lines.
    fn sizes(&self, lanes: usize) -> [usize; 4] {
        let rows = self.rows.len().min(self.of.squares.count[0]);
        let lines = Sources::lines(self.of.squares, rows, lanes);
        let transposed = 2 * rows * self.of.results[2] * 2 * lanes;
        [lines, SQUARE * self.layout(lanes).number, transposed, SQUARE * self.number(lanes)]
            .map(|size| size.next_multiple_of(16))
    }
}

/// A chunk and its scratch memory.
struct Lent<'a>(Chunk<'a>, &'a mut [f32]);

impl Tiled for Lent<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Lent(mut chunk, scratch) = self;
        let [lines, sources, transposed, _] = chunk.sizes(LANES);
        let (lines, scratch) = scratch.split_at_mut(lines);
        let (sources, scratch) = scratch.split_at_mut(sources);
        let (transposed, gradients) = scratch.split_at_mut(transposed);
        let mut extent = Extent::NONE;
        let seen = |lines: &[f32]| extent = extent.with(Extent::of_few(lines));
        let Share { squares, results, channels, input, gradient, .. } = chunk.of;
        let from = Sources {
            squares,
            pictures: input,
            channels: channels.clone(),
            rows: chunk.rows.clone(),
            layout: chunk.layout(LANES),
        };
        from.write::<LANES>(lines, seen, sources);
        let from = Results { squares, size: *results, numbers: gradient, rows: chunk.rows.clone() };
        // The scale is a power of two, so scaling by it is exact.
        let scale = from.extent().of_sums().scale(extent.of_sums(), chunk.squares());
        from.write::<LANES>(scale, transposed, chunk.number(LANES), gradients);
        chunk.multiply::<FUSED, ROWS, LANES>(1.0 / scale, sources, gradients);
    }
}

impl Chunk<'_> {
    /// Adds up the products of squares.
    #[inline(always)]
    fn multiply<const FUSED: bool, const ROWS: usize, const LANES: usize>(
        &mut self,
        scale: f32,
        sources: &[f32],
        gradients: &[f32],
    ) {
        let (both, squares, channels) = (2 * LANES, self.squares(), self.of.channels.len());
        let (layout, size) = (self.layout(LANES), self.number(LANES));
        assert!(squares <= layout.channel, "a channel has all squares");
        for number in 0..SQUARE {
            let sources = &sources[number * layout.number..][..channels * layout.channel];
            let gradients = &gradients[number * size..][..squares * self.outputs(LANES)];
            for (panel, gradients) in gradients.chunks_exact(squares * both).enumerate() {
                let sums = &mut self.sums[(panel * SQUARE + number) * channels * both..];
                for (first, sums) in
                    (0..channels).step_by(ROWS).zip(sums[..channels * both].chunks_mut(ROWS * both))
                {
                    let starts: [usize; ROWS] =
                        std::array::from_fn(|row| (first + row).min(channels - 1) * layout.channel);
                    let tile = product::<FUSED, ROWS, LANES>(
                        [1, squares],
                        // SAFETY: each channel has all squares.
                        |_, square, row| unsafe { *sources.get_unchecked(starts[row] + square) },
                        // SAFETY: there are two vectors for each square.
                        |_, square| unsafe {
                            gradients.as_ptr().add(square * both).cast::<[[f32; LANES]; 2]>().read()
                        },
                    );
                    for (sums, tile) in sums.chunks_exact_mut(both).zip(&tile) {
                        for (sums, found) in sums.chunks_exact_mut(LANES).zip(tile) {
                            add::<LANES>(scale, *found, sums, self.is_first);
                        }
                    }
                }
            }
        }
    }
}

/// Adds numbers times `scale` to `sums`, or initialises `sums` with them.
#[inline(always)]
fn add<const LANES: usize>(
    scale: f32,
    mut numbers: [f32; LANES],
    sums: &mut [MaybeUninit<f32>],
    is_first: bool,
) {
    for lane in 0..LANES {
        numbers[lane] *= scale;
    }
    if !is_first {
        for lane in 0..LANES {
            // SAFETY: the first chunk has written all sums.
            numbers[lane] += unsafe { sums[lane].assume_init() };
        }
    }
    for lane in 0..LANES {
        sums[lane].write(numbers[lane]);
    }
}
