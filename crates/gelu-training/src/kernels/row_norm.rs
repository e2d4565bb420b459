//! Layer norm and root mean square norm, one row at a time. A row is read from memory once in each
//! direction.
//!
//! All sums have the same order for any number of threads and any instruction set.

#![allow(unsafe_code, reason = "threads write to rows of one slice, not set to 0 before")]

use crate::kernels::checks::{expect_epsilon, expect_length, expect_rows};
use crate::kernels::sum::sums_of_row;
use crate::kernels::written::written;
use gelu_kernels::SharedSlice;
use gelu_kernels::threads::{self, PARALLEL, Threads};
use gelu_kernels::{Level, Work};
use std::mem::MaybeUninit;
use std::ops::Range;

/// The number of elements that a thread processes at a time, in whole rows.
const CHUNK: usize = 1 << 14;

/// The norm `γ·(x − mean)/√(variance + ε)` of each row, or `γ·x/√(mean(x²) + ε)`.
#[derive(Clone, Copy, Debug)]
pub struct RowNorm<'a> {
    /// The scale γ, one number per column.
    pub gamma: &'a [f32],
    /// The number ε that is added under the root.
    pub epsilon: f64,
    /// Whether the mean is subtracted. With it, this is layer norm (Ba et al., arXiv 1607.06450), without it
    /// root mean square norm (Zhang & Sennrich, arXiv 1910.07467).
    pub centred: bool,
}

impl RowNorm<'_> {
    /// Returns the norms of rows. A row has as many elements as `gamma`.
    ///
    /// # Panics
    ///
    /// If `x` is not a whole number of rows, or ε is negative or not finite.
    pub fn forward(&self, level: Level, x: &[f32]) -> Vec<f32> {
        self.expect(x);
        let write = |out: &mut [_]| {
            let places = SharedSlice::uninit(out);
            self.each_chunk(x.len(), |range| {
                // SAFETY: chunks do not overlap.
                let out = unsafe { places.uninit_range(range.clone()) };
                level.run(Forward { norm: *self, x: &x[range], out });
            });
        };
        // SAFETY: the chunks cover all rows, and each writes all of its elements.
        unsafe { written(x.len(), write) }
    }

    /// Replaces `gradient`, the gradient of the result, by the gradient for `x`, and returns the gradient
    /// for γ.
    ///
    /// # Panics
    ///
    /// If `x` is not a whole number of rows, ε is negative or not finite, or the lengths differ.
    pub fn differentiate(&self, level: Level, x: &[f32], gradient: &mut [f32]) -> Vec<f32> {
        self.expect(x);
        let why = format_args!("one for each of `x`");
        expect_length("gradient", gradient.len(), x.len(), why);
        let places = SharedSlice::new(gradient);
        let parts = self.each_chunk(x.len(), |range| {
            let mut of_gamma = vec![0.0; self.gamma.len()];
            // SAFETY: chunks do not overlap.
            let gradient = unsafe { places.range(range.clone()) };
            level.run(Backward { norm: *self, x: &x[range], gradient, of_gamma: &mut of_gamma });
            of_gamma
        });
        let of_column =
            |column: usize| parts.iter().map(|part| f64::from(part[column])).sum::<f64>();
        (0..self.gamma.len()).map(|column| of_column(column) as f32).collect()
    }

    fn expect(&self, x: &[f32]) {
        expect_epsilon(self.epsilon);
        expect_rows("x", x.len(), self.gamma.len(), format_args!("whole rows, as long as `gamma`"));
    }

    /// Calls `work` with ranges of neighbouring rows that together cover all `length` elements.
    fn each_chunk<T: Send>(
        &self,
        length: usize,
        work: impl Fn(Range<usize>) -> T + Send + Sync,
    ) -> Vec<T> {
        let width = self.gamma.len();
        let chunk = (CHUNK / width.max(1)).max(1) * width.max(1);
        let range = |index: usize| index * chunk..((index + 1) * chunk).min(length);
        threads::map(length.div_ceil(chunk), Threads::for_work(length, PARALLEL), |index| {
            work(range(index))
        })
    }

    /// Returns the mean and the scale of a row.
    #[inline(always)]
    fn moments(&self, x: &[f32]) -> Moments {
        let count = x.len() as f64;
        let scale = |square: f64| (1.0 / (square + self.epsilon).sqrt()) as f32;
        if !self.centred {
            let [squares] = sums_of_row([x], |[x]| [x * x]);
            return Moments { mean: 0.0, rest: 0.0, scale: scale(squares / count) };
        }
        let [sum] = sums_of_row([x], |[x]| [x]);
        let mean = (sum / count) as f32;
        let [rest, squares] = sums_of_row([x], |[x]| [x - mean, (x - mean) * (x - mean)]);
        let rest = rest / count;
        let scale = scale((squares / count - rest.powi(2)).max(0.0));
        Moments { mean, rest: rest as f32, scale }
    }
}

