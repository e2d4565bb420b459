use super::philox::{self, Stream};
use super::uniform;
use alloc::vec::Vec;
use burn_core::backend::{Backend, DispatchTensor, tensor::IntTensor};
use burn_core::tensor::{Device, Distribution, Int, Tensor, TensorData, read_sync};

/// Names a sequence of random numbers on the host.
///
/// The seed is the generator's key, the step the upper half of its counter and `i / 4` the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw {
    /// What a whole training run is repeated by.
    pub seed: u64,
    /// Which draw of the run it is.
    pub step: u64,
}

/// A key is eight words of 16 bits, which every device's default integers hold: four of the seed
/// and four of the step, the lowest first.
pub(crate) const WORDS: usize = 8;
const BITS: usize = 16;

impl Draw {
    /// The first `count` numbers as multiples of 2⁻²⁴ in [0, 1): their upper 24 bits, which every
    /// float type of at least 32 bits holds exactly.
    pub fn uniforms(self, count: usize) -> Vec<f32> {
        let mut numbers = alloc::vec![0; count];
        philox::fill(self.stream(), 0, &mut numbers);
        numbers.into_iter().map(uniform).collect()
    }

    pub(crate) fn stream(self) -> Stream {
        Stream { key: self.seed, high: self.step }
    }

    pub(crate) fn words(self) -> [i32; WORDS] {
        core::array::from_fn(|i| {
            let half = if i < WORDS / 2 { self.seed } else { self.step };
            (half >> (i % (WORDS / 2) * BITS)) as i32 & 0xFFFF
        })
    }

    fn of_words(words: impl Iterator<Item = i64>) -> Self {
        let mut halves = [0; 2];
        for (i, word) in words.enumerate().take(WORDS) {
            halves[i / (WORDS / 2)] |= (word as u64 & 0xFFFF) << (i % (WORDS / 2) * BITS);
        }
        Self { seed: halves[0], step: halves[1] }
    }

    /// Reads a key, which waits for its device. Backends that compute on the host have it at once.
    pub(crate) fn read<B: Backend>(key: IntTensor<B>) -> Self {
        let data = read_sync(B::int_into_data(key)).expect("a key that was drawn can be read");
        Self::of_words(data.iter::<i64>())
    }
}

/// Names a sequence of random numbers on a device, without the host knowing which: making one
/// waits for nothing.
#[derive(Clone, Debug)]
pub struct Key(Tensor<1, Int>);

impl Key {
    /// The next one of the device's own generator.
    ///
    /// After `device.seed(…)` the same calls in the same order give the same keys; a process that
    /// sets no seed gets keys of its own.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use gelu_core::functional;
    /// use gelu_core::random::{DropoutMask, Key};
    ///
    /// let device = Device::default();
    /// let dropped = || {
    ///     let mask = DropoutMask::new(0.5, Key::next(&device));
    ///     let y = functional::dropout(Tensor::<1>::ones([64], &device), mask);
    ///     y.into_data().try_to_vec::<f32>().unwrap()
    /// };
    /// device.seed(7);
    /// let first = [dropped(), dropped()];
    /// assert_ne!(first[0], first[1]);
    /// device.seed(7);
    /// assert_eq!(first, [dropped(), dropped()]);
    /// ```
    pub fn next(device: &Device) -> Self {
        let range = Distribution::Uniform(0.0, f64::from(1 << BITS));
        Self(Tensor::random([WORDS], range, device))
    }

    /// The one that a [`Draw`] names, which is the same on every device.
    pub fn known(draw: Draw, device: &Device) -> Self {
        Self(Tensor::from_data(TensorData::from(draw.words()), device))
    }

    pub(crate) fn into_dispatch(self) -> DispatchTensor {
        self.0.into_dispatch()
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

    #[test]
    fn a_known_key_is_read_back() {
        for draw in [
            Draw { seed: 0, step: 0 },
            Draw { seed: u64::MAX, step: 1 << 63 },
            Draw { seed: 0x0123_4567_89ab_cdef, step: 0xfedc_ba98_7654_3210 },
        ] {
            let key = Key::known(draw, &Device::default());
            assert_eq!(Draw::of_words(key.0.into_data().iter::<i64>()), draw);
        }
    }

    #[test]
    fn keys_of_the_device_use_all_their_bits() {
        let device = Device::default();
        let (mut or, mut and) =
            (Draw { seed: 0, step: 0 }, Draw { seed: u64::MAX, step: u64::MAX });
        for _ in 0..64 {
            let key = Draw::of_words(Key::next(&device).0.into_data().iter::<i64>());
            (or.seed, or.step) = (or.seed | key.seed, or.step | key.step);
            (and.seed, and.step) = (and.seed & key.seed, and.step & key.step);
        }
        assert_eq!((or.seed, or.step, and.seed, and.step), (u64::MAX, u64::MAX, 0, 0));
    }
}
