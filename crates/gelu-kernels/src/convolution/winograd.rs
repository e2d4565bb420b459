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

use super::axis::Axis;
use super::frame::Frame;
use crate::disjoint::Disjoint;
use crate::level::{Level, Tiled};
use crate::scratch::with_scratch;
use crate::threads::{PARALLEL_PRODUCT, each, for_each_part};
use crate::tile::product;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::vec;

/// Numbers of a square, in rows.
const SQUARE: usize = 16;

/// Numbers of transformed squares that are worked on together: they stay in the second cache level.
const BLOCK: usize = 1 << 16;

/// The squares of pictures of one size.
#[derive(Clone, Debug)]
pub(super) struct Squares {
    frame: Frame,
    /// Channels, height and width of a picture.
    source: [usize; 3],
    /// How many there are of a picture, down and to the right.
    count: [usize; 2],
    /// Where each number of a square begins in a channel of the frame.
    taps: [usize; SQUARE],
}

/// Squares of one row that a vector has: the picture's, down and to the right.
#[derive(Clone, Copy, Debug)]
struct Run {
    row: usize,
    column: usize,
    /// Their number within the block.
    index: usize,
    count: usize,
}

impl Squares {
    /// For results of `size`, the first of which depend on pixels from −`padding` on.
    pub(super) fn new(source: [usize; 3], size: [usize; 2], padding: [isize; 2]) -> Self {
        let count = size.map(|length| length.div_ceil(2));
        let frame = Frame::new([0, 1].map(|axis| {
            let shifts = [0, 1, 2, 3].map(|place| place - padding[axis]);
            Axis::new(source[1 + axis], count[axis], 2, &shifts)
        }));
        let taps = std::array::from_fn(|place| frame.tap([place / 4, place % 4]));
        Self { frame, source, count, taps }
    }

    /// Rows of squares that are worked on together, so many squares each.
    fn rows(&self, squares: usize) -> usize {
        (squares / self.count[1].max(1)).max(1)
    }

    /// Pieces of a row of squares, the first of which is the block's number `index`.
    fn runs(&self, row: usize, index: usize, lanes: usize) -> impl Iterator<Item = Run> {
        let columns = self.count[1];
        (0..columns).step_by(lanes).map(move |column| Run {
            row,
            column,
            index: index + column,
            count: lanes.min(columns - column),
        })
    }
}

/// One of the two products of `Bᵀ d B`, of four numbers.
#[inline(always)]
fn source<const LANES: usize>(d: [[f32; LANES]; 4]) -> [[f32; LANES]; 4] {
    let [a, b, c, d] = d;
    [minus(a, c), plus(b, c), minus(c, b), minus(b, d)]
}

/// One of the two products of `Aᵀ m A`.
#[inline(always)]
fn result<const LANES: usize>(m: [[f32; LANES]; 4]) -> [[f32; LANES]; 2] {
    let [a, b, c, d] = m;
    [plus(plus(a, b), c), minus(minus(b, c), d)]
}

/// One of the two products of `G g Gᵀ`.
#[inline(always)]
fn weights<const LANES: usize>([a, b, c]: [[f32; LANES]; 3]) -> [[f32; LANES]; 4] {
    let (outer, middle) = (halved(plus(a, c)), halved(b));
    [a, plus(outer, middle), minus(outer, middle), c]
}

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

#[inline(always)]
fn plus<const LANES: usize>(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
    let mut sum = a;
    for lane in 0..LANES {
        sum[lane] += b[lane];
    }
    sum
}

#[inline(always)]
fn minus<const LANES: usize>(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
    let mut difference = a;
    for lane in 0..LANES {
        difference[lane] -= b[lane];
    }
    difference
}

#[inline(always)]
fn halved<const LANES: usize>(mut a: [f32; LANES]) -> [f32; LANES] {
    for lane in 0..LANES {
        a[lane] *= 0.5;
    }
    a
}

/// The vector that begins somewhere.
#[inline(always)]
fn vector<const LANES: usize>(numbers: &[f32], start: usize) -> [f32; LANES] {
    let from = &numbers[start..start + LANES];
    let mut vector = [0.0; LANES];
    for lane in 0..LANES {
        vector[lane] = from[lane];
    }
    vector
}