/// The mean of a row, its rounding error, and one over the root.
#[derive(Clone, Copy)]
struct Moments {
    mean: f32,
    rest: f32,
    scale: f32,
}

impl Moments {
    #[inline(always)]
    fn normed(self, x: f32) -> f32 {
        (x - self.mean - self.rest) * self.scale
    }
}

struct Forward<'a> {
    norm: RowNorm<'a>,
    x: &'a [f32],
    out: &'a mut [MaybeUninit<f32>],
}

impl Work for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { norm, x, out } = self;
        let width = norm.gamma.len();
        for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            let moments = norm.moments(x);
            for ((out, x), gamma) in out.iter_mut().zip(x).zip(norm.gamma) {
                out.write(moments.normed(*x) * gamma);
            }
        }
    }
}

struct Backward<'a> {
    norm: RowNorm<'a>,
    x: &'a [f32],
    gradient: &'a mut [f32],
    of_gamma: &'a mut [f32],
}

impl Work for Backward<'_> {
    type Output = ();

    /// Computes, with x̂ the norm without γ, `scale·(γ·g − mean(γ·g) − x̂·mean(γ·g·x̂))`. The first mean is
    /// only subtracted if the norm is centred.
    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { norm, x, gradient, of_gamma } = self;
        let (width, gamma) = (norm.gamma.len(), norm.gamma);
        for (x, gradient) in x.chunks_exact(width).zip(gradient.chunks_exact_mut(width)) {
            let moments = norm.moments(x);
            let [sum, product] = sums_of_row([gradient, x, gamma], |[g, x, gamma]| {
                [g * gamma, g * gamma * moments.normed(x)]
            });
            let count = width as f64;
            let shift = if norm.centred { (sum / count) as f32 } else { 0.0 };
            let slope = (product / count) as f32;
            for (((g, x), gamma), of_gamma) in
                gradient.iter_mut().zip(x).zip(gamma).zip(of_gamma.iter_mut())
            {
                let normed = moments.normed(*x);
                *of_gamma += *g * normed;
                *g = (*g * gamma - shift - normed * slope) * moments.scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(length: usize, frequency: f64, shift: f64) -> Vec<f32> {
        (0..length).map(|i| ((frequency * i as f64).sin() + shift) as f32).collect()
    }

    /// Returns the norms of rows in f64, by definition.
    fn exact(norm: &RowNorm<'_>, x: &[f64]) -> Vec<f64> {
        let width = norm.gamma.len();
        let row = |x: &[f64]| {
            let mean = |numbers: &dyn Fn(f64) -> f64| {
                x.iter().map(|&x| numbers(x)).sum::<f64>() / width as f64
            };
            let middle = if norm.centred { mean(&|x| x) } else { 0.0 };
            let square = mean(&|x| (x - middle).powi(2));
            let root = (square + norm.epsilon).sqrt();
            let normed = x.iter().zip(norm.gamma);
            normed.map(|(x, &gamma)| f64::from(gamma) * (x - middle) / root).collect::<Vec<_>>()
        };
        x.chunks(width).flat_map(row).collect()
    }

    fn close(found: &[f32], expected: &[f64], tolerance: f64) {
        assert_eq!(found.len(), expected.len());
        let size = expected.iter().fold(1.0f64, |size, x| size.max(x.abs()));
        for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (f64::from(*found) - expected).abs();
            assert!(error <= tolerance * size, "{place}: {found} and {expected}");
        }
    }

    #[test]
    fn values_are_those_of_the_definition_even_far_from_zero() {
        for (width, rows, shift) in [(1, 3, 0.0), (7, 1, 0.0), (128, 300, 0.3), (130, 9, 1000.0)] {
            let (x, gamma) = (wave(rows * width, 0.37, shift), wave(width, 1.3, 1.0));
            let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
            for centred in [true, false] {
                let norm = RowNorm { gamma: &gamma, epsilon: 1e-5, centred };
                for level in Level::available() {
                    close(&norm.forward(level, &x), &exact(&norm, &wide), 1e-6);
                }
            }
        }
    }

    #[test]
    fn gradients_are_the_slopes_of_the_definition() {
        let (width, rows) = (11, 3);
        let (x, gamma) = (wave(rows * width, 0.37, 0.3), wave(width, 1.3, 1.0));
        let weights = wave(x.len(), 0.9, 0.1);
        for centred in [true, false] {
            let norm = RowNorm { gamma: &gamma, epsilon: 1e-5, centred };
            let value = |norm: &RowNorm<'_>, x: &[f64]| -> f64 {
                exact(norm, x).iter().zip(&weights).map(|(y, w)| y * f64::from(*w)).sum()
            };
            let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
            const STEP: f64 = 1e-5;
            let slope = |place: usize| {
                let moved = |by: f64| {
                    let mut x = wide.clone();
                    x[place] += by;
                    value(&norm, &x)
                };
                (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
            };
            let of_x: Vec<f64> = (0..x.len()).map(slope).collect();
            let unit = |column: usize| {
                let mut gamma = vec![0.0; width];
                gamma[column] = 1.0;
                value(&RowNorm { gamma: &gamma, ..norm }, &wide)
            };
            let of_gamma: Vec<f64> = (0..width).map(unit).collect();
            for level in Level::available() {
                let mut gradient = weights.clone();
                close(&norm.differentiate(level, &x, &mut gradient), &of_gamma, 1e-6);
                close(&gradient, &of_x, 1e-6);
            }
        }
    }

    #[test]
    fn levels_and_threads_give_the_same_bits() {
        let width = 96;
        let (x, gamma) = (wave(1000 * width, 0.37, 0.3), wave(width, 1.3, 1.0));
        let norm = RowNorm { gamma: &gamma, epsilon: 1e-5, centred: true };
        let results = |level: Level| {
            let mut gradient = wave(x.len(), 0.71, 0.1);
            let of_gamma = norm.differentiate(level, &x, &mut gradient);
            (norm.forward(level, &x), gradient, of_gamma)
        };
        let expected = results(Level::best());
        for level in Level::available() {
            assert!(results(level) == expected, "{level:?}");
        }
        #[cfg(feature = "rayon")]
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| results(Level::best())) == expected, "{threads}");
        }
    }

    #[test]
    #[should_panic(expected = "`x` has 7 numbers, expected a multiple of 3")]
    fn a_part_of_a_row_is_refused() {
        let norm = RowNorm { gamma: &[1.0; 3], epsilon: 1e-5, centred: true };
        let _ = norm.forward(Level::best(), &[0.0; 7]);
    }

    /// As in a batch norm: the numbers are half a distance of 2⁻⁴ from a mean that f32 does not have.
    #[test]
    fn a_mean_that_f32_does_not_have_is_subtracted_in_full() {
        let number = |i: usize| if i.is_multiple_of(2) { 1e6f32 } else { 1e6f32.next_up() };
        let x: Vec<f32> = (0..64).map(number).collect();
        let norm = RowNorm { gamma: &[1.0; 32], epsilon: 0.0, centred: true };
        for level in Level::available() {
            for (i, y) in norm.forward(level, &x).into_iter().enumerate() {
                let expected = if i.is_multiple_of(2) { -1.0 } else { 1.0 };
                assert!((y - expected).abs() < 1e-5, "{level:?} {i}: {y}");
            }
        }
    }
}
