//! The random numbers of a run.
//!
//! A run has one seed. Different purposes use different streams of one counter-based generator (ChaCha8). So one
//! purpose does not shift the numbers of another, and an epoch's numbers do not depend on how many epochs this
//! process has trained before.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The purpose of random numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// The initial weights.
    Weights,
    /// The order of an epoch's batches.
    BatchOrder {
        /// The epoch, from 1.
        epoch: usize,
    },
    /// The random numbers of the network while it trains in an epoch: dropout masks and the like.
    Training {
        /// The epoch, from 1.
        epoch: usize,
    },
    /// The random numbers of the network or a batcher while a part of the data is measured after an epoch.
    Measuring {
        /// The epoch, from 1.
        epoch: usize,
        /// The part of the data: 0 is the training set, 1 validation, 2 the test set; further parts follow.
        part: usize,
    },
    /// The augmentation of an item of the data set in an epoch, on the host.
    Augmentation {
        /// The epoch, from 1; 0 while measuring.
        epoch: usize,
        /// The item's index in the data set.
        item: usize,
    },
    /// Any other purpose, with a stream number that no other purpose uses: 2^62 or above.
    Other {
        /// The number of the stream.
        stream: u64,
    },
}

/// Returns the generator for `seed` and `purpose`.
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

/// Returns a seed for a device's own generator.
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
