//! The gradient for the weight by definition: images times gradients, summed over pixels.

use super::Geometry;
use super::frame::Frame;
use super::panels::Panels;
use super::parts::Parts;
use crate::kernels::blocks::for_each_part;
use crate::kernels::extent::Extent;
use crate::kernels::scratch::with_scratch;
use crate::kernels::tile::product;
use crate::kernels::tile::{self, Tiled};
use crate::kernels::written::zeros;
use gelu_kernels::Level;
use std::ops::Range;

/// The number of pixels that are summed before a tile's sums are added to the part's. Their gradients
/// stay in the first-level cache.
const PIXELS: usize = 256;

/// Returns the gradient for the weight; see [`weight_gradient`](super::weight_gradient).
pub(super) fn gradient(
    geometry: &Geometry,
    level: Level,
    input: &[f32],
    gradient: &[f32],
) -> Vec<f32> {
    let [channels, outputs] = geometry.channels;
    let frame = geometry.frame();
    let taps = geometry.taps(&frame);
    let depth = channels * taps.len();
    let columns = outputs.next_multiple_of(2 * tile::sizes(level)[1]);
    let operations = geometry.batch * geometry.output_plane() * outputs * depth;
    let parts = Parts::new(channels, geometry.batch, 1, operations);
    // These sums are ordered by channel, tap and output.
    let sums = parts.each(|parts, pictures| {
        Share { geometry, frame: &frame, taps: &taps, parts, level }
            .sums(columns, pictures, input, gradient)
    });
    let mut result = zeros(outputs * depth);
    /// The number of outputs that are gathered together: one cache line.
    const OUTPUTS: usize = 16;
    for_each_part(&mut result, OUTPUTS * depth, |index, result| {
        let first = index * OUTPUTS;
        let rows = result.len() / depth;
        for (index, sums) in sums.chunks_exact(parts.groups).enumerate() {
            let start = parts.channels(index).start * taps.len();
            for k in 0..sums[0].len() / columns {
                let mut total = [0.0; OUTPUTS];
                for sums in sums {
                    let sums = &sums[k * columns + first..][..rows];
                    total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
                }
                for (row, total) in total.iter().take(rows).enumerate() {
                    result[row * depth + start + k] = *total;
                }
            }
        }
    });
    result
}

/// The work of one thread.
struct Share<'a> {
    geometry: &'a Geometry,
    frame: &'a Frame,
    taps: &'a [usize],
    /// Ranges of channels that are processed together.
    parts: Vec<Range<usize>>,
    level: Level,
}

impl Share<'_> {
    /// Returns sums over some images, `columns` for each channel and tap.
    fn sums(
        &self,
        columns: usize,
        pictures: Range<usize>,
        input: &[f32],
        gradient: &[f32],
    ) -> Vec<f32> {
        let Self { geometry, frame, taps, parts, level } = self;
        let channel = |channel| taps.iter().map(move |tap| channel * frame.channel() + tap);
        let most = parts.iter().map(Range::len).max().unwrap_or(0);
        let rows: Vec<usize> = (0..most).flat_map(channel).collect();
        let all: usize = parts.iter().map(Range::len).sum();
        let mut sums = vec![0.0; all * taps.len() * columns];
        let size = frame.size(most, 0);
        let plane = geometry.output_plane();
        with_scratch(size + columns * plane, |scratch| {
            let (numbers, panels) = scratch.split_at_mut(size);
            for picture in pictures {
                let gradient = &gradient[picture * geometry.output_size()..];
                let gradient = &gradient[..geometry.output_size()];
                let picture = &input[picture * geometry.input_size()..][..geometry.input_size()];
                tile::run(*level, Panels { planes: gradient, plane, panels });
                let extent = Extent::of(panels);
                let (mut scale, mut sums) = (1.0, &mut sums[..]);
                for channels in parts {
                    let numbers = &mut numbers[..frame.size(channels.len(), 0)];
                    frame.fill(*level, picture, geometry.input, channels.clone(), numbers);
                    // The scale is a power of two, so scaling by it is exact.
                    let wanted = extent.scale(Extent::of(numbers), plane);
                    if wanted != scale {
                        panels.iter_mut().for_each(|number| *number *= wanted / scale);
                        scale = wanted;
                    }
                    let rows = &rows[..channels.len() * taps.len()];
                    let these;
                    (these, sums) = sums.split_at_mut(rows.len() * columns);
                    tile::run(
                        *level,
                        Picture {
                            numbers,
                            rows,
                            size: geometry.output,
                            line: frame.line(),
                            panels,
                            columns,
                            scale: 1.0 / scale,
                            sums: these,
                        },
                    );
                }
            }
        });
        sums
    }
}

/// The sums over one image.
struct Picture<'a> {
    numbers: &'a [f32],
    rows: &'a [usize],
    size: [usize; 2],
    /// The distance between lines.
    line: usize,
    panels: &'a [f32],
    columns: usize,
    /// The factor of the sums.
    scale: f32,
    sums: &'a mut [f32],
}

impl Tiled for Picture<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const ROWS: usize, const LANES: usize>(self) {
        let Self { numbers, rows, size: [lines, width], line, panels, columns, scale, sums } = self;
        let both = 2 * LANES;
        let plane = lines * width;
        let last = rows.iter().max().copied().unwrap_or(0);
        let reach = last + lines.saturating_sub(1) * line + width;
        assert!(reach <= numbers.len() || plane == 0, "every line lies within the frame");
        let each = (PIXELS / width.max(1)).max(1);
        for first in (0..lines).step_by(each) {
            let count = each.min(lines - first);
            for column in (0..columns).step_by(both) {
                let panel =
                    &panels[column * plane + first * width * both..][..count * width * both];
                for row in (0..rows.len()).step_by(ROWS) {
                    let starts: [usize; ROWS] = std::array::from_fn(|index| {
                        rows[(row + index).min(rows.len() - 1)] + first * line
                    });
                    let tile = product::<FUSED, ROWS, LANES>(
                        [count, width],
                        // SAFETY: no row's line reaches further than the assertion above allows.
                        |y, x, row| unsafe { *numbers.get_unchecked(starts[row] + y * line + x) },
                        // SAFETY: the panel has two vectors for each pixel.
                        |y, x| unsafe {
                            panel
                                .as_ptr()
                                .add((y * width + x) * both)
                                .cast::<[[f32; LANES]; 2]>()
                                .read()
                        },
                    );
                    let sums = sums[row * columns..].chunks_exact_mut(columns);
                    for (sums, tile) in sums.zip(&tile) {
                        let to = &mut sums[column..column + both];
                        for lane in 0..LANES {
                            to[lane] += scale * tile[0][lane];
                            to[LANES + lane] += scale * tile[1][lane];
                        }
                    }
                }
            }
        }
    }
}
