//! Random numbers that are functions of (seed, step, position), and dropout masks made of them:
//! not stored, drawn again in the backward pass, and the same on every backend.

pub(crate) mod philox;

use philox::Stream;
use portable_atomic::{AtomicU64, Ordering};

/// Names a sequence of random numbers, so that it can be drawn again instead of being stored.
///
/// Number `i` of the sequence is a function of seed, step and `i` alone (Philox4x32-10: Salmon et
/// al., SC 2011; passes BigCrush), the same on every backend. The seed is the generator's key, the
/// step the upper half of its counter and `i / 4` the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw {
    /// What a whole training run is repeated by.
    pub seed: u64,
    /// Which draw of the run it is.
    pub step: u64,
}

static SEED: AtomicU64 = AtomicU64::new(0x6745_6c55);
static STEP: AtomicU64 = AtomicU64::new(0);

impl Draw {
    /// The process's next draw, which modules take when they train.
    pub fn next() -> Self {
        let step = STEP.fetch_add(1, Ordering::Relaxed);
        Self { seed: SEED.load(Ordering::Relaxed), step }
    }

    /// The first `count` numbers as multiples of 2⁻²⁴ in [0, 1): their upper 24 bits, which every
    /// float type of at least 32 bits holds exactly.
    pub fn uniforms(self, count: usize) -> alloc::vec::Vec<f32> {
        let mut numbers = alloc::vec![0; count];
        philox::fill(self.stream(), 0, &mut numbers);
        numbers.into_iter().map(uniform).collect()
    }

    pub(crate) fn stream(self) -> Stream {
        Stream { key: self.seed, high: self.step }
    }
}

/// Starts the process's sequence of draws anew, as `Device::seed` does for Burn's own generators:
/// after it, the same calls drop the same elements.
///
/// ```
/// use gelu_core::Draw;
/// gelu_core::random::seed(7);
/// assert_eq!([Draw::next(), Draw::next()], [Draw { seed: 7, step: 0 }, Draw { seed: 7, step: 1 }]);
/// ```
pub fn seed(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
    STEP.store(0, Ordering::Relaxed);
}

/// A random number as a multiple of 2⁻²⁴ in [0, 1).
#[inline(always)]
pub(crate) fn uniform(number: u32) -> f32 {
    (number >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// DropoutMask with a mask that is a function of ([`Draw`], position): nothing is stored for the
/// backward pass, and every backend drops the same elements.
///
/// Element `i` of a tensor, counted in row-major order, is dropped if number `i` of the draw is
/// less than probability · 2³², and otherwise multiplied by `1/(1 − probability)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DropoutMask {
    draw: Draw,
    /// Numbers below it drop.
    threshold: u32,
}

impl DropoutMask {
    /// The probability is rounded to a multiple of 2⁻³².
    ///
    /// # Panics
    ///
    /// If the probability is not in `[0, 1)`.
    pub fn new(probability: f64, draw: Draw) -> Self {
        assert!(
            (0.0..1.0).contains(&probability),
            "a dropout probability lies in [0, 1), got {probability}"
        );
        // Saturates at 2³² − 1 for probabilities next to 1.
        let threshold = (probability * 4_294_967_296.0 + 0.5) as u32;
        Self { draw, threshold }
    }

    /// From what [`draw`](Self::draw) and [`threshold`](Self::threshold) give.
    #[cfg(any(feature = "fused-backend", feature = "router"))]
    pub(crate) fn from_parts(draw: Draw, threshold: u32) -> Self {
        Self { draw, threshold }
    }

    /// Which random numbers decide.
    pub fn draw(self) -> Draw {
        self.draw
    }

    /// Numbers below it drop: probability · 2³².
    pub fn threshold(self) -> u32 {
        self.threshold
    }

    /// What kept elements are multiplied by.
    pub fn scale(self) -> f32 {
        (1.0 / (1.0 - f64::from(self.threshold) / 4_294_967_296.0)) as f32
    }

    /// 1/(1 − probability) where an element is kept, 0 where it is dropped, for the first `count`
    /// elements.
    pub fn mask(self, count: usize) -> alloc::vec::Vec<f32> {
        let mut numbers = alloc::vec![0; count];
        philox::fill(self.stream(), 0, &mut numbers);
        let scale = self.scale();
        numbers.into_iter().map(|number| if self.keeps(number) { scale } else { 0.0 }).collect()
    }

    #[inline(always)]
    fn keeps(self, number: u32) -> bool {
        number >= self.threshold
    }

    pub(crate) fn stream(self) -> Stream {
        self.draw.stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAW: Draw = Draw { seed: 1, step: 2 };

    #[test]
    fn as_many_are_dropped_as_the_probability_says() {
        for probability in [0.0, 0.1, 0.5, 0.9] {
            let count = 100_000;
            let mask = DropoutMask::new(probability, DRAW).mask(count);
            let dropped = mask.iter().filter(|&&m| m == 0.0).count() as f64 / count as f64;
            // Five standard deviations.
            let allowed = 5.0 * (probability * (1.0 - probability) / count as f64).sqrt();
            assert!((dropped - probability).abs() <= allowed, "{dropped} of {probability}");
            let mean = mask.iter().map(|&m| f64::from(m)).sum::<f64>() / count as f64;
            assert!((mean - 1.0).abs() <= allowed / (1.0 - probability) + 1e-6, "{mean}");
        }
    }

    #[test]
    fn another_step_or_seed_drops_others() {
        let mask = |draw| DropoutMask::new(0.5, draw).mask(64);
        assert_eq!(mask(DRAW), mask(DRAW));
        assert_ne!(mask(DRAW), mask(Draw { step: 3, ..DRAW }));
        assert_ne!(mask(DRAW), mask(Draw { seed: 3, ..DRAW }));
    }

    #[test]
    #[should_panic(expected = "lies in [0, 1), got 1")]
    fn dropping_everything_is_refused() {
        let _ = DropoutMask::new(1.0, DRAW);
    }
}
