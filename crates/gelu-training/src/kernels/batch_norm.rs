//! Batch norm and the activation behind it, a channel at a time, so that a channel is read from memory
//! once each way.
//!
//! Everything is summed in one order, whatever the number of threads and the instruction set.

#![allow(unsafe_code, reason = "threads write to channels, which lie scattered over the tensor")]

use super::scratch::with_scratch;
use super::sum::{Sum, sums};
use super::threads::map_each;
use super::{Level, Work};
use gelu_core::{Unit, slices};
use std::marker::PhantomData;

/// `[batch, channels, plane]`, and what every channel is normed by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm<'a> {
    pub(crate) batch: usize,
    pub(crate) plane: usize,
    /// One number a channel, as are all that follow.
    pub(crate) gamma: &'a [f32],
    pub(crate) beta: &'a [f32],
    pub(crate) mean: &'a [f32],
    pub(crate) variance: &'a [f32],
    pub(crate) epsilon: f64,
}

/// Mean and variance (the mean square of n numbers) of every channel of `[batch, channels, plane]`.
pub(crate) fn statistics(
    level: Level,
    x: &[f32],
    channels: usize,
    plane: usize,
) -> (Vec<f32>, Vec<f32>) {
    let batch = x.len() / (channels * plane).max(1);
    let count = (batch * plane) as f64;
    let planes = |channel: usize| (0..batch).map(move |picture| picture * channels + channel);
    let plane = |index: usize| &x[index * plane..][..plane];
    map_each(channels, x.len(), |channel| {
        let sum: f64 = planes(channel).map(|index| level.run(Sum(plane(index)))).sum();
        let mean = (sum / count) as f32;
        // What rounding the mean leaves is taken off again.
        let [rest, squares] = planes(channel)
            .map(|index| level.run(Deviation { x: plane(index), mean }))
            .fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
        (mean, (squares / count - (rest / count).powi(2)).max(0.0) as f32)
    })
    .into_iter()
    .unzip()
}

/// Σ (x − mean) and Σ (x − mean)².
struct Deviation<'a> {
    x: &'a [f32],
    mean: f32,
}

impl Work for Deviation<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run(self) -> [f64; 2] {
        let Self { x, mean } = self;
        sums([x], |[x]| [x - mean, (x - mean) * (x - mean)])
    }
}

impl Norm<'_> {
    fn inverse_deviation(&self, channel: usize) -> f64 {
        1.0 / (f64::from(self.variance[channel]) + self.epsilon).sqrt()
    }

    /// The affine function of one channel.
    fn affine(&self, channel: usize) -> Affine {
        let scale = f64::from(self.gamma[channel]) * self.inverse_deviation(channel);
        Affine { mean: self.mean[channel], scale: scale as f32, shift: self.beta[channel] }
    }

    fn channels(&self) -> usize {
        self.gamma.len()
    }

    fn size(&self) -> usize {
        self.batch * self.channels() * self.plane
    }

    /// Replaces `x` by `unit` of `γ·(x − μ)/√(σ² + ε) + β`.
    pub(crate) fn apply_in_place(&self, level: Level, x: &mut [f32], unit: Unit) {
        let places = Planes::of(x, self.channels(), self.plane);
        map_each(self.channels(), self.size(), |channel| {
            let affine = self.affine(channel);
            for picture in 0..self.batch {
                // SAFETY: each channel is worked on by one thread.
                let values = unsafe { places.plane(picture, channel) };
                level.run(AffineInPlace { affine, values });
                activate(unit, values);
            }
        });
    }

    /// Writes `unit` of `γ·(x − μ)/√(σ² + ε) + β` to `out`.
    pub(crate) fn apply(&self, level: Level, x: &[f32], out: &mut [f32], unit: Unit) {
        assert_eq!(x.len(), out.len(), "a result for every input");
        let places = Planes::of(out, self.channels(), self.plane);
        map_each(self.channels(), self.size(), |channel| {
            let affine = self.affine(channel);
            for picture in 0..self.batch {
                let x = &x[places.index(picture, channel)..][..self.plane];
                // SAFETY: each channel is worked on by one thread.
                let out = unsafe { places.plane(picture, channel) };
                level.run(AffineTo { affine, x, out });
                activate(unit, out);
            }
        });
    }

    /// Replaces the gradient of the result, where mean and variance are those of `x`, by that of
    /// `x`, and returns those of γ and β.
    pub(crate) fn differentiate(
        &self,
        level: Level,
        x: &[f32],
        gradient: &mut [f32],
        unit: Unit,
    ) -> (Vec<f32>, Vec<f32>) {
        assert_eq!(x.len(), gradient.len(), "a gradient for every input");
        let places = Planes::of(gradient, self.channels(), self.plane);
        let count = (self.batch * self.plane) as f64;
        map_each(self.channels(), self.size(), |channel| {
            let (affine, inverse) = (self.affine(channel), self.inverse_deviation(channel));
            let x = |picture| &x[places.index(picture, channel)..][..self.plane];
            let mut total = [0.0; 2];
            for picture in 0..self.batch {
                let x = x(picture);
                // SAFETY: each channel is worked on by one thread.
                let gradient = unsafe { places.plane(picture, channel) };
                if unit != Unit::Identity {
                    with_scratch(self.plane, |normed| {
                        level.run(AffineTo { affine, x, out: normed });
                        slices::backward(unit, normed, gradient);
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
                let gradient = unsafe { places.plane(picture, channel) };
                level.run(InnerInPlace { inner, x: x(picture), gradient });
            }
            ((product * inverse) as f32, sum as f32)
        })
        .into_iter()
        .unzip()
    }
}

fn activate(unit: Unit, values: &mut [f32]) {
    if unit != Unit::Identity {
        slices::forward(unit, values);
    }
}

/// `(x − mean)·scale + shift`
#[derive(Clone, Copy)]
struct Affine {
    mean: f32,
    scale: f32,
    shift: f32,
}

impl Affine {
    #[inline(always)]
    fn at(self, x: f32) -> f32 {
        (x - self.mean) * self.scale + self.shift
    }
}

struct AffineTo<'a> {
    affine: Affine,
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Work for AffineTo<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { affine, x, out } = self;
        out.iter_mut().zip(x).for_each(|(out, x)| *out = affine.at(*x));
    }
}

