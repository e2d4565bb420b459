use crate::randomness::{Purpose, generator};
use rand::RngExt;
use rand::seq::SliceRandom;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The order of the batches of a pass, for data loaders of your own.
#[derive(Clone, Debug)]
pub enum Order {
    /// The order in which the examples are stored, for measuring.
    Sequential,
    /// A new random order in every epoch, for training.
    Shuffled {
        /// The order of an epoch depends only on this seed and the epoch's number.
        seed: u64,
        /// The epoch of the next pass, from 1; each pass increments it. When Burn moves a loader to a device, its
        /// copies share this counter.
        next_epoch: Arc<AtomicUsize>,
    },
}

impl Order {
    /// Creates an order that shuffles by `seed`; the first pass is that of `epoch`.
    pub fn shuffled(seed: u64, epoch: usize) -> Self {
        Self::Shuffled { seed, next_epoch: Arc::new(AtomicUsize::new(epoch)) }
    }

    /// Returns the epoch of the next pass and the order of the indices in `range`; `None` for a sequential order.
    pub fn next_pass(&self, range: Range<usize>) -> Option<(usize, Vec<i32>)> {
        let Self::Shuffled { seed, next_epoch } = self else { return None };
        let epoch = next_epoch.fetch_add(1, Ordering::Relaxed);
        let mut units: Vec<i32> = (range.start as i32..range.end as i32).collect();
        units.shuffle(&mut generator(*seed, Purpose::BatchOrder { epoch }));
        Some((epoch, units))
    }

    /// Returns the epoch of the next pass and `count` values of `places`, sampled with replacement; `None` for a
    /// sequential order.
    ///
    /// # Panics
    ///
    /// If `places` is empty.
    pub fn next_drawn(&self, count: usize, places: &Range<i32>) -> Option<(usize, Vec<i32>)> {
        let Self::Shuffled { seed, next_epoch } = self else { return None };
        let epoch = next_epoch.fetch_add(1, Ordering::Relaxed);
        let mut generator = generator(*seed, Purpose::BatchOrder { epoch });
        let drawn = (0..count).map(|_| generator.random_range(places.clone()));
        Some((epoch, drawn.collect()))
    }
}
