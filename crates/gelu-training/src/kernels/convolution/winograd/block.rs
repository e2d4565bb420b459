//! A block of rows of squares: transformed, multiplied and transformed back.

use super::kernels::KernelPanels;
use super::sources::{Layout, Sources};
use super::squares::{SQUARE, Squares};
use super::transform::{result, vector};
use crate::kernels::tile::Tiled;
use crate::kernels::tile::product;
use gelu_kernels::SharedSlice;
use gelu_kernels::prefetch;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The number of panels that a tile of squares is multiplied by while the tile is in the first-level cache.
const GROUP: usize = 4;

/// Some rows of squares, counted through all images.
pub(super) struct Block<'a> {
    pub(super) squares: &'a Squares,
    /// Channels, height and width of an image's results.
    pub(super) shape: [usize; 3],
    pub(super) rows: Range<usize>,
    /// The panels that this block multiplies by.
    pub(super) part: Range<usize>,
    pub(super) panels: KernelPanels<'a>,
    /// All panels, or `None` if the block computes them when needed.
    pub(super) ready: Option<&'a [f32]>,
    pub(super) pictures: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) results: &'a SharedSlice<'a, f32>,
}

impl Block<'_> {
    /// Returns the number of tiles that the squares fill.
    fn tiles(&self, lanes: usize) -> usize {
        (self.rows.len() * self.squares.count[1]).div_ceil(2 * lanes)
    }

    /// Returns the layout of the squares: by number, tile and channel.
    fn layout(&self, lanes: usize) -> Layout {
        let (channels, both) = (self.squares.source[0], 2 * lanes);
        // The extra line keeps the numbers from sharing a few sets of the first-level cache.
        let number = self.tiles(lanes) * channels * both + both;
        Layout { number, channel: both, tile: channels * both }
    }

    /// Returns the sizes of a channel's lines, of the transformed squares, of a group of panels, and of their
    /// sums, in whole cache lines.
    pub(super) fn sizes(&self, lanes: usize, rows: usize) -> [usize; 4] {
        let sources = SQUARE * self.layout(lanes).number;
        let panel = if self.ready.is_some() { 0 } else { self.panels.size() };
        let group = GROUP.min(self.part.len());
        let lines = Sources::lines(self.squares, self.rows.len(), lanes);
        let sums = SQUARE * self.tiles(lanes) * 2 * lanes * rows + lanes;
        [lines, sources, group * panel, group * sums].map(|size| size.next_multiple_of(16))
    }
}

/// A block and its scratch memory.
pub(super) struct Lent<'a>(pub(super) Block<'a>, pub(super) &'a mut [f32]);

impl Tiled for Lent<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Lent(block, scratch) = self;
        block.run::<FUSED, ROWS, LANES>(scratch);
    }
}

impl Block<'_> {
    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(&self, scratch: &mut [f32]) {
        let (both, layout) = (2 * LANES, self.layout(LANES));
        let [lines, sources, room, _] = self.sizes(LANES, ROWS);
        let tiles = self.tiles(LANES);
        let (lines, scratch) = scratch.split_at_mut(lines);
        let (sources, scratch) = scratch.split_at_mut(sources);
        let (room, sums) = scratch.split_at_mut(room);
        self.transform::<LANES>(lines, sources);
        let (panel_size, sums_size) = (self.panels.size(), SQUARE * ROWS * tiles * both + LANES);
        for first in self.part.clone().step_by(GROUP) {
            let group = first..self.part.end.min(first + GROUP);
            let panels = match self.ready {
                Some(ready) => &ready[first * panel_size..][..group.len() * panel_size],
                None => {
                    for (index, room) in group.clone().zip(room.chunks_exact_mut(panel_size)) {
                        self.panels.write(index, room);
                    }
                    &room[..group.len() * panel_size]
                }
            };
            for place in 0..SQUARE * tiles {
                let (number, tile) = (place / tiles, place % tiles);
                let start = number * layout.number + tile * layout.tile;
                let sources = &sources[start..start + layout.tile];
                for (panel, sums) in
                    panels.chunks_exact(panel_size).zip(sums.chunks_exact_mut(sums_size))
                {
                    let weights = &panel[number * panel_size / SQUARE..][..panel_size / SQUARE];
                    let sums = &mut sums[(number * ROWS * tiles + tile) * both..];
                    multiply::<FUSED, ROWS, LANES>(weights, sources, sums, tiles);
                }
            }
            for (index, sums) in group.zip(sums.chunks_exact(sums_size)) {
                self.write::<ROWS, LANES>(index, sums, tiles);
            }
        }
    }
}