struct AffineInPlace<'a> {
    affine: Affine,
    values: &'a mut [f32],
}

impl Work for AffineInPlace<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { affine, values } = self;
        values.iter_mut().for_each(|value| *value = affine.at(*value));
    }
}

/// Σ gradient and Σ gradient·(x − mean).
struct Products<'a> {
    gradient: &'a [f32],
    x: &'a [f32],
    mean: f32,
}

impl Work for Products<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run(self) -> [f64; 2] {
        let Self { gradient, x, mean } = self;
        sums([gradient, x], |[gradient, x]| [gradient, gradient * (x - mean)])
    }
}

/// The gradient behind the norm to that before it: `scale·(g − mean gradient − (x − mean)·slope)`.
#[derive(Clone, Copy)]
struct Inner {
    mean: f32,
    scale: f32,
    mean_gradient: f32,
    slope: f32,
}

struct InnerInPlace<'a> {
    inner: Inner,
    x: &'a [f32],
    gradient: &'a mut [f32],
}

impl Work for InnerInPlace<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { inner: Inner { mean, scale, mean_gradient, slope }, x, gradient } = self;
        gradient
            .iter_mut()
            .zip(x)
            .for_each(|(g, x)| *g = (*g - mean_gradient - (*x - mean) * slope) * scale);
    }
}

/// A tensor `[batch, channels, plane]` of which each thread has channels to itself.
struct Planes<'a> {
    start: *mut f32,
    length: usize,
    channels: usize,
    plane: usize,
    _data: PhantomData<&'a mut [f32]>,
}

// SAFETY: it lends planes to those who promise to take different ones.
unsafe impl Sync for Planes<'_> {}

impl<'a> Planes<'a> {
    fn of(data: &'a mut [f32], channels: usize, plane: usize) -> Self {
        let (start, length) = (data.as_mut_ptr(), data.len());
        Self { start, length, channels, plane, _data: PhantomData }
    }

    fn index(&self, picture: usize, channel: usize) -> usize {
        (picture * self.channels + channel) * self.plane
    }

    /// # Safety
    ///
    /// No plane may be asked for twice at a time.
    #[allow(clippy::mut_from_ref, reason = "as the caller promises, each is asked for once")]
    unsafe fn plane(&self, picture: usize, channel: usize) -> &mut [f32] {
        let index = self.index(picture, channel);
        assert!(index + self.plane <= self.length, "the plane lies within the tensor");
        // SAFETY: it lies within the slice that was lent, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(index), self.plane) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANNELS: usize = 3;

    fn wave(length: usize, frequency: f64, shift: f64) -> Vec<f32> {
        (0..length).map(|i| ((frequency * i as f64).sin() + shift) as f32).collect()
    }

    #[test]
    fn statistics_are_those_of_f64_even_far_from_zero() {
        for shift in [0.0, 1000.0] {
            let plane = 77;
            let x = wave(5 * CHANNELS * plane, 0.37, shift);
            for level in Level::available() {
                let (means, variances) = statistics(level, &x, CHANNELS, plane);
                for channel in 0..CHANNELS {
                    let planes = x.chunks(plane).skip(channel).step_by(CHANNELS);
                    let numbers: Vec<f64> = planes.flatten().map(|&x| f64::from(x)).collect();
                    let count = numbers.len() as f64;
                    let mean = numbers.iter().sum::<f64>() / count;
                    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
                    assert!((f64::from(means[channel]) - mean).abs() <= 1e-7 * (1.0 + shift));
                    assert!((f64::from(variances[channel]) - variance).abs() <= 1e-6 * variance);
                }
            }
        }
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        let (batch, plane) = (9, 3001);
        let x = wave(batch * CHANNELS * plane, 0.37, 0.5);
        let dy = wave(x.len(), 0.71, 0.1);
        let run = |level: Level| {
            let (mean, variance) = statistics(level, &x, CHANNELS, plane);
            let [gamma, beta] = [[0.5, 1.0, -2.0], [0.1, 0.0, -0.3]];
            let norm = Norm {
                batch,
                plane,
                gamma: &gamma,
                beta: &beta,
                mean: &mean,
                variance: &variance,
                epsilon: 1e-5,
            };
            let (mut out, mut in_place, mut gradient) = (x.clone(), x.clone(), dy.clone());
            norm.apply(level, &x, &mut out, Unit::Gelu);
            norm.apply_in_place(level, &mut in_place, Unit::Gelu);
            assert_eq!(out, in_place);
            let others = norm.differentiate(level, &x, &mut gradient, Unit::Gelu);
            (out, gradient, others)
        };
        let mut levels = Level::available();
        let expected = run(levels.next().unwrap());
        levels.for_each(|level| assert!(run(level) == expected, "{level:?}"));
    }
}