#[inline(always)]
fn turned<const LANES: usize>(square: [[[f32; LANES]; 4]; 4]) -> [[[f32; LANES]; 4]; 4] {
    let [a, b, c, d] = square;
    let mut turned = [[[0.0; LANES]; 4]; 4];
    for place in 0..4 {
        turned[place] = [a[place], b[place], c[place], d[place]];
    }
    turned
}

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
        each(all.div_ceil(block), operations >= PARALLEL_PRODUCT, |index| {
            let rows = index * block..all.min((index + 1) * block);
            let work =
                Block { of: self, rows, panels: &panels, pictures, bias, results: &whole, level };
            let size = work.sizes(lanes, tile_rows).iter().sum();
            with_scratch(size, |scratch| level.run_tiled(Lent(work, scratch)));
        });
    }
}

/// Some rows of squares, counted through all pictures.
struct Block<'a> {
    of: &'a Winograd,
    rows: Range<usize>,
    panels: &'a [f32],
    pictures: &'a [f32],
    bias: &'a [f32],
    results: &'a Disjoint<'a, f32>,
    level: Level,
}

impl Block<'_> {
    /// Tiles that the squares fill.
    fn tiles(&self, lanes: usize) -> usize {
        (self.rows.len() * self.of.squares.count[1]).div_ceil(2 * lanes)
    }

    /// Numbers of the frame, of the transformed squares, and of the sums of a panel.
    fn sizes(&self, lanes: usize, rows: usize) -> [usize; 3] {
        let Squares { frame, source: [channels, ..], .. } = &self.of.squares;
        let tiles = SQUARE * self.tiles(lanes) * 2 * lanes;
        [frame.size(*channels, lanes), tiles * channels, tiles * rows + lanes]
    }
}

/// A block and the memory that it needs.
struct Lent<'a>(Block<'a>, &'a mut [f32]);

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
        let Squares { source: [channels, ..], .. } = &self.of.squares;
        let both = 2 * LANES;
        let [size, sources, _] = self.sizes(LANES, ROWS);
        let tiles = self.tiles(LANES);
        let (numbers, scratch) = scratch.split_at_mut(size);
        let (sources, sums) = scratch.split_at_mut(sources);
        self.transform::<LANES>(numbers, sources, tiles);
        let panel = SQUARE * channels * ROWS;
        for (index, panel) in self.panels.chunks_exact(panel).enumerate() {
            for number in 0..SQUARE {
                let weights = &panel[number * channels * ROWS..][..channels * ROWS];
                let sources = &sources[number * tiles * channels * both..];
                let sums = &mut sums[number * ROWS * tiles * both..][..ROWS * tiles * both];
                for tile in 0..tiles {
                    let sources = &sources[tile * channels * both..][..channels * both];
                    let found = product::<FUSED, ROWS, LANES>(
                        [1, *channels],
                        // SAFETY: there is one for each channel and row.
                        |_, k, row| unsafe { *weights.get_unchecked(k * ROWS + row) },
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
        let squares = &self.of.squares;
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
        let Winograd { squares, results: [outputs, height, width] } = self.of;
        let squares_in_row = squares.count[1];
        let of_row = tiles * 2 * LANES;
        for (row_of_panel, output) in
            (panel * ROWS..*outputs.min(&((panel + 1) * ROWS))).enumerate()
        {
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
                    for (down, to) in down.into_iter().zip(to.chunks_exact_mut(*width)) {
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
/// tiles.
#[inline(always)]
fn put<const LANES: usize>(
    to: &mut [f32],
    at: impl Fn(usize) -> usize,
    run: Run,
    numbers: [f32; LANES],
) {
    /// Half a vector, as the smallest pictures have.
    const HALF: usize = 4;
    if run.count == LANES && run.index.is_multiple_of(LANES) {
        let start = at(run.index);
        let to = &mut to[start..start + LANES];
        for lane in 0..LANES {
            to[lane] = numbers[lane];
        }
    } else if run.count == HALF && run.index.is_multiple_of(HALF) {
        let start = at(run.index);
        let to = &mut to[start..start + HALF];
        for lane in 0..HALF {
            to[lane] = numbers[lane];
        }
    } else {
        for lane in 0..run.count {
            to[at(run.index + lane)] = numbers[lane];
        }
    }
}
