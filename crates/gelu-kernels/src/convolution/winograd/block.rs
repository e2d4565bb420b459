//! Some rows of squares, transformed, multiplied and transformed back.

use super::kernels::KernelPanels;
use super::lines::Lines;
use super::squares::{Run, SQUARE, Squares};
use super::transform::{result, source, turned, vector};
use crate::disjoint::Disjoint;
use crate::level::Tiled;
use crate::prefetch;
use crate::tile::product;
use std::ops::Range;

/// Panels that a tile of squares is multiplied by while it is in the first cache level.
const GROUP: usize = 4;

/// Some rows of squares, counted through all pictures.
pub(super) struct Block<'a> {
    pub(super) squares: &'a Squares,
    /// Channels, height and width of a picture's results.
    pub(super) shape: [usize; 3],
    pub(super) rows: Range<usize>,
    /// Panels that it multiplies by.
    pub(super) part: Range<usize>,
    pub(super) panels: KernelPanels<'a>,
    /// All of them, unless they are made on the way.
    pub(super) ready: Option<&'a [f32]>,
    pub(super) pictures: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) results: &'a Disjoint<'a, f32>,
}

impl Block<'_> {
    /// Tiles that the squares fill.
    fn tiles(&self, lanes: usize) -> usize {
        (self.rows.len() * self.squares.count[1]).div_ceil(2 * lanes)
    }

    /// Numbers of a channel's lines, of the transformed squares, of a panel, and of its sums.
    pub(super) fn sizes(&self, lanes: usize, rows: usize) -> [usize; 4] {
        let Squares { source: [channels, ..], count, .. } = &self.squares;
        let tiles = SQUARE * self.tiles(lanes) * 2 * lanes;
        let panel = if self.ready.is_some() { 0 } else { self.panels.size() };
        let group = GROUP.min(self.part.len());
        let lines = Lines::new(self.squares, lanes).size(self.rows.len().min(count[0]));
        [lines, tiles * channels, group * panel, group * (tiles * rows + lanes)]
    }
}

