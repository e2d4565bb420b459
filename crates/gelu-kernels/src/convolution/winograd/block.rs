//! Some rows of squares, transformed, multiplied and transformed back.

use super::kernels::{KernelPanels, row_size};
use super::squares::{Run, SQUARE, Squares};
use super::transform::{result, source, turned, vector};
use crate::disjoint::Disjoint;
use crate::level::{Level, Tiled};
use crate::tile::product;
use std::ops::Range;

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
    pub(super) level: Level,
}

impl Block<'_> {
    /// Tiles that the squares fill.
    fn tiles(&self, lanes: usize) -> usize {
        (self.rows.len() * self.squares.count[1]).div_ceil(2 * lanes)
    }

    /// Numbers of the frame, of the transformed squares, of a panel, and of its sums.
    pub(super) fn sizes(&self, lanes: usize, rows: usize) -> [usize; 4] {
        let Squares { frame, source: [channels, ..], .. } = &self.squares;
        let tiles = SQUARE * self.tiles(lanes) * 2 * lanes;
        let panel = if self.ready.is_some() { 0 } else { self.panels.size() };
        [frame.size(*channels, lanes), tiles * channels, panel, tiles * rows + lanes]
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
        let [size, sources, panel, _] = self.sizes(LANES, ROWS);
        let tiles = self.tiles(LANES);
        let (numbers, scratch) = scratch.split_at_mut(size);
        let (sources, scratch) = scratch.split_at_mut(sources);
        let (room, sums) = scratch.split_at_mut(panel);
        self.transform::<LANES>(numbers, sources, tiles);
        let row_size = row_size(*channels, LANES);
        for index in self.part.clone() {
            let panel = match self.ready {
                Some(ready) => &ready[index * self.panels.size()..][..self.panels.size()],
                None => {
                    self.panels.write(index, room);
                    &*room
                }
            };
            for number in 0..SQUARE {
                let weights = &panel[number * ROWS * row_size..][..ROWS * row_size];
                let sources = &sources[number * tiles * channels * both..];
                let sums = &mut sums[number * ROWS * tiles * both..][..ROWS * tiles * both];
                for tile in 0..tiles {
                    let sources = &sources[tile * channels * both..][..channels * both];
                    let found = product::<FUSED, ROWS, LANES>(
                        [1, *channels],
                        // SAFETY: there is one for each row and channel.
                        |_, k, row| unsafe { *weights.get_unchecked(row * row_size + k) },
                        // SAFETY: there are two vectors for each channel.
                        |_, k| unsafe {
                            let from = sources.as_ptr().add(k * both);
                            from.cast::<[[f32; LANES]; 2]>().read()
                        },
                    );
                    for (row, found) in found.iter().enumerate() {
                        let to = &mut sums[(row * tiles + tile) * both..][..both];
                        for lane in 0..LANES {
                            to[lane] = found[0][lane];
                            to[LANES + lane] = found[1][lane];
                        }
                    }
                }
            }
            self.write::<ROWS, LANES>(index, sums, tiles);
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
        let Squares { frame, source: [channels, height, width], count, taps } = squares;
        let (both, picture) = (2 * LANES, channels * height * width);
        // What no square is in is multiplied all the same.
        let last = self.rows.len() * count[1];
        if !last.is_multiple_of(both) {
            for number in 0..SQUARE {
                sources[(number * tiles + tiles - 1) * channels * both..][..channels * both]
                    .fill(0.0);
            }
        }
        let mut filled = None;
        for (index, row) in self.rows.clone().enumerate() {
            let (of, row) = (row / count[0], row % count[0]);
            if filled.replace(of) != Some(of) {
                let picture = &self.pictures[of * picture..][..picture];
                // A square reaches so much further than its row.
                let reach = frame.lines().end - count[0];
                let lines = row..count[0].min(row + self.rows.len() - index) + reach;
                frame.fill(self.level, picture, [*height, *width], 0..*channels, lines, numbers);
            }
            for run in squares.runs(row, index * count[1], LANES) {
                let start = run.row * frame.line() + run.column;
                for channel in 0..*channels {
                    let place = channel * frame.channel() + start;
                    let mut square = [[[0.0; LANES]; 4]; 4];
                    for line in 0..4 {
                        for column in 0..4 {
                            let start = place + taps[4 * line + column];
                            square[line][column] = vector(numbers, start);
                        }
                    }
                    let columns = turned(square);
                    for column in 0..4 {
                        square[column] = source(columns[column]);
                    }
                    let lines = turned(square);
                    for line in 0..4 {
                        let found = source(lines[line]);
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
                for run in squares.runs(row, index * squares_in_row, LANES) {
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
