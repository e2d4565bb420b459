use super::philox::{self, Stream};
use super::uniform;
use crate::level::Level;
use alloc::vec::Vec;

/// The name of a sequence of random numbers.
///
/// The seed is the generator's key. The step is the upper half of the generator's counter, and
/// `i / 4` is the lower half.
///
/// ```
/// use gelu_kernels::random::Draw;
///
/// let draw = Draw { seed: 7, step: 0 };
/// assert_eq!(draw.uniforms(100)[..10], draw.uniforms(10));
/// assert_ne!(draw.uniforms(10), Draw { step: 1, ..draw }.uniforms(10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw {
    /// The seed that makes a whole training run repeatable.
    pub seed: u64,
    /// The number of this sequence within the run.
    pub step: u64,
}

impl Draw {
    /// Returns the first `count` numbers as multiples of 2⁻²⁴ in [0, 1). These are the upper 24
    /// bits of the numbers, which every float type of at least 32 bits holds exactly.
    pub fn uniforms(self, count: usize) -> Vec<f32> {
        let mut numbers = alloc::vec![0; count];
        philox::fill(Level::best(), self.stream(), 0, &mut numbers);
        numbers.into_iter().map(uniform).collect()
    }

    /// Returns the sequence as a stream of the generator.
    #[doc(hidden)]
    #[inline]
    pub fn stream(self) -> Stream {
        Stream { key: self.seed, high: self.step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_step_or_seed_is_another_sequence() {
        let draw = Draw { seed: 1, step: 2 };
        assert_eq!(draw.uniforms(64), draw.uniforms(64));
        assert_ne!(draw.uniforms(64), Draw { step: 3, ..draw }.uniforms(64));
        assert_ne!(draw.uniforms(64), Draw { seed: 3, ..draw }.uniforms(64));
    }
}
