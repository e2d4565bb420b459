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
    /// What the network or a batcher draws while a part of the data is measured after an epoch.
    Measuring {
        /// From 1.
        epoch: usize,
        /// Which part: 0 is the training set, 1 validation, 2 the test set, and further ones follow.
        part: usize,
    },
    /// What varies an item of the data set in an epoch, on the host.
    Augmentation {
        /// From 1; 0 while measuring.
        epoch: usize,
        /// The item's index in the data set.
        item: usize,
    },
    /// Anything else, by the number of a stream that nothing else has: 2⁶² and above.
    Other {
        /// The stream.
        stream: u64,
    },
}

/// The generator of a seed for one purpose.
pub fn generator(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(match purpose {
        Purpose::Weights => 0,
        Purpose::BatchOrder { epoch } => 2 * epoch as u64 + 1,
        Purpose::Training { epoch } => 2 * epoch as u64,
        Purpose::Measuring { epoch, part } => 1 << 61 | (epoch as u64) << 8 | part as u64,
        Purpose::Augmentation { epoch, item } => 1 << 60 | (epoch as u64) << 36 | item as u64,
        Purpose::Other { stream } => stream,
    });
    generator
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
                for part in 0..4 {
                    drawn.insert(device_seed(seed, Purpose::Measuring { epoch, part }));
                }
                for item in 0..3 {
                    drawn.insert(device_seed(seed, Purpose::Augmentation { epoch, item }));
                }
                let stream = 1 << 62 | epoch as u64;
                drawn.insert(device_seed(seed, Purpose::Other { stream }));
            }
        }
        assert_eq!(drawn.len(), 20 * (1 + 20 * 10));
    }
}
