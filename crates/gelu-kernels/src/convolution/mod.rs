//! Two-dimensional convolution and its gradients, as products of matrices with the patches of the
//! pictures, a tile at a time.
//!
//! Every number of a result is summed in one order, whatever the number of threads.

mod geometry;
mod unfold;

pub use geometry::Geometry;

use crate::product::{Before, Matrix, Place, multiply};
use crate::scratch::with_scratch;
use crate::subnormal::without_subnormals;
use crate::threads::for_each_part;
use std::ops::Range;
use std::vec;
use std::vec::Vec;
use unfold::{fold, unfold};

/// The convolution. `output` may be anything before.
///
/// `input` is `[batch, channels, height, width]`, `weight` `[outputs, channels, kernel height,
/// kernel width]`, `bias` `[outputs]` or empty.
pub fn convolve(
    geometry: &Geometry,
    input: &[f32],
    weight: &[f32],
    bias: &[f32],
    output: &mut [f32],
) {
    let [_, outputs] = geometry.channels;
    let (depth, plane) = (geometry.depth(), geometry.output_plane());
    let weight = Matrix::of_rows(weight, outputs, depth, depth);
    let before = if bias.is_empty() { Before::Ignored } else { Before::Kept };
    for_each_part(output, geometry.output_size(), |index, output| {
        for (plane, bias) in output.chunks_exact_mut(plane.max(1)).zip(bias) {
            plane.fill(*bias);
        }
        let picture = &input[index * geometry.input_size()..][..geometry.input_size()];
        let picture = &without_subnormals(picture);
        for_each_tile(geometry, picture, 0..depth, |tile, patches| {
            let (start, pixels) = pixels(geometry, &tile);
            let place = Place::of_rows(&mut output[start..], outputs, pixels, plane);
            multiply(weight, patches, place, before);
        });
    });
}

/// The gradient for the input. `result` has to be 0 before.
pub fn input_gradient(geometry: &Geometry, weight: &[f32], gradient: &[f32], result: &mut [f32]) {
    let [_, outputs] = geometry.channels;
    let (depth, plane) = (geometry.depth(), geometry.output_plane());
    // The other way round in memory, or every product would turn it.
    let turned = transposed(weight, outputs, depth);
    let weight = Matrix::of_rows(&turned, depth, outputs, outputs);
    let largest = if geometry.is_pointwise() { 0 } else { depth * geometry.largest_tile() };
    for_each_part(result, geometry.input_size(), |index, result| {
        let gradient = &gradient[index * geometry.output_size()..][..geometry.output_size()];
        let gradient = &without_subnormals(gradient);
        if geometry.is_pointwise() {
            let gradient = Matrix::of_rows(gradient, outputs, plane, plane);
            let place = Place::of_rows(result, depth, plane, plane);
            multiply(weight, gradient, place, Before::Ignored);
            return;
        }
        with_scratch(largest, |scratch| {
            for tile in geometry.tiles() {
                let (start, pixels) = pixels(geometry, &tile);
                let patches = &mut scratch[..depth * pixels];
                let gradient = Matrix::of_rows(&gradient[start..], outputs, pixels, plane);
                let place = Place::of_rows(patches, depth, pixels, pixels);
                multiply(weight, gradient, place, Before::Ignored);
                fold(geometry, patches, 0..depth, tile, result);
            }
        });
    });
}

/// The gradient for the weight.
pub fn weight_gradient(geometry: &Geometry, input: &[f32], gradient: &[f32]) -> Vec<f32> {
    let [_, outputs] = geometry.channels;
    let (depth, plane) = (geometry.depth(), geometry.output_plane());
    // Transposed: a row for each row of the patches, which threads share out among them.
    let mut turned = vec![0.0; depth * outputs];
    let rows = rows_a_thread(depth);
    for_each_part(&mut turned, rows * outputs, |index, sums| {
        let range = index * rows..index * rows + sums.len() / outputs;
        for picture in 0..geometry.batch {
            let gradient = &gradient[picture * geometry.output_size()..][..geometry.output_size()];
            let picture = &input[picture * geometry.input_size()..][..geometry.input_size()];
            let [picture, gradient] = [picture, gradient].map(without_subnormals);
            for_each_tile(geometry, &picture, range.clone(), |tile, patches| {
                let (start, pixels) = pixels(geometry, &tile);
                let gradient = Matrix::of_rows(&gradient[start..], outputs, pixels, plane);
                let place = Place::of_rows(sums, range.len(), outputs, outputs);
                multiply(patches, gradient.transposed(), place, Before::Kept);
            });
        }
    });
    transposed(&turned, depth, outputs)
}

/// Calls `work` with each tile of a picture's result and rows `depth` of its patches.
fn for_each_tile(
    geometry: &Geometry,
    picture: &[f32],
    depth: Range<usize>,
    mut work: impl FnMut(Range<usize>, Matrix<'_>),
) {
    if geometry.is_pointwise() {
        let plane = geometry.input_plane();
        let rows = Matrix::of_rows(&picture[depth.start * plane..], depth.len(), plane, plane);
        work(0..geometry.output[0], rows);
        return;
    }
    with_scratch(depth.len() * geometry.largest_tile(), |scratch| {
        for tile in geometry.tiles() {
            let (_, pixels) = pixels(geometry, &tile);
            let patches = &mut scratch[..depth.len() * pixels];
            unfold(geometry, picture, depth.clone(), tile.clone(), patches);
            work(tile, Matrix::of_rows(patches, depth.len(), pixels, pixels));
        }
    });
}

/// The first pixel of some rows of the result, and how many there are.
fn pixels(geometry: &Geometry, rows: &Range<usize>) -> (usize, usize) {
    (rows.start * geometry.output[1], rows.len() * geometry.output[1])
}

/// How many rows of the patches a thread takes at a time. Each product turns the gradient, so there
/// have to be enough of them to pay for it.
fn rows_a_thread(depth: usize) -> usize {
    const LEAST: usize = 256;
    depth.div_ceil((depth / LEAST).max(1)).max(1)
}

fn transposed(matrix: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut result = vec![0.0; matrix.len()];
    for (row, values) in matrix.chunks_exact(columns.max(1)).enumerate() {
        for (column, value) in values.iter().enumerate() {
            result[column * rows + row] = *value;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnormal_inputs_and_gradients_count_as_0() {
        for (kernel, padding) in [([3, 3], [1, 1]), ([1, 1], [0, 0])] {
            let geometry = Geometry {
                batch: 2,
                channels: [3, 4],
                input: [5, 6],
                output: [5, 6],
                kernel,
                stride: [1, 1],
                dilation: [1, 1],
                padding,
            };
            let (input, output) = (2 * geometry.input_size(), 2 * geometry.output_size());
            let (tiny, large) = (vec![1e-40; input.max(output)], vec![1e30; input.max(output)]);
            let weight = vec![1e30; geometry.depth() * 4];
            let mut result = vec![0.0; output];
            convolve(&geometry, &tiny[..input], &weight, &[], &mut result);
            assert!(result.iter().all(|&x| x == 0.0), "{kernel:?}");
            let mut result = vec![0.0; input];
            input_gradient(&geometry, &weight, &tiny[..output], &mut result);
            assert!(result.iter().all(|&x| x == 0.0), "{kernel:?}");
            for (x, dy) in [(&tiny, &large), (&large, &tiny)] {
                let result = weight_gradient(&geometry, &x[..input], &dy[..output]);
                assert!(result.iter().all(|&x| x == 0.0), "{kernel:?}");
            }
        }
    }
}
