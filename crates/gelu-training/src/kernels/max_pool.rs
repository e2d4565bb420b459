//! The largest of each 2×2 pixels, and its gradient. The gradient's pass finds the largest pixel again, so that only
//! the image is stored.

use crate::kernels::checks::{self, expect_length, expect_rows};
use crate::kernels::written;
use gelu_kernels::SharedSlice;
use gelu_kernels::threads::{self, PARALLEL_COPY, Threads};
use gelu_kernels::{Level, Work};
use std::mem::MaybeUninit;

/// The smallest number of an image's elements that a thread works on at a time.
const PART: usize = 1 << 16;

/// Halves planes of `size`, height and width: returns `[planes, height / 2, width / 2]` with the largest of each 2×2
/// pixels. The last line or column of an odd size is ignored. A NaN counts as larger than any number.
///
/// # Panics
///
/// If `x` is not a whole number of planes.
pub fn max_pool(x: &[f32], size: [usize; 2]) -> Vec<f32> {
    expect_planes(x, size);
    let pooled = size.map(|length| length / 2);
    written(x, size, pooled, |planes, out| {
        Level::best().run(Forward { planes: &x[planes], size, out })
    })
}

/// Returns the gradient of [`max_pool`] for `x`, given the gradient of its result. Each gradient goes to the largest
/// pixel: the first of equal ones, and the last NaN, as in Burn and PyTorch.
///
/// # Panics
///
/// If `x` is not a whole number of planes, or the length of `gradient` is not that of the result.
pub fn max_pool_gradient(x: &[f32], size: [usize; 2], gradient: &[f32]) -> Vec<f32> {
    let plane = expect_planes(x, size);
    let [down, right] = size.map(|length| length / 2);
    let results = x.len() / plane.max(1) * down * right;
    let why = format_args!("one for each of the result");
    expect_length("gradient", gradient.len(), results, why);
    written(x, size, size, |numbers, out| {
        let first = numbers.start / plane * down * right;
        let gradient = &gradient[first..][..numbers.len() / plane * down * right];
        Level::best().run(Backward { planes: &x[numbers], size, gradient, out });
    })
}

/// Checks that `x` is a whole number of planes, and returns the number of elements in a plane.
fn expect_planes(x: &[f32], size: [usize; 2]) -> usize {
    let plane = checks::product("a plane", &size);
    expect_rows("x", x.len(), plane, format_args!("whole planes of {size:?}"));
    plane
}

/// Returns planes of size `to`. `work` writes the results for some of `x`'s planes.
fn written(
    x: &[f32],
    [height, width]: [usize; 2],
    to: [usize; 2],
    work: impl Fn(std::ops::Range<usize>, &mut [MaybeUninit<f32>]) + Send + Sync,
) -> Vec<f32> {
    let (plane, plane_to) = (height * width, to[0] * to[1]);
    let planes = x.len() / plane.max(1);
    let part = PART.div_ceil(plane.max(1));
    let write = |out: &mut [_]| {
        let whole = SharedSlice::uninit(out);
        threads::map(planes.div_ceil(part), Threads::if_worth(x.len() >= PARALLEL_COPY), |index| {
            let planes = index * part..planes.min((index + 1) * part);
            let range = planes.start * plane_to..planes.end * plane_to;
            // SAFETY: the parts do not overlap.
            let out = unsafe { whole.uninit_range(range) };
            work(planes.start * plane..planes.end * plane, out);
        });
    };
    // SAFETY: every plane belongs to one part, whose work writes all of it.
    unsafe { written::written(planes * plane_to, write) }
}

/// Returns whether `other` replaces the largest pixel so far.
#[inline(always)]
fn replaces(other: f32, largest: f32) -> bool {
    other > largest || other.is_nan()
}

struct Forward<'a> {
    planes: &'a [f32],
    size: [usize; 2],
    out: &'a mut [MaybeUninit<f32>],
}

impl Work for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { planes, size: [height, width], out } = self;
        let (down, right) = (height / 2, width / 2);
        if down * right == 0 {
            return;
        }
        for (plane, out) in
            planes.chunks_exact(height * width).zip(out.chunks_exact_mut(down * right))
        {
            for (lines, out) in plane.chunks_exact(2 * width).zip(out.chunks_exact_mut(right)) {
                let (above, below) = lines.split_at(width);
                let pairs = above.as_chunks::<2>().0.iter().zip(below.as_chunks::<2>().0);
                for (out, ([a, b], [c, d])) in out.iter_mut().zip(pairs) {
                    let mut largest = *a;
                    largest = if replaces(*b, largest) { *b } else { largest };
                    largest = if replaces(*c, largest) { *c } else { largest };
                    largest = if replaces(*d, largest) { *d } else { largest };
                    out.write(largest);
                }
            }
        }
    }
}

