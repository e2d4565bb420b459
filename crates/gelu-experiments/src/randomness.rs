//! The purposes of random numbers of a run outside Burn's training loop; see [`gelu_learner::randomness`].

pub use gelu_learner::randomness::{device_seed, generator};

use gelu_learner::randomness::Purpose;

/// The first streams of each purpose, beyond those of any epoch.
const AUGMENTATION: u64 = 1 << 62;
const NOISE: u64 = 1 << 63;
const POINTS: u64 = 3 << 61;
/// The stream of the splits of tables; no amplitude of noise has these bits.
const SPLIT: u64 = 7 << 61;
/// The number of noise streams for multiples of 0.2; the bits of a normal number are never that low.
const FIFTHS: f64 = 1e6;

/// The purpose of cropping the images of an epoch, from 1.
pub fn augmentation(epoch: usize) -> Purpose {
    Purpose::Other { stream: AUGMENTATION | epoch as u64 }
}

/// The purpose of sampling points with `variables` coordinates.
pub fn points(variables: usize) -> Purpose {
    Purpose::Other { stream: POINTS | variables as u64 }
}

/// The purpose of splitting the rows of a table.
pub fn split() -> Purpose {
    Purpose::Other { stream: SPLIT }
}

/// The purpose of noise of an amplitude, at least 0, on test inputs.
pub fn noise(amplitude: f64) -> Purpose {
    Purpose::Other { stream: NOISE | noise_stream(amplitude) }
}

/// Returns the noise stream of an amplitude: its bits. The amplitudes 0.2, 0.4, 0.6, … have the streams 1, 2, 3, …
/// instead, so that the published measurements can be repeated; they used the index in a recipe's list as the stream.
fn noise_stream(amplitude: f64) -> u64 {
    let fifths = (amplitude * 5.0).round();
    match fifths / 5.0 == amplitude && fifths < FIFTHS {
        true => fifths as u64,
        false => amplitude.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeSet;

    /// `evidence/mnist-robustness` was measured with the indices in the recipe's list as streams.
    #[test]
    fn amplitudes_of_the_recipe_draw_what_they_always_drew() {
        let recipe = crate::recipe::Recipe::named("mnist-robustness").unwrap();
        let amplitudes = recipe.noise.unwrap().amplitudes;
        assert_eq!(amplitudes.len(), 16);
        for (place, amplitude) in amplitudes.into_iter().enumerate() {
            let mut before = ChaCha8Rng::seed_from_u64(0);
            before.set_stream(1 << 63 | place as u64);
            let now = device_seed(0, noise(amplitude));
            assert_eq!(now, before.next_u64(), "{amplitude}");
        }
    }

    #[test]
    fn amplitudes_have_streams_of_their_own() {
        let amplitudes =
            [0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1.0_f64.next_up(), 3.0, 1e-9, 199_999.8, 1e6];
        let streams: BTreeSet<u64> = amplitudes.into_iter().map(noise_stream).collect();
        assert_eq!(streams.len(), amplitudes.len());
    }
}
