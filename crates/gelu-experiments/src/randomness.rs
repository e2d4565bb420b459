//! Where the random numbers of a run come from that Burn's loop does not draw; see
//! [`gelu_learner::randomness`].

pub use gelu_learner::randomness::{device_seed, generator};

use gelu_learner::randomness::Purpose;

/// Streams beyond those of any epoch.
const AUGMENTATION: u64 = 1 << 62;
const NOISE: u64 = 1 << 63;
const POINTS: u64 = 3 << 61;
/// No amplitude of noise has these bits.
const SPLIT: u64 = 7 << 61;
/// So many streams of noise stand for multiples of 0.2; no normal number has such low bits.
const FIFTHS: f64 = 1e6;

/// Where the pictures of an epoch, from 1, are cropped.
pub fn augmentation(epoch: usize) -> Purpose {
    Purpose::Other { stream: AUGMENTATION | epoch as u64 }
}

/// Points with so many coordinates, where formulas are learned and measured.
pub fn points(variables: usize) -> Purpose {
    Purpose::Other { stream: POINTS | variables as u64 }
}

/// Which rows of a table are trained on, choose, and are reported on.
pub fn split() -> Purpose {
    Purpose::Other { stream: SPLIT }
}

/// Noise of an amplitude, at least 0, added to test inputs.
pub fn noise(amplitude: f64) -> Purpose {
    Purpose::Other { stream: NOISE | noise_stream(amplitude) }
}

/// Which of the streams of noise is that of an amplitude: its bits. Those of 0.2, 0.4, 0.6, … have the
/// streams 1, 2, 3, … instead, by which they were measured when streams were numbered by the place
/// in a recipe's list; what was measured then stays what the program measures.
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

    /// The streams were the places in the recipe's list when `evidence/mnist-robustness` was measured.
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