/// Computes the sums of one number of a tile's squares over all channels, for each row of a panel. Rows of sums
/// are `tiles` tiles apart.
#[inline(always)]
fn multiply<const FUSED: bool, const ROWS: usize, const LANES: usize>(
    weights: &[f32],
    sources: &[f32],
    sums: &mut [f32],
    tiles: usize,
) {
    let both = 2 * LANES;
    let (row_size, channels) = (weights.len() / ROWS, sources.len() / both);
    assert!(channels <= row_size, "each channel has its weights");
    let found = product::<FUSED, ROWS, LANES>(
        [1, channels],
        // SAFETY: there is one weight for each row and channel.
        |_, k, row| unsafe { *weights.get_unchecked(row * row_size + k) },
        // SAFETY: there are two vectors for each channel.
        |_, k| unsafe { sources.as_ptr().add(k * both).cast::<[[f32; LANES]; 2]>().read() },
    );
    for (row, found) in found.iter().enumerate() {
        let to = &mut sums[row * tiles * both..][..both];
        for lane in 0..LANES {
            to[lane] = found[0][lane];
            to[LANES + lane] = found[1][lane];
        }
    }
}

impl Block<'_> {
    #[inline(always)]
    fn transform<const LANES: usize>(&self, lines: &mut [f32], sources: &mut [f32]) {
        let (layout, tiles) = (self.layout(LANES), self.tiles(LANES));
        // The last tile may have unused places, which are multiplied, too, and therefore cleared.
        if !(self.rows.len() * self.squares.count[1]).is_multiple_of(2 * LANES) {
            for number in 0..SQUARE {
                sources[number * layout.number + (tiles - 1) * layout.tile..][..layout.tile]
                    .fill(0.0);
            }
        }
        let from = Sources {
            squares: self.squares,
            pictures: self.pictures,
            channels: 0..self.squares.source[0],
            rows: self.rows.clone(),
            layout,
        };
        from.write::<LANES>(lines, |_| {}, sources);
    }

    /// Writes `Aᵀ m A` of a panel's sums to the results.
    #[inline(always)]
    fn write<const ROWS: usize, const LANES: usize>(
        &self,
        panel: usize,
        sums: &[f32],
        tiles: usize,
    ) {
        let (squares, [outputs, height, width]) = (self.squares, self.shape);
        let (right, of_row) = (squares.count[1], tiles * 2 * LANES);
        for (row_of_panel, output) in (panel * ROWS..outputs.min((panel + 1) * ROWS)).enumerate() {
            let bias = self.bias.get(output).copied().unwrap_or(0.0);
            // The row of the first square, and its position in the row.
            let (mut row, mut column) = (self.rows.start, 0);
            for first in (0..self.rows.len() * right).step_by(LANES) {
                let mut columns = [[[0.0; LANES]; 4]; 4];
                for line in 0..4 {
                    for column in 0..4 {
                        let row = (4 * line + column) * ROWS + row_of_panel;
                        columns[column][line] = vector(sums, row * of_row + first);
                    }
                }
                let mut down = [[[0.0; LANES]; 4]; 2];
                for column in 0..4 {
                    let [first, second] = result(columns[column]);
                    down[0][column] = first;
                    down[1][column] = second;
                }
                let mut pairs = [[[0.0; 2]; LANES]; 2];
                for line in 0..2 {
                    let [even, odd] = result(down[line]);
                    for lane in 0..LANES {
                        pairs[line][lane] = [even[lane] + bias, odd[lane] + bias];
                    }
                }
                let mut done = 0;
                while done < LANES && row < self.rows.end {
                    let count = (right - column).min(LANES - done);
                    let (picture, line) = (row / squares.count[0], row % squares.count[0] * 2);
                    let start = ((picture * outputs + output) * height + line) * width;
                    let lines = 2.min(height - line);
                    // SAFETY: each pair of lines belongs to one row of squares, and each row to one block.
                    let to = unsafe { self.results.uninit_range(start..start + lines * width) };
                    for (pairs, to) in pairs.iter().zip(to.chunks_exact_mut(width)) {
                        put(&pairs[done..done + count], &mut to[2 * column..]);
                    }
                    done += count;
                    column += count;
                    if column == right {
                        (row, column) = (row + 1, 0);
                    }
                }
            }
        }
    }
}

/// Writes pairs of numbers, except for those beyond the end of `to`.
#[inline(always)]
fn put(pairs: &[[f32; 2]], to: &mut [MaybeUninit<f32>]) {
    // Prefetches one of the next channels, as the code that reads lines does.
    prefetch::to_write::<16, _>(to.as_ptr());
    let from = pairs.as_flattened();
    let count = from.len().min(to.len());
    match count {
        32 => copy::<32>(from, to),
        16 => copy::<16>(from, to),
        8 => copy::<8>(from, to),
        _ => to[..count].iter_mut().zip(from).for_each(|(to, from)| {
            to.write(*from);
        }),
    }
}

#[inline(always)]
fn copy<const COUNT: usize>(from: &[f32], to: &mut [MaybeUninit<f32>]) {
    for (to, from) in to[..COUNT].iter_mut().zip(&from[..COUNT]) {
        to.write(*from);
    }
}
