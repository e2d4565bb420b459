//! Between pictures and their patches: a matrix with a row for each channel and place of the kernel,
//! and a column for each pixel of the result.

use super::Geometry;
use std::ops::Range;

/// Writes rows `depth` of the patches for some rows of the result.
///
/// `picture` is `[channels, height, width]`, `patches` has `depth.len()` rows of as many numbers as
/// there are pixels.
pub(super) fn unfold(
    geometry: &Geometry,
    picture: &[f32],
    depth: Range<usize>,
    tile: Range<usize>,
    patches: &mut [f32],
) {
    let plane = geometry.input_plane();
    let pixels = tile.len() * geometry.output[1];
    for (row, patch) in depth.zip(patches.chunks_exact_mut(pixels.max(1))) {
        let [channel, y, x] = geometry.place(row);
        let picture = &picture[channel * plane..][..plane];
        let (down, lines) = geometry.reach(0, y);
        let (right, columns) = geometry.reach(1, x);
        let lines = lines.start.max(tile.start)..lines.end.min(tile.end);
        if lines.is_empty() || columns.is_empty() {
            patch.fill(0.0);
            continue;
        }
        let width = geometry.output[1];
        patch[..(lines.start - tile.start) * width].fill(0.0);
        patch[(lines.end - tile.start) * width..].fill(0.0);
        let patch =
            &mut patch[(lines.start - tile.start) * width..(lines.end - tile.start) * width];
        let strip = Strip { geometry, down, right, lines, columns };
        if geometry.stride == [1, 1] && geometry.input[1] == width {
            strip.shift(picture, patch);
        } else {
            strip.gather(picture, patch);
        }
    }
}

/// Adds rows of patches to the picture that they are of: the transpose of [`unfold`].
///
/// `patches` is overwritten.
pub(super) fn fold(
    geometry: &Geometry,
    patches: &mut [f32],
    depth: Range<usize>,
    tile: Range<usize>,
    picture: &mut [f32],
) {
    let plane = geometry.input_plane();
    let width = geometry.output[1];
    let pixels = tile.len() * width;
    for (row, patch) in depth.zip(patches.chunks_exact_mut(pixels.max(1))) {
        let [channel, y, x] = geometry.place(row);
        let picture = &mut picture[channel * plane..][..plane];
        let (down, lines) = geometry.reach(0, y);
        let (right, columns) = geometry.reach(1, x);
        let lines = lines.start.max(tile.start)..lines.end.min(tile.end);
        if lines.is_empty() || columns.is_empty() {
            continue;
        }
        let patch =
            &mut patch[(lines.start - tile.start) * width..(lines.end - tile.start) * width];
        let strip = Strip { geometry, down, right, lines, columns };
        if geometry.stride == [1, 1] && geometry.input[1] == width {
            strip.add_shifted(patch, picture);
        } else {
            strip.scatter(patch, picture);
        }
    }
}

/// One row of the patches, where it lies within the picture: `lines` of the result, of which
/// `columns` have a pixel `down` and `right` of them.
struct Strip<'a> {
    geometry: &'a Geometry,
    down: isize,
    right: isize,
    lines: Range<usize>,
    columns: Range<usize>,
}

impl Strip<'_> {
    /// Where the pixel of a place in the result is in the picture.
    fn source(&self, line: usize, column: usize) -> usize {
        let [stride_down, stride_right] = self.geometry.stride;
        let y = (line * stride_down) as isize + self.down;
        let x = (column * stride_right) as isize + self.right;
        y as usize * self.geometry.input[1] + x as usize
    }

    /// From the first pixel that there is to the last: in the picture, and in the strip. Where the
    /// lines of both are equally long, everything between lies at the same distance.
    fn shared(&self) -> (usize, Range<usize>) {
        let width = self.geometry.output[1];
        let start = self.columns.start;
        let end = (self.lines.len() - 1) * width + self.columns.end;
        (self.source(self.lines.start, start), start..end)
    }

    /// Sets what is to the left and to the right of the picture to 0.
    fn clear_edges(&self, patch: &mut [f32]) {
        let width = self.geometry.output[1];
        if self.columns == (0..width) {
            return;
        }
        for line in patch.chunks_exact_mut(width) {
            line[..self.columns.start].fill(0.0);
            line[self.columns.end..].fill(0.0);
        }
    }

    /// Copies a picture of the result's width, all lines at once.
    fn shift(&self, picture: &[f32], patch: &mut [f32]) {
        let (source, range) = self.shared();
        let length = range.len();
        patch[range].copy_from_slice(&picture[source..source + length]);
        self.clear_edges(patch);
    }

    /// Line by line.
    fn gather(&self, picture: &[f32], patch: &mut [f32]) {
        let (width, step) = (self.geometry.output[1], self.geometry.stride[1]);
        let Range { start, end } = self.columns;
        for (line, patch) in self.lines.clone().zip(patch.chunks_exact_mut(width)) {
            patch[..start].fill(0.0);
            patch[end..].fill(0.0);
            let source = &picture[self.source(line, start)..];
            match step {
                1 => patch[start..end].copy_from_slice(&source[..end - start]),
                _ => {
                    let pixels = source.iter().step_by(step);
                    patch[start..end].iter_mut().zip(pixels).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }

    /// Adds to a picture of the result's width, all lines at once.
    fn add_shifted(&self, patch: &mut [f32], picture: &mut [f32]) {
        self.clear_edges(patch);
        let (source, range) = self.shared();
        let length = range.len();
        add(&patch[range], &mut picture[source..source + length]);
    }

    /// Line by line.
    fn scatter(&self, patch: &[f32], picture: &mut [f32]) {
        let (width, step) = (self.geometry.output[1], self.geometry.stride[1]);
        let Range { start, end } = self.columns;
        for (line, patch) in self.lines.clone().zip(patch.chunks_exact(width)) {
            let place = self.source(line, start);
            let patch = &patch[start..end];
            match step {
                1 => add(patch, &mut picture[place..place + patch.len()]),
                _ => {
                    let pixels = picture[place..].iter_mut().step_by(step);
                    pixels.zip(patch).for_each(|(to, from)| *to += *from);
                }
            }
        }
    }
}

fn add(from: &[f32], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
}
