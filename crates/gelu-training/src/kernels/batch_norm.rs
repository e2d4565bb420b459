//! Batch norm and the activation behind it, a channel at a time: as long as a channel of all pictures
//! fits the caches, it is read from memory once each way.
//!
//! Everything is summed in one order, whatever the number of threads and the instruction set.

#![allow(unsafe_code, reason = "threads write to channels, which lie scattered over the tensor")]

use super::scratch::with_scratch;
use super::sum::{Sum, sums};
use super::threads::map_each;
use super::{Level, Work};
use gelu_core::{Unit, slices};
use std::marker::PhantomData;

/// `[batch, channels, plane]`, and what every channel is scaled and shifted by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm<'a> {
    pub(crate) batch: usize,
    pub(crate) plane: usize,
    /// One number a channel, as in all that follow.
    pub(crate) gamma: &'a [f32],
    pub(crate) beta: &'a [f32],
    pub(crate) epsilon: f64,
}

/// Means and variances (the mean square of n numbers) of every channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statistics<'a> {
    pub(crate) mean: &'a [f32],
    pub(crate) variance: &'a [f32],
}

/// Where a norm reads and writes.
#[derive(Debug)]
pub(crate) enum Place<'a> {
    InPlace(&'a mut [f32]),
    Apart { x: &'a [f32], out: &'a mut [f32] },
}

/// Mean and variance of one channel, given its planes.
fn moments<'a>(
    level: Level,
    planes: impl Iterator<Item = &'a [f32]> + Clone,
    count: f64,
) -> (f32, f32) {
    let sum: f64 = planes.clone().map(|plane| level.run(Sum(plane))).sum();
    let mean = (sum / count) as f32;
    // What rounding the mean leaves is taken off again.
    let [rest, squares] = planes
        .map(|x| level.run(Deviation { x, mean }))
        .fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
    (mean, (squares / count - (rest / count).powi(2)).max(0.0) as f32)
}

/// Σ (x − mean) and Σ (x − mean)².
struct Deviation<'a> {
    x: &'a [f32],
    mean: f32,
}

impl Work for Deviation<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> [f64; 2] {
        let Self { x, mean } = self;
        sums([x], |[x]| [x - mean, (x - mean) * (x - mean)])
    }
}

impl Norm<'_> {
    fn inverse_deviation(&self, variance: f32) -> f64 {
        1.0 / (f64::from(variance) + self.epsilon).sqrt()
    }

    /// The affine function of one channel, by its mean and variance.
    fn affine(&self, channel: usize, (mean, variance): (f32, f32)) -> Affine {
        let scale = f64::from(self.gamma[channel]) * self.inverse_deviation(variance);
        Affine { mean, scale: scale as f32, shift: self.beta[channel] }
    }

    fn channels(&self) -> usize {
        self.gamma.len()
    }

    fn size(&self) -> usize {
        self.batch * self.channels() * self.plane
    }

    /// Numbers of a channel.
    fn count(&self) -> f64 {
        (self.batch * self.plane) as f64
    }

    /// Writes `unit` of `γ·(x − μ)/√(σ² + ε) + β`, by the statistics that are given or those of every
    /// channel itself, and returns them. A channel is worked on from its beginning to its end, so that it
    /// stays in the caches.
    ///
    /// # Panics
    ///
    /// If the place has other lengths than the sizes say.
    pub(crate) fn apply(
        &self,
        level: Level,
        place: Place<'_>,
        by: Option<Statistics<'_>>,
        unit: Unit,
    ) -> Vec<(f32, f32)> {
        let (x, out) = match place {
            Place::InPlace(values) => (None, values),
            Place::Apart { x, out } => {
                assert_eq!(x.len(), out.len(), "a result for every input");
                (Some(x), out)
            }
        };
        let places = Planes::of(out, self.channels(), self.plane);
        map_each(self.channels(), self.size(), |channel| {
            let x_of = |picture| match x {
                Some(x) => &x[places.index(picture, channel)..][..self.plane],
                // SAFETY: each channel is worked on by one thread, and a plane is read before it is
                // written.
                None => unsafe { &*places.plane(picture, channel) },
            };
            let statistics = match by {
                Some(by) => (by.mean[channel], by.variance[channel]),
                None => moments(level, (0..self.batch).map(x_of), self.count()),
            };
            let affine = self.affine(channel, statistics);
            for picture in 0..self.batch {
                // SAFETY: as above.
                let out = unsafe { places.plane(picture, channel) };
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

    /// Replaces the gradient of the result, where the statistics are those of `x`, by that of `x`, and
    /// returns those of γ and β.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub(crate) fn differentiate(
        &self,
        level: Level,
        x: &[f32],
        by: Statistics<'_>,
        gradient: &mut [f32],
        unit: Unit,
    ) -> (Vec<f32>, Vec<f32>) {
        assert_eq!(x.len(), gradient.len(), "a gradient for every input");
        let places = Planes::of(gradient, self.channels(), self.plane);
        let count = self.count();
        map_each(self.channels(), self.size(), |channel| {
            let variance = by.variance[channel];
            let affine = self.affine(channel, (by.mean[channel], variance));
            let inverse = self.inverse_deviation(variance);
            let x = |picture| &x[places.index(picture, channel)..][..self.plane];
            let mut total = [0.0; 2];
            for picture in 0..self.batch {
                let x = x(picture);
                // SAFETY: each channel is worked on by one thread.
                let gradient = unsafe { places.plane(picture, channel) };
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
                let gradient = unsafe { places.plane(picture, channel) };
                level.run(InnerInPlace { inner, x: x(picture), gradient });
            }
            ((product * inverse) as f32, sum as f32)
        })
        .into_iter()
        .unzip()
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
    fn run<const FUSED: bool>(self) {
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
    fn run<const FUSED: bool>(self) {
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
    fn run<const FUSED: bool>(self) -> [f64; 2] {
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
    fn run<const FUSED: bool>(self) {
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
                let place = Place::InPlace(&mut x.clone());
                let found = norm(5, plane).apply(level, place, None, Unit::Identity);
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

    /// Statistics, results and gradients.
    type Results = (Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>);

    fn results(level: Level, unit: Unit) -> Results {
        let (batch, plane) = (9, 3001);
        let x = wave(batch * CHANNELS * plane, 0.37, 0.5);
        let (norm, mut gradient) = (norm(batch, plane), wave(x.len(), 0.71, 0.1));
        let (mut out, mut in_place, mut given) = (x.clone(), x.clone(), x.clone());
        let own = norm.apply(level, Place::InPlace(&mut in_place), None, unit);
        norm.apply(level, Place::Apart { x: &x, out: &mut out }, None, unit);
        let (mean, variance): (Vec<f32>, Vec<f32>) = own.into_iter().unzip();
        let by = Statistics { mean: &mean, variance: &variance };
        norm.apply(level, Place::InPlace(&mut given), Some(by), unit);
        assert_eq!((&out, &out), (&in_place, &given), "{level:?}");
        let (gamma, beta) = norm.differentiate(level, &x, by, &mut gradient, unit);
        (mean, variance, out, gradient, gamma, beta)
    }

    #[test]
    fn levels_give_the_same_bits_as_far_as_the_activation_does() {
        // Sums and products are fused on no level. An activation's formula differs where a
        // multiply-add is no instruction, unless it is exact.
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
