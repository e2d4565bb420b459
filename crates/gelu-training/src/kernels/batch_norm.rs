//! Batch norm followed by an activation, one channel at a time. If a channel of all images fits the caches,
//! it is read from memory once in each direction.
//!
//! All sums have the same order for any number of threads and any instruction set.

#![allow(unsafe_code, reason = "threads write to channels, which lie scattered over the numbers")]

mod loops;

use crate::kernels::checks::{self, expect_epsilon, expect_length};
use crate::kernels::scratch::with_scratch;
use crate::kernels::sum::{Sum, sums};
use gelu_kernels::SharedSlice;
use gelu_kernels::Unit;
use gelu_kernels::slices;
use gelu_kernels::threads::{self, PARALLEL, Threads};
use gelu_kernels::{Level, Work};
use loops::{Affine, AffineInPlace, AffineTo, Inner, InnerInPlace, Products};
use std::ops::Range;

/// A batch norm of `[batch, channels, plane]` numbers, with a scale and a shift per channel.
#[derive(Clone, Copy, Debug)]
pub struct Norm<'a> {
    /// The number of images.
    pub batch: usize,
    /// The number of elements in a channel of an image.
    pub plane: usize,
    /// The scale γ, one number per channel.
    pub gamma: &'a [f32],
    /// The shift β, one number per channel.
    pub beta: &'a [f32],
    /// The number ε that is added to the variance.
    pub epsilon: f64,
}

/// The mean and the variance of every channel. The variance is the mean square of n deviations, not of n −
/// 1.
#[derive(Clone, Copy, Debug)]
pub struct Statistics<'a> {
    /// The means μ, one per channel.
    pub mean: &'a [f32],
    /// The variances σ², one per channel.
    pub variance: &'a [f32],
}

/// The memory that a norm reads and writes.
#[derive(Debug)]
pub enum Buffers<'a> {
    /// The results overwrite the inputs.
    InPlace(&'a mut [f32]),
    /// The results go to another slice.
    Apart {
        /// The inputs.
        x: &'a [f32],
        /// The results.
        out: &'a mut [f32],
    },
}

/// Returns the mean and the variance of one channel, given its planes.
fn moments<'a>(
    level: Level,
    planes: impl Iterator<Item = &'a [f32]> + Clone,
    count: f64,
) -> (f32, f32) {
    let sum: f64 = planes.clone().map(|plane| level.run(Sum(plane))).sum();
    let mean = (sum / count) as f32;
    // The mean is rounded, and the sum of deviations corrects the variance for this.
    let [rest, squares] = planes
        .map(|x| level.run(Deviation { x, mean }))
        .fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
    (mean, (squares / count - (rest / count).powi(2)).max(0.0) as f32)
}

/// Computes Σ (x − mean) and Σ (x − mean)².
struct Deviation<'a> {
    x: &'a [f32],
    mean: f32,
}

impl Work for Deviation<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) -> [f64; 2] {
        let Self { x, mean } = self;
        sums([x], |[x]| [x - mean, (x - mean) * (x - mean)])
    }
}

