//! Where every random number of a run comes from.
//!
//! A run has one seed. What is drawn for different purposes comes from different streams of one
//! counter-based generator (ChaCha8), so that no purpose shifts the numbers of another, and an
//! epoch's numbers do not depend on how many epochs this process has trained before it.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What random numbers are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// The initial weights.
    Weights,
    /// The order of an epoch's batches.
    BatchOrder {
        /// From 1.
        epoch: usize,
    },
    /// What the network draws while training in an epoch: dropout masks and the like.
    Training {
        /// From 1.
        epoch: usize,
    },
    /// Where the pictures of an epoch are cropped.
    Augmentation {
        /// From 1.
        epoch: usize,
    },
    /// Noise added to test inputs.
    Noise {
        /// Its amplitude, at least 0.
        amplitude: f64,
    },
}

/// Streams beyond those of any epoch.
const AUGMENTATION: u64 = 1 << 62;
const NOISE: u64 = 1 << 63;
/// So many streams of noise stand for multiples of 0.2; no normal number has such low bits.
const FIFTHS: f64 = 1e6;

/// The generator of a seed for one purpose.
pub fn generator(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(match purpose {
        Purpose::Weights => 0,
        Purpose::BatchOrder { epoch } => 2 * epoch as u64 + 1,
        Purpose::Training { epoch } => 2 * epoch as u64,
        Purpose::Augmentation { epoch } => AUGMENTATION | epoch as u64,
        Purpose::Noise { amplitude } => NOISE | noise_stream(amplitude),
    });
    generator
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

/// A seed for a device's own generator.
pub fn device_seed(seed: u64, purpose: Purpose) -> u64 {
    generator(seed, purpose).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn purposes_epochs_and_seeds_all_draw_different_numbers() {
        let mut drawn = BTreeSet::new();
        for seed in 0..20 {
            drawn.insert(device_seed(seed, Purpose::Weights));
            for epoch in 1..=20 {
                drawn.insert(device_seed(seed, Purpose::BatchOrder { epoch }));
                drawn.insert(device_seed(seed, Purpose::Training { epoch }));
                drawn.insert(device_seed(seed, Purpose::Augmentation { epoch }));
                let amplitude = epoch as f64 / 8.0;
                drawn.insert(device_seed(seed, Purpose::Noise { amplitude }));
            }
        }
        assert_eq!(drawn.len(), 20 * 81);
    }

    /// The streams were the places in the recipe's list when `evidence/mnist-robustness` was measured.
    #[test]
    fn amplitudes_of_the_recipe_draw_what_they_always_drew() {
        let recipe = crate::recipe::Recipe::named("mnist-robustness").unwrap();
        let amplitudes = recipe.noise.unwrap().amplitudes;
        assert_eq!(amplitudes.len(), 16);
        for (place, amplitude) in amplitudes.into_iter().enumerate() {
            let mut before = ChaCha8Rng::seed_from_u64(0);
            before.set_stream(1 << 63 | place as u64);
            let now = device_seed(0, Purpose::Noise { amplitude });
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
