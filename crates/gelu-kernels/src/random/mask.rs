use super::Draw;
use super::philox::{self, Stream};
use crate::level::Level;
use alloc::vec::Vec;

/// A dropout mask: which elements become 0, and the factor of the others.
///
/// Element `i` is dropped if number `i` of the draw's sequence is less than probability · 2³², and
/// otherwise multiplied by `1/(1 − probability)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mask {
    draw: Draw,
    threshold: u32,
}

impl Mask {
    /// Creates a mask that drops elements with this probability, rounded to a multiple of 2⁻³².
    ///
    /// # Panics
    ///
    /// If the probability is not in `[0, 1)`.
    pub fn new(probability: f64, draw: Draw) -> Self {
        Self { draw, threshold: Self::threshold_of(probability) }
    }

    /// Creates a mask that drops the elements whose number in the sequence is below `threshold` =
    /// probability · 2³².
    pub fn below(threshold: u32, draw: Draw) -> Self {
        Self { draw, threshold }
    }

    /// Returns the threshold for this probability. Elements whose number is below the threshold are
    /// dropped.
    ///
    /// # Panics
    ///
    /// If the probability is not in `[0, 1)`.
    pub fn threshold_of(probability: f64) -> u32 {
        assert!(
            (0.0..1.0).contains(&probability),
            "a dropout probability lies in [0, 1), got {probability}"
        );
        // Saturates at 2³² − 1 for probabilities next to 1.
        (probability * 4_294_967_296.0 + 0.5) as u32
    }

    /// Returns the threshold. Elements whose number is below it are dropped.
    #[inline]
    pub fn threshold(self) -> u32 {
        self.threshold
    }

    /// Returns the factor of the elements that are not dropped: 1/(1 − probability).
    pub fn scale(self) -> f32 {
        Self::scale_of(self.threshold)
    }

    /// Returns the factor of the elements that are not dropped with this
    /// [threshold](Self::threshold_of).
    pub fn scale_of(threshold: u32) -> f32 {
        (1.0 / (1.0 - f64::from(threshold) / 4_294_967_296.0)) as f32
    }

    /// Returns the factors of the first `count` elements: [`scale`](Self::scale), or 0 for a
    /// dropped element.
    pub fn factors(self, count: usize) -> Vec<f32> {
        let mut numbers = alloc::vec![0; count];
        philox::fill(Level::best(), self.stream(), 0, &mut numbers);
        let scale = self.scale();
        let factor = |number| if number >= self.threshold { scale } else { 0.0 };
        numbers.into_iter().map(factor).collect()
    }

    #[inline]
    pub(crate) fn stream(self) -> Stream {
        self.draw.stream()
    }
}

impl Draw {
    /// Returns the factors of the first `count` elements under dropout of this probability: 1/(1 −
    /// probability), or 0 for a dropped element.
    ///
    /// # Panics
    ///
    /// If the probability is not in `[0, 1)`.
    pub fn dropout_mask(self, probability: f64, count: usize) -> Vec<f32> {
        Mask::new(probability, self).factors(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_dropped_as_the_probability_says() {
        for probability in [0.0, 0.1, 0.5, 0.9] {
            let count = 100_000;
            let mask = Draw { seed: 1, step: 2 }.dropout_mask(probability, count);
            let dropped = mask.iter().filter(|&&m| m == 0.0).count() as f64 / count as f64;
            // The tolerance is five standard deviations.
            let allowed = 5.0 * (probability * (1.0 - probability) / count as f64).sqrt();
            assert!((dropped - probability).abs() <= allowed, "{dropped} of {probability}");
            let mean = mask.iter().map(|&m| f64::from(m)).sum::<f64>() / count as f64;
            assert!((mean - 1.0).abs() <= allowed / (1.0 - probability) + 1e-6, "{mean}");
        }
    }

    #[test]
    #[should_panic(expected = "lies in [0, 1), got 1")]
    fn dropping_everything_is_refused() {
        Mask::threshold_of(1.0);
    }
}