/// A block and the memory that it needs.
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
        let Squares { source: [channels, ..], .. } = &self.squares;
        let both = 2 * LANES;
        let [lines, sources, room, _] = self.sizes(LANES, ROWS);
        let tiles = self.tiles(LANES);
        let (lines, scratch) = scratch.split_at_mut(lines);
        let (sources, scratch) = scratch.split_at_mut(sources);
        let (room, sums) = scratch.split_at_mut(room);
        self.transform::<LANES>(lines, sources, tiles);
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
            for (place, sources) in sources.chunks_exact(channels * both).enumerate() {
                let (number, tile) = (place / tiles, place % tiles);
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

/// Sums of one number of the squares of a tile over all channels, for each row of a panel; the rows are as far
/// from each other as all `tiles` take.
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
        // SAFETY: there is one for each row and channel.
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
    /// `Bᵀ d B` of all squares, by number, tile, channel and square.
    #[inline(always)]
    fn transform<const LANES: usize>(
        &self,
        numbers: &mut [f32],
        sources: &mut [f32],
        tiles: usize,
    ) {
        let squares = &self.squares;
        let Squares { source: [channels, height, width], count, .. } = squares;
        let (both, plane) = (2 * LANES, height * width);
        // What no square is in is multiplied all the same.
        let last = self.rows.len() * count[1];
        if !last.is_multiple_of(both) {
            for number in 0..SQUARE {
                sources[(number * tiles + tiles - 1) * channels * both..][..channels * both]
                    .fill(0.0);
            }
        }
        let lines = Lines::new(squares, LANES);
        let mut index = 0;
        while index < self.rows.len() {
            let (of, row) =
                ((self.rows.start + index) / count[0], (self.rows.start + index) % count[0]);
            let rows = row..count[0].min(row + self.rows.len() - index);
            let numbers = &mut numbers[..lines.size(rows.len())];
            // What lies outside the picture.
            numbers.fill(0.0);
            for channel in 0..*channels {
                let plane = &self.pictures[(of * channels + channel) * plane..][..plane];
                lines.fill(plane, &rows, numbers);
                for row in 0..rows.len() {
                    for run in squares.runs((index + row) * count[1], LANES) {
                        let mut square = [[[0.0; LANES]; 4]; 4];
                        for line in 0..4 {
                            for column in 0..4 {
                                let start = lines.place(row, [line, column]) + run.column;
                                square[line][column] = vector(numbers, start);
                            }
                        }
                        let columns = turned(square);
                        for column in 0..4 {
                            square[column] = source(columns[column]);
                        }
                        let turned = turned(square);
                        for line in 0..4 {
                            let found = source(turned[line]);
                            for column in 0..4 {
                                let number = 4 * line + column;
                                let at = |square: usize| {
                                    ((number * tiles + square / both) * channels + channel) * both
                                        + square % both
                                };
                                put(sources, at, run, found[column]);
                            }
                        }
                    }
                }
            }
            index += rows.len();
        }
    }

    /// `Aᵀ m A` of the sums of a panel, to the results.
    #[inline(always)]
    fn write<const ROWS: usize, const LANES: usize>(
        &self,
        panel: usize,
        sums: &[f32],
        tiles: usize,
    ) {
        let (squares, [outputs, height, width]) = (self.squares, self.shape);
        let squares_in_row = squares.count[1];
        let of_row = tiles * 2 * LANES;
        for (row_of_panel, output) in (panel * ROWS..outputs.min((panel + 1) * ROWS)).enumerate() {
            let bias = self.bias.get(output).copied().unwrap_or(0.0);
            for (index, row) in self.rows.clone().enumerate() {
                let (picture, row) = (row / squares.count[0], row % squares.count[0]);
                let start = ((picture * outputs + output) * height + 2 * row) * width;
                let lines = 2.min(height - 2 * row);
                // SAFETY: each pair of lines is one row's of squares, and each such row one block's.
                let to = unsafe { self.results.unwritten_part(start..start + lines * width) };
                for run in squares.runs(index * squares_in_row, LANES) {
                    let mut columns = [[[0.0; LANES]; 4]; 4];
                    for line in 0..4 {
                        for column in 0..4 {
                            let row = (4 * line + column) * ROWS + row_of_panel;
                            columns[column][line] = vector(sums, row * of_row + run.index);
                        }
                    }
                    let mut down = [[[0.0; LANES]; 4]; 2];
                    for column in 0..4 {
                        let [first, second] = result(columns[column]);
                        down[0][column] = first;
                        down[1][column] = second;
                    }
                    for (down, to) in down.into_iter().zip(to.chunks_exact_mut(width)) {
                        let [even, odd] = result(down);
                        let mut pairs = [[0.0; 2]; LANES];
                        for lane in 0..LANES {
                            pairs[lane] = [even[lane] + bias, odd[lane] + bias];
                        }
                        let to = &mut to[2 * run.column..];
                        // As where lines are read: a channel soon to come.
                        prefetch::to_write::<16, _>(to.as_ptr());
                        let from = pairs.as_flattened();
                        if run.count == LANES && to.len() >= 2 * LANES {
                            for (to, from) in to[..2 * LANES].iter_mut().zip(from) {
                                to.write(*from);
                            }
                        } else {
                            for (to, from) in to.iter_mut().zip(&from[..2 * run.count]) {
                                to.write(*from);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Writes a run's numbers to the places of its squares, which lie one behind the other except between
/// tiles: a vector's, or half or a quarter of one, as small pictures have.
#[inline(always)]
fn put<const LANES: usize>(
    to: &mut [f32],
    at: impl Fn(usize) -> usize,
    run: Run,
    numbers: [f32; LANES],
) {
    let fits = |count: usize| run.count == count && run.index.is_multiple_of(count);
    if fits(LANES) {
        copy::<LANES, LANES>(&mut to[at(run.index)..], numbers);
    } else if fits(8) {
        copy::<8, LANES>(&mut to[at(run.index)..], numbers);
    } else if fits(4) {
        copy::<4, LANES>(&mut to[at(run.index)..], numbers);
    } else {
        for lane in 0..run.count {
            to[at(run.index + lane)] = numbers[lane];
        }
    }
}

#[inline(always)]
fn copy<const COUNT: usize, const LANES: usize>(to: &mut [f32], numbers: [f32; LANES]) {
    let to = &mut to[..COUNT];
    for lane in 0..COUNT.min(LANES) {
        to[lane] = numbers[lane];
    }
}