impl Norm<'_> {
    fn inverse_deviation(&self, variance: f32) -> f64 {
        1.0 / (f64::from(variance) + self.epsilon).sqrt()
    }

    /// Returns the affine function of one channel, given its mean and variance.
    fn affine(&self, channel: usize, (mean, variance): (f32, f32)) -> Affine {
        let scale = f64::from(self.gamma[channel]) * self.inverse_deviation(variance);
        Affine { mean, scale: scale as f32, shift: self.beta[channel] }
    }

    fn channels(&self) -> usize {
        self.gamma.len()
    }

    /// Returns the range of a channel of an image.
    fn range(&self, picture: usize, channel: usize) -> Range<usize> {
        let start = (picture * self.channels() + channel) * self.plane;
        start..start + self.plane
    }

    /// Checks the arguments, and returns the number of elements in all images.
    ///
    /// # Panics
    ///
    /// If a length does not match the sizes, or ε or the activation's parameter is out of range.
    fn expect(
        &self,
        arguments: [(&str, usize); 2],
        by: Option<Statistics<'_>>,
        unit: Unit,
    ) -> usize {
        let Self { batch, plane, beta, epsilon, .. } = *self;
        let channels = self.channels();
        let statistics = by.map(|by| [("mean", by.mean.len()), ("variance", by.variance.len())]);
        let of_channels =
            [("beta", beta.len())].into_iter().chain(statistics.into_iter().flatten());
        for (argument, found) in of_channels {
            expect_length(argument, found, channels, format_args!("one per channel, as `gamma`"));
        }
        let size = checks::product("pictures", &[batch, channels, plane]);
        for (argument, found) in arguments {
            let why = format_args!("{batch} pictures of {channels} channels of {plane}");
            expect_length(argument, found, size, why);
        }
        let has_numbers = by.is_some() || channels == 0 || size > 0;
        assert!(
            has_numbers,
            "`batch` is {batch} and `plane` {plane}, expected at least 1: a channel without numbers has \
             no mean"
        );
        expect_epsilon(epsilon);
        unit.checked();
        size
    }

    /// Returns the number of elements in a channel of all images.
    fn count(&self) -> f64 {
        (self.batch * self.plane) as f64
    }

    /// Writes `unit` of `γ·(x − μ)/√(σ² + ε) + β`, and returns the statistics. These are `by` if given, and
    /// otherwise those of each channel. A channel is processed from start to end, so that it stays in the
    /// caches.
    ///
    /// # Panics
    ///
    /// If a length does not match the sizes, ε is negative or not finite, the activation's parameter is out
    /// of range, or there are no numbers to compute statistics of.
    pub fn apply(
        &self,
        level: Level,
        buffers: Buffers<'_>,
        by: Option<Statistics<'_>>,
        unit: Unit,
    ) -> Vec<(f32, f32)> {
        let (x, out) = match buffers {
            Buffers::InPlace(values) => (None, values),
            Buffers::Apart { x, out } => (Some(x), out),
        };
        let length = out.len();
        let size = self.expect([("x", x.map_or(length, <[_]>::len)), ("out", length)], by, unit);
        let places = SharedSlice::new(out);
        threads::map(self.channels(), Threads::for_work(size, PARALLEL), |channel| {
            let x_of = |picture| match x {
                Some(x) => &x[self.range(picture, channel)],
                // SAFETY: only one thread works on a channel, and reads a plane before it writes the plane.
                None => unsafe { &*places.range(self.range(picture, channel)) },
            };
            let statistics = match by {
                Some(by) => (by.mean[channel], by.variance[channel]),
                None => moments(level, (0..self.batch).map(x_of), self.count()),
            };
            let affine = self.affine(channel, statistics);
            for picture in 0..self.batch {
                // SAFETY: as above.
                let out = unsafe { places.range(self.range(picture, channel)) };
                match x {
                    Some(_) => level.run(AffineTo { affine, x: x_of(picture), out }),
                    None => level.run(AffineInPlace { affine, values: out }),
                }
                if unit != Unit::Identity {
                    slices::forward_at(level, unit, out);
                }
            }
            statistics
        })
    }

    /// Replaces `gradient`, the gradient of the result, by the gradient for `x`, and returns the gradients
    /// for γ and β. The statistics have to be those of `x`.
    ///
    /// # Panics
    ///
    /// If a length does not match the sizes, ε is negative or not finite, the activation's parameter is out
    /// of range, or there are no numbers.
    pub fn differentiate(
        &self,
        level: Level,
        x: &[f32],
        by: Statistics<'_>,
        gradient: &mut [f32],
        unit: Unit,
    ) -> (Vec<f32>, Vec<f32>) {
        let arguments = [("x", x.len()), ("gradient", gradient.len())];
        let size = self.expect(arguments, Some(by), unit);
        let places = SharedSlice::new(gradient);
        let count = self.count();
        threads::map(self.channels(), Threads::for_work(size, PARALLEL), |channel| {
            let variance = by.variance[channel];
            let affine = self.affine(channel, (by.mean[channel], variance));
            let inverse = self.inverse_deviation(variance);
            let x = |picture| &x[self.range(picture, channel)];
            let mut total = [0.0; 2];
            for picture in 0..self.batch {
                let x = x(picture);
                // SAFETY: only one thread works on a channel.
                let gradient = unsafe { places.range(self.range(picture, channel)) };
                if unit != Unit::Identity {
                    with_scratch(self.plane, |normed| {
                        level.run(AffineTo { affine, x, out: normed });
                        slices::backward_at(level, unit, normed, gradient);
                    });
                }
                let [sum, product] = level.run(Products { gradient, x, mean: affine.mean });
                total = [total[0] + sum, total[1] + product];
            }
            let [sum, product] = total;
            let inner = Inner {
                mean: affine.mean,
                scale: affine.scale,
                mean_gradient: (sum / count) as f32,
                slope: (product * inverse * inverse / count) as f32,
            };
            for picture in 0..self.batch {
                // SAFETY: as above.
                let gradient = unsafe { places.range(self.range(picture, channel)) };
                level.run(InnerInPlace { inner, x: x(picture), gradient });
            }
            ((product * inverse) as f32, sum as f32)
        })
        .into_iter()
        .unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANNELS: usize = 3;

    fn wave(length: usize, frequency: f64, shift: f64) -> Vec<f32> {
        (0..length).map(|i| ((frequency * i as f64).sin() + shift) as f32).collect()
    }

    fn norm(batch: usize, plane: usize) -> Norm<'static> {
        let (gamma, beta) = (&[0.5, 1.0, -2.0], &[0.1, 0.0, -0.3]);
        Norm { batch, plane, gamma, beta, epsilon: 1e-5 }
    }

    #[test]
    fn statistics_are_those_of_f64_even_far_from_zero() {
        for shift in [0.0, 1000.0] {
            let plane = 77;
            let x = wave(5 * CHANNELS * plane, 0.37, shift);
            for level in Level::available() {
                let buffers = Buffers::InPlace(&mut x.clone());
                let found = norm(5, plane).apply(level, buffers, None, Unit::Identity);
                for (channel, (found_mean, found_variance)) in found.into_iter().enumerate() {
                    let planes = x.chunks(plane).skip(channel).step_by(CHANNELS);
                    let numbers: Vec<f64> = planes.flatten().map(|&x| f64::from(x)).collect();
                    let count = numbers.len() as f64;
                    let mean = numbers.iter().sum::<f64>() / count;
                    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
                    assert!((f64::from(found_mean) - mean).abs() <= 1e-7 * (1.0 + shift));
                    assert!((f64::from(found_variance) - variance).abs() <= 1e-6 * variance);
                }
            }
        }
    }

    /// Half of the numbers are 10⁶ and half the next number, so f32 does not have their mean. They deviate from it by
    /// half their distance of 2⁻⁴.
    #[test]
    fn a_mean_that_f32_does_not_have_widens_no_variance() {
        let plane = 64;
        let number = |i: usize| if i.is_multiple_of(2) { 1e6f32 } else { 1e6f32.next_up() };
        let x: Vec<f32> = (0..2 * CHANNELS * plane).map(number).collect();
        for level in Level::available() {
            let buffers = Buffers::InPlace(&mut x.clone());
            let found = norm(2, plane).apply(level, buffers, None, Unit::Identity);
            for (_, variance) in found {
                let expected = 2f32.powi(-10);
                assert!((variance / expected - 1.0).abs() < 1e-6, "{level:?}: {variance}");
            }
        }
    }

    /// The statistics, results and gradients of a norm.
    type Results = (Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>);

    fn results(level: Level, unit: Unit) -> Results {
        let (batch, plane) = (9, 3001);
        let x = wave(batch * CHANNELS * plane, 0.37, 0.5);
        let (norm, mut gradient) = (norm(batch, plane), wave(x.len(), 0.71, 0.1));
        let (mut out, mut in_place, mut given) = (x.clone(), x.clone(), x.clone());
        let own = norm.apply(level, Buffers::InPlace(&mut in_place), None, unit);
        norm.apply(level, Buffers::Apart { x: &x, out: &mut out }, None, unit);
        let (mean, variance): (Vec<f32>, Vec<f32>) = own.into_iter().unzip();
        let by = Statistics { mean: &mean, variance: &variance };
        norm.apply(level, Buffers::InPlace(&mut given), Some(by), unit);
        assert_eq!((&out, &out), (&in_place, &given), "{level:?}");
        let (gamma, beta) = norm.differentiate(level, &x, by, &mut gradient, unit);
        (mean, variance, out, gradient, gamma, beta)
    }

    #[test]
    fn levels_give_the_same_bits_as_far_as_the_activation_does() {
        // No level fuses sums and products here. An activation's formula differs where a multiply-add is
        // not one instruction, unless the formula is exact.
        for unit in [Unit::Identity, Unit::Relu, Unit::Gelu] {
            let mut of_its_kind = std::collections::HashMap::new();
            for level in Level::available() {
                let kind = unit == Unit::Gelu && level.fuses();
                let found = results(level, unit);
                let expected = of_its_kind.entry(kind).or_insert_with(|| found.clone());
                assert!(*expected == found, "{unit:?} {level:?}");
            }
        }
    }

    #[test]
    fn the_activation_is_that_of_the_level() {
        for level in Level::available() {
            let (.., mut expected, _, _, _) = results(level, Unit::Identity);
            slices::forward_at(level, Unit::Gelu, &mut expected);
            assert!(results(level, Unit::Gelu).2 == expected, "{level:?}");
        }
    }
}
