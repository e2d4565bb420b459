//! Correlations by definition: each element of a result is the sum over channels and taps of an image's
//! elements times their weights. One operand of the product is the image's frame itself, the other is the
//! weights in panels.

use super::frame::Frame;
use crate::kernels::blocks::{for_each_channel_part, for_each_part};
use crate::kernels::scratch::with_scratch;
use crate::kernels::tile::product;
use crate::kernels::tile::{self, Tiled};
use gelu_kernels::Level;
use std::mem::MaybeUninit;

/// The number of weights that are processed together. A tile's rows of this many weights, and their
/// factors, stay in the first-level cache.
const DEPTH: usize = 384;
/// The number of pairs of vectors that all weights are processed for. The numbers that they read stay in
/// the second-level cache.
const PAIRS: usize = 16;

/// The input and the results of a correlation.
#[derive(Clone, Debug)]
pub(super) struct Correlation {
    pub(super) frame: Frame,
    /// Channels, height and width of an image.
    pub(super) source: [usize; 3],
    /// The position in a channel of the frame at which each tap begins.
    pub(super) taps: Vec<usize>,
    pub(super) results: Results,
}

/// The results in an image: every `step`th line and column from `start` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results {
    pub(super) channels: usize,
    /// The number of lines and of columns.
    pub(super) count: [usize; 2],
    /// The height and width of a whole plane.
    pub(super) size: [usize; 2],
    pub(super) start: [usize; 2],
    pub(super) step: [usize; 2],
}

impl Results {
    fn plane(&self) -> usize {
        self.size[0] * self.size[1]
    }
}

/// The elements of a line in one vector.
#[derive(Clone, Copy, Debug)]
struct Span {
    frame: usize,
    result: usize,
    count: usize,
}

impl Correlation {
    fn depth(&self) -> usize {
        self.source[0] * self.taps.len()
    }

    /// Returns the position in the frame at which each row of weights begins to read, by channel and tap.
    fn offsets(&self) -> Vec<usize> {
        let channel =
            |channel| self.taps.iter().map(move |tap| channel * self.frame.channel() + tap);
        (0..self.source[0]).flat_map(channel).collect()
    }

    fn spans(&self, lanes: usize) -> Vec<Span> {
        let Results { count: [lines, columns], size, start, step, .. } = self.results;
        let mut spans = Vec::with_capacity(lines * columns.div_ceil(lanes));
        for line in 0..lines {
            for column in (0..columns).step_by(lanes) {
                let [y, x] = [start[0] + line * step[0], start[1] + column * step[1]];
                spans.push(Span {
                    frame: line * self.frame.line() + column,
                    result: y * size[1] + x,
                    count: lanes.min(columns - column),
                });
            }
        }
        spans
    }

    /// Writes the results of all images, one after the other. `weight` receives the channel of the result,
    /// the channel of the image, and the tap.
    pub(super) fn run(
        &self,
        level: Level,
        pictures: &[f32],
        weight: impl Fn(usize, usize, usize) -> f32 + Sync + Send,
        bias: &[f32],
        results: &mut [MaybeUninit<f32>],
    ) {
        let Results { channels, count, .. } = self.results;
        // If the stride is longer than an image, some phases have no elements.
        if count.contains(&0) {
            return;
        }
        let [rows, lanes] = tile::sizes(level);
        let (depth, plane, taps) = (self.depth(), self.results.plane(), self.taps.len());
        let (offsets, spans) = (self.offsets(), self.spans(lanes));
        let mut panels = vec![0.0; channels.div_ceil(rows) * rows * depth];
        for_each_part(&mut panels, rows * depth, |panel, panels| {
            let outputs = panel * rows..channels.min((panel + 1) * rows);
            let all = (0..self.source[0]).flat_map(|c| (0..taps).map(move |tap| (c, tap)));
            for ((channel, tap), weights) in all.zip(panels.chunks_exact_mut(rows)) {
                let each = weights.iter_mut().zip(outputs.clone());
                each.for_each(|(to, output)| *to = weight(output, channel, tap));
            }
        });
        let [source_channels, height, width] = self.source;
        let source = source_channels * height * width;
        let size = self.frame.size(source_channels, lanes);
        for_each_channel_part(
            results,
            [channels, plane],
            rows,
            depth,
            |picture, outputs, results| {
                with_scratch(size, |numbers| {
                    let picture = &pictures[picture * source..][..source];
                    self.frame.fill(level, picture, [height, width], 0..source_channels, numbers);
                    tile::run(
                        level,
                        Picture {
                            numbers,
                            offsets: &offsets,
                            spans: &spans,
                            panels: &panels[outputs.start * depth..],
                            bias: bias.get(outputs.clone()).unwrap_or(&[]),
                            step: self.results.step[1],
                            plane,
                            outputs: outputs.len(),
                            results,
                        },
                    );
                });
            },
        );
    }
}

