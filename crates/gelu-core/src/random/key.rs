use burn_core::backend::{Backend, DispatchTensor, tensor::IntTensor};
use burn_core::tensor::{Device, Distribution, Int, Tensor, TensorData, read_sync};
use gelu_kernels::random::Draw;

/// The number of words of a key. A key is eight words of 16 bits, which every device's default
/// integers hold: four words of the seed and four of the step, the lowest first.
pub(crate) const WORDS: usize = 8;
const BITS: usize = 16;

/// Returns the words of a draw, for the operations of other crates that take a key.
#[doc(hidden)]
pub fn words(draw: Draw) -> [i32; WORDS] {
    core::array::from_fn(|i| {
        let half = if i < WORDS / 2 { draw.seed } else { draw.step };
        (half >> (i % (WORDS / 2) * BITS)) as i32 & 0xFFFF
    })
}

fn draw_of_words(words: impl Iterator<Item = i64>) -> Draw {
    let mut halves = [0; 2];
    for (i, word) in words.enumerate().take(WORDS) {
        halves[i / (WORDS / 2)] |= (word as u64 & 0xFFFF) << (i % (WORDS / 2) * BITS);
    }
    Draw { seed: halves[0], step: halves[1] }
}

/// Reads a key, which waits for the key's device. Backends that compute on the host have the key at
/// once.
pub(crate) fn draw_of<B: Backend>(key: IntTensor<B>) -> Draw {
    let data = read_sync(B::int_into_data(key)).expect("a key that was drawn can be read");
    draw_of_words(data.iter::<i64>())
}

/// A name of a sequence of random numbers, stored on a device. The host need not know its value, so
/// creating a key waits for nothing.
#[derive(Clone, Debug)]
pub struct Key(Tensor<1, Int>);

impl Key {
    /// Creates the next key from the device's own generator.
    ///
    /// After `device.seed(…)`, the same calls in the same order give the same keys. Without a seed,
    /// every process gets other keys.
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
        #[cfg(feature = "std")]
        let key = super::tape::next(device);
        #[cfg(not(feature = "std"))]
        let key = Self::drawn(device);
        key
    }

    /// The next one of the device's own generator, whatever tape is on.
    pub(super) fn drawn(device: &Device) -> Self {
        let range = Distribution::Uniform(0.0, f64::from(1 << BITS));
        Self(Tensor::random([WORDS], range, device))
    }

    /// Creates the key of a [`Draw`], which is the same on every device.
    pub fn known(draw: Draw, device: &Device) -> Self {
        Self(Tensor::from_data(TensorData::from(words(draw)), device))
    }

    /// The eight words that name it, for memory that a recorded step reads it from.
    #[doc(hidden)]
    pub fn words(&self) -> Tensor<1, Int> {
        self.0.clone()
    }

    /// The key that these words name.
    #[doc(hidden)]
    pub fn of_words(words: Tensor<1, Int>) -> Self {
        assert_eq!(words.dims(), [WORDS], "a key is {WORDS} words");
        Self(words)
    }

    /// Returns the draw that the key names. Reading it waits for the device, unless that is the CPU.
    ///
    /// # Panics
    ///
    /// If the device does not return the words.
    pub fn draw(&self) -> Draw {
        let data = self.0.clone().into_data();
        draw_of_words(data.iter::<i64>())
    }

    pub(crate) fn into_dispatch(self) -> DispatchTensor {
        self.0.into_dispatch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_key_is_read_back() {
        for draw in [
            Draw { seed: 0, step: 0 },
            Draw { seed: u64::MAX, step: 1 << 63 },
            Draw { seed: 0x0123_4567_89ab_cdef, step: 0xfedc_ba98_7654_3210 },
        ] {
            assert_eq!(Key::known(draw, &Device::default()).draw(), draw);
        }
    }

    #[test]
    fn keys_of_the_device_use_all_their_bits() {
        let device = Device::default();
        let (mut or, mut and) =
            (Draw { seed: 0, step: 0 }, Draw { seed: u64::MAX, step: u64::MAX });
        for _ in 0..64 {
            let key = Key::next(&device).draw();
            (or.seed, or.step) = (or.seed | key.seed, or.step | key.step);
            (and.seed, and.step) = (and.seed & key.seed, and.step & key.step);
        }
        assert_eq!((or.seed, or.step, and.seed, and.step), (u64::MAX, u64::MAX, 0, 0));
    }
}