struct Backward<'a> {
    planes: &'a [f32],
    size: [usize; 2],
    gradient: &'a [f32],
    out: &'a mut [MaybeUninit<f32>],
}

impl Work for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { planes, size: [height, width], gradient, out } = self;
        let (down, right) = (height / 2, width / 2);
        if down * right == 0 {
            out.iter_mut().for_each(|out| {
                out.write(0.0);
            });
            return;
        }
        let gradients = gradient.chunks_exact(down * right);
        let planes = planes.chunks_exact(height * width).zip(out.chunks_exact_mut(height * width));
        for ((plane, out), gradient) in planes.zip(gradients) {
            let mut out = out.chunks_exact_mut(2 * width);
            for ((lines, out), gradient) in
                plane.chunks_exact(2 * width).zip(&mut out).zip(gradient.chunks_exact(right))
            {
                let (above, below) = lines.split_at(width);
                let (out_above, out_below) = out.split_at_mut(width);
                let pairs = above.as_chunks::<2>().0.iter().zip(below.as_chunks::<2>().0);
                let (to_above, rest_above) = out_above.as_chunks_mut::<2>();
                let (to_below, rest_below) = out_below.as_chunks_mut::<2>();
                let to = to_above.iter_mut().zip(to_below);
                for ((([a, b], [c, d]), (above, below)), gradient) in pairs.zip(to).zip(gradient) {
                    let (mut largest, mut place) = (*a, 0u32);
                    for (other, number) in [(*b, 1), (*c, 2), (*d, 3)] {
                        let replaces = replaces(other, largest);
                        largest = if replaces { other } else { largest };
                        place = if replaces { number } else { place };
                    }
                    let at = |number: u32| if place == number { *gradient } else { 0.0 };
                    above[0].write(at(0));
                    above[1].write(at(1));
                    below[0].write(at(2));
                    below[1].write(at(3));
                }
                for out in rest_above.iter_mut().chain(rest_below) {
                    out.write(0.0);
                }
            }
            for out in out.into_remainder() {
                out.write(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the results by definition, and the index of the pixel that each came from.
    fn defined(x: &[f32], [height, width]: [usize; 2]) -> Vec<(f32, usize)> {
        let mut found = Vec::new();
        for plane in 0..x.len() / (height * width) {
            for (y, z) in (0..height / 2).flat_map(|y| (0..width / 2).map(move |z| (y, z))) {
                let start = (plane * height + 2 * y) * width + 2 * z;
                let mut largest = start;
                for place in [start + 1, start + width, start + width + 1] {
                    if x[place] > x[largest] || x[place].is_nan() {
                        largest = place;
                    }
                }
                found.push((x[largest], largest));
            }
        }
        found
    }

    #[test]
    fn the_largest_is_found_and_its_gradient_goes_where_it_was() {
        for (planes, size) in
            [(1, [2, 2]), (3, [5, 7]), (40, [32, 32]), (7, [6, 3]), (2, [1, 9]), (90, [64, 33])]
        {
            let count = planes * size[0] * size[1];
            // Many numbers are equal, some are NaN, and there are zeros of both signs.
            let number = |i: usize| match i % 97 {
                13 => f32::NAN,
                14 => -0.0,
                15 => 0.0,
                16 => f32::NEG_INFINITY,
                _ => (((i * 7919) % 11) as f32 - 5.0) / 3.0,
            };
            let x: Vec<f32> = (0..count).map(number).collect();
            let expected = defined(&x, size);
            let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let values: Vec<f32> = expected.iter().map(|(value, _)| *value).collect();
            assert_eq!(bits(&max_pool(&x, size)), bits(&values), "{size:?}");
            let gradient: Vec<f32> = (1..=values.len()).map(|i| i as f32).collect();
            let mut sent = vec![0.0; count];
            expected.iter().zip(&gradient).for_each(|((_, place), g)| sent[*place] = *g);
            assert_eq!(max_pool_gradient(&x, size, &gradient), sent, "{size:?}");
        }
        assert!(max_pool(&[], [2, 2]).is_empty() && max_pool(&[], [0, 0]).is_empty());
    }

    #[test]
    #[should_panic(expected = "`x` has 7 numbers, expected a multiple of 4")]
    fn half_a_plane_is_refused() {
        max_pool(&[0.0; 7], [2, 2]);
    }

    #[test]
    #[should_panic(expected = "`x` has 7 numbers, expected a multiple of 0")]
    fn planes_of_nothing_are_refused() {
        max_pool_gradient(&[0.0; 7], [0, 3], &[]);
    }
}