/// The work on some channels of an image's results.
struct Picture<'a> {
    numbers: &'a [f32],
    offsets: &'a [usize],
    spans: &'a [Span],
    panels: &'a [f32],
    bias: &'a [f32],
    step: usize,
    plane: usize,
    outputs: usize,
    results: &'a mut [MaybeUninit<f32>],
}

impl Tiled for Picture<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Self { numbers, offsets, spans, panels, bias, step, plane, outputs, results } = self;
        let depth = offsets.len();
        let reach = offsets.iter().max().copied().unwrap_or(0)
            + spans.iter().map(|span| span.frame).max().unwrap_or(0)
            + LANES;
        assert!(depth == 0 || reach <= numbers.len(), "every vector lies within the frame");
        for first in (0..depth.max(1)).step_by(DEPTH) {
            let offsets = &offsets[first..depth.min(first + DEPTH)];
            for spans in spans.chunks(2 * PAIRS) {
                for output in (0..outputs).step_by(ROWS) {
                    let rows = ROWS.min(outputs - output);
                    let panel = &panels[output * depth + first * ROWS..][..offsets.len() * ROWS];
                    for pair in spans.chunks(2) {
                        let pair = [pair[0], pair[pair.len() - 1]];
                        let tile = product::<FUSED, ROWS, LANES>(
                            [1, offsets.len()],
                            // SAFETY: the panel has `ROWS` numbers for each of the offsets.
                            |_, k, row| unsafe { *panel.get_unchecked(k * ROWS + row) },
                            |_, k| {
                                pair.map(|span| {
                                    // SAFETY: the sum of offset and span is at most what the assertion
                                    // above allows.
                                    unsafe {
                                        let offset = *offsets.get_unchecked(k) + span.frame;
                                        numbers
                                            .as_ptr()
                                            .add(offset)
                                            .cast::<[f32; LANES]>()
                                            .read_unaligned()
                                    }
                                })
                            },
                        );
                        for (row, sums) in tile.iter().take(rows).enumerate() {
                            let plane = (output + row) * plane;
                            let [one, other] = [0, 1].map(|half| {
                                let from = &results[plane + pair[half].result..];
                                match bias.get(output + row) {
                                    // SAFETY: the pass over the first weights has written these sums.
                                    _ if first > 0 => unsafe { load(from, step, pair[half].count) },
                                    Some(bias) => [*bias; LANES],
                                    None => [0.0; LANES],
                                }
                            });
                            for (half, before) in [one, other].into_iter().enumerate() {
                                let to = &mut results[plane + pair[half].result..];
                                store(sums[half], before, to, step, pair[half].count);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a vector of numbers that are `step` apart, followed by zeros.
///
/// # Safety
///
/// The numbers must have been written.
#[inline(always)]
unsafe fn load<const LANES: usize>(
    from: &[MaybeUninit<f32>],
    step: usize,
    count: usize,
) -> [f32; LANES] {
    let mut numbers = [0.0; LANES];
    if step == 1 && count == LANES {
        for (number, from) in numbers.iter_mut().zip(&from[..LANES]) {
            // SAFETY: the caller guarantees that the numbers have been written.
            *number = unsafe { from.assume_init() };
        }
    } else {
        for (number, from) in numbers.iter_mut().zip(from.iter().step_by(step)).take(count) {
            // SAFETY: the caller guarantees that the numbers have been written.
            *number = unsafe { from.assume_init() };
        }
    }
    numbers
}

/// Writes the sums, added to those of the earlier weights, `before`.
#[inline(always)]
fn store<const LANES: usize>(
    sums: [f32; LANES],
    before: [f32; LANES],
    to: &mut [MaybeUninit<f32>],
    step: usize,
    count: usize,
) {
    let mut numbers = before;
    numbers.iter_mut().zip(sums).for_each(|(number, sum)| *number += sum);
    if step == 1 && count == LANES {
        for (number, to) in numbers.iter().zip(&mut to[..LANES]) {
            to.write(*number);
        }
    } else {
        for (number, to) in numbers.iter().zip(to.iter_mut().step_by(step)).take(count) {
            to.write(*number);
        }
    }
}
