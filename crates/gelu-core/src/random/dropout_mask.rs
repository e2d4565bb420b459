use super::philox::{self, Stream};
use super::{Draw, Key};
use alloc::vec::Vec;
use burn_core::backend::{Backend, tensor::IntTensor};

/// Dropout with a mask that is a function of ([`Key`], position): nothing is stored for the
/// backward pass, and every backend drops the same elements.
///
/// Element `i` of a tensor, counted in row-major order, is dropped if number `i` of the key's
/// sequence is less than probability · 2³², and otherwise multiplied by `1/(1 − probability)`.
#[derive(Clone, Debug)]
pub struct DropoutMask {
    pub(crate) key: Key,
    pub(crate) threshold: u32,
}

impl DropoutMask {
    /// The probability is rounded to a multiple of 2⁻³².
    ///
    /// # Panics
    ///
    /// If the probability is not in `[0, 1)`.
    pub fn new(probability: f64, key: Key) -> Self {
        Self { key, threshold: threshold(probability) }
    }
}

/// Numbers below it drop: probability · 2³².
fn threshold(probability: f64) -> u32 {
    assert!(
        (0.0..1.0).contains(&probability),
        "a dropout probability lies in [0, 1), got {probability}"
    );
    // Saturates at 2³² − 1 for probabilities next to 1.
    (probability * 4_294_967_296.0 + 0.5) as u32
}

impl Draw {
    /// What dropout of this probability multiplies the first `count` elements by:
    /// 1/(1 − probability) where one is kept, 0 where it is dropped.
    ///
    /// # Panics
    ///
    /// If the probability is not in `[0, 1)`.
    pub fn dropout_mask(self, probability: f64, count: usize) -> Vec<f32> {
        Mask::new(probability, self).factors(count)
    }
}

/// A [`DropoutMask`] whose key is known to the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mask {
    pub(crate) draw: Draw,
    /// Numbers below it drop.
    pub(crate) threshold: u32,
}

impl Mask {
    /// As [`DropoutMask::new`].
    pub(crate) fn new(probability: f64, draw: Draw) -> Self {
        Self { draw, threshold: threshold(probability) }
    }

    /// Reads the key, as [`Draw::read`] does.
    pub(crate) fn read<B: Backend>(key: IntTensor<B>, threshold: u32) -> Self {
        Self { draw: Draw::read::<B>(key), threshold }
    }

    /// What kept elements are multiplied by.
    pub(crate) fn scale(self) -> f32 {
        kept_scale(self.threshold)
    }

    /// [`scale`](Self::scale) where an element is kept, else 0, for the first `count` elements.
    pub(crate) fn factors(self, count: usize) -> Vec<f32> {
        let mut numbers = alloc::vec![0; count];
        philox::fill(self.stream(), 0, &mut numbers);
        let scale = self.scale();
        let factor = |number| if number >= self.threshold { scale } else { 0.0 };
        numbers.into_iter().map(factor).collect()
    }

    pub(crate) fn stream(self) -> Stream {
        self.draw.stream()
    }
}

/// 1/(1 − probability), for kernels that read the key themselves too.
pub(crate) fn kept_scale(threshold: u32) -> f32 {
    (1.0 / (1.0 - f64::from(threshold) / 4_294_967_296.0)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::Device;

    #[test]
    fn as_many_are_dropped_as_the_probability_says() {
        for probability in [0.0, 0.1, 0.5, 0.9] {
            let count = 100_000;
            let mask = Draw { seed: 1, step: 2 }.dropout_mask(probability, count);
            let dropped = mask.iter().filter(|&&m| m == 0.0).count() as f64 / count as f64;
            // Five standard deviations.
            let allowed = 5.0 * (probability * (1.0 - probability) / count as f64).sqrt();
            assert!((dropped - probability).abs() <= allowed, "{dropped} of {probability}");
            let mean = mask.iter().map(|&m| f64::from(m)).sum::<f64>() / count as f64;
            assert!((mean - 1.0).abs() <= allowed / (1.0 - probability) + 1e-6, "{mean}");
        }
    }

    #[test]
    #[should_panic(expected = "lies in [0, 1), got 1")]
    fn dropping_everything_is_refused() {
        let _ = DropoutMask::new(1.0, Key::next(&Device::default()));
    }
}
