//! Batches of a Burn data set.

use crate::randomness::{Purpose, generator};
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataloader::{DataLoader, DataLoaderIterator, Progress};
use burn::data::dataset::{Dataset, DatasetError};
use burn::tensor::Device;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The order in which batches are drawn.
#[derive(Clone, Debug)]
pub enum Order {
    /// As they stand, for measuring.
    Sequential,
    /// Shuffled anew every epoch, for training.
    Shuffled {
        /// The order of an epoch is a function of this seed and the epoch's number alone.
        seed: u64,
        /// The epoch that the next pass belongs to, from 1; each pass counts it up. Shared by
        /// the clones that Burn makes of a loader when it moves it to a device.
        next_epoch: Arc<AtomicUsize>,
    },
}

impl Order {
    /// Shuffled by `seed`, the first pass being that of `epoch`.
    pub fn shuffled(seed: u64, epoch: usize) -> Self {
        Self::Shuffled { seed, next_epoch: Arc::new(AtomicUsize::new(epoch)) }
    }

    /// The epoch of the next pass and the order of so many units in it; `None` for a sequential one.
    pub fn next_pass(&self, range: Range<usize>) -> Option<(usize, Vec<i32>)> {
        let Self::Shuffled { seed, next_epoch } = self else { return None };
        let epoch = next_epoch.fetch_add(1, Ordering::Relaxed);
        let mut units: Vec<i32> = (range.start as i32..range.end as i32).collect();
        units.shuffle(&mut generator(*seed, Purpose::BatchOrder { epoch }));
        Some((epoch, units))
    }

    /// The epoch of the next pass and so many places in it, drawn with replacement; `None` for a sequential
    /// one.
    ///
    /// # Panics
    ///
    /// If there are no places.
    pub fn next_drawn(&self, count: usize, places: &Range<i32>) -> Option<(usize, Vec<i32>)> {
        let Self::Shuffled { seed, next_epoch } = self else { return None };
        let epoch = next_epoch.fetch_add(1, Ordering::Relaxed);
        let mut generator = generator(*seed, Purpose::BatchOrder { epoch });
        let drawn = (0..count).map(|_| generator.random_range(places.clone()));
        Some((epoch, drawn.collect()))
    }
}

/// Batches of a Burn data set, made by a batcher on the training's thread, one after the other: so what it
/// draws from the device's generator follows from seed and epoch. The last batch holds what is left, unless it is
/// dropped.
pub(crate) struct Items<I, B> {
    pub(crate) dataset: Arc<dyn Dataset<I>>,
    pub(crate) batcher: Arc<dyn Batcher<I, B>>,
    pub(crate) range: Range<usize>,
    pub(crate) batch_size: usize,
    /// Whether a last batch that is smaller than the others is left out.
    pub(crate) drop_last: bool,
    pub(crate) order: Order,
    pub(crate) device: Device,
}

impl<I, B> Items<I, B> {
    /// The same with another range, or on another device.
    fn with(&self, range: Range<usize>, device: &Device) -> Self {
        Self {
            dataset: self.dataset.clone(),
            batcher: self.batcher.clone(),
            range,
            batch_size: self.batch_size,
            drop_last: self.drop_last,
            order: self.order.clone(),
            device: device.clone(),
        }
    }

    /// How many examples the batches of a pass hold.
    fn count(&self) -> usize {
        match self.drop_last {
            true => self.range.len() / self.batch_size * self.batch_size,
            false => self.range.len(),
        }
    }
}

impl<I: Send + 'static, B: Send + 'static> DataLoader<B> for Items<I, B> {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<B> + 'a> {
        let order = self.order.next_pass(self.range.clone()).map(|(_, order)| order);
        Box::new(Batches { items: self, order, done: 0 })
    }

    fn num_items(&self) -> usize {
        self.count()
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<B>> {
        Arc::new(self.with(self.range.clone(), device))
    }

    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<B>> {
        let offset = self.range.start;
        let end = (offset + end).min(self.range.end);
        let range = (offset + start).min(end)..end;
        Arc::new(self.with(range, &self.device))
    }
}

struct Batches<'a, I, B> {
    items: &'a Items<I, B>,
    order: Option<Vec<i32>>,
    done: usize,
}

impl<I, B> Iterator for Batches<'_, I, B> {
    type Item = Result<B, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Items { dataset, batcher, range, batch_size, device, .. } = self.items;
        let end = (self.done + batch_size).min(self.items.count());
        if self.done == end {
            return None;
        }
        let indices = match &self.order {
            Some(order) => order[self.done..end].iter().map(|&unit| unit as usize).collect(),
            None => (range.start + self.done..range.start + end).collect(),
        };
        self.done = end;
        Some(dataset.get_many(indices).map(|items| batcher.batch(items, device)))
    }
}

impl<I, B> DataLoaderIterator<B> for Batches<'_, I, B> {
    fn progress(&self) -> Progress {
        Progress::new(self.done, self.items.count(), Some("examples".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::data::dataset::InMemDataset;

    struct Lists;

    impl Batcher<usize, Vec<usize>> for Lists {
        fn batch(&self, items: Vec<usize>, _: &Device) -> Vec<usize> {
            items
        }
    }

    fn items(order: Order) -> Items<usize, Vec<usize>> {
        Items {
            dataset: Arc::new(InMemDataset::new((0..10).collect())),
            batcher: Arc::new(Lists),
            range: 0..10,
            batch_size: 4,
            drop_last: false,
            order,
            device: Device::default(),
        }
    }

    fn pass(loader: &dyn DataLoader<Vec<usize>>) -> Vec<Vec<usize>> {
        loader.iter().map(|batch| batch.unwrap()).collect()
    }

    #[test]
    fn sequential_batches_are_as_they_stand_and_the_last_holds_what_is_left() {
        let items = items(Order::Sequential);
        assert_eq!(pass(&items), [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);
        let slice = items.slice(2, 8);
        assert_eq!(pass(slice.as_ref()), [vec![2, 3, 4, 5], vec![6, 7]]);
        // Its places are counted from where the slice begins.
        assert_eq!(pass(slice.slice(1, 3).as_ref()), [vec![3, 4]]);
        assert_eq!(pass(slice.slice(4, 9).as_ref()), [vec![6, 7]]);
    }

    #[test]
    fn a_smaller_last_batch_can_be_left_out_and_a_full_one_is_not() {
        let items = Items { drop_last: true, ..items(Order::Sequential) };
        assert_eq!(pass(&items), [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
        assert_eq!(items.num_items(), 8);
        assert_eq!(pass(items.slice(0, 8).as_ref()), [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
        let shuffled = Items { order: Order::shuffled(3, 1), ..items };
        let left = |batches: Vec<Vec<usize>>| {
            assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
            let seen = batches.concat();
            (0..10).filter(|item| !seen.contains(item)).collect::<Vec<_>>()
        };
        let epochs: Vec<Vec<usize>> = (0..4).map(|_| left(pass(&shuffled))).collect();
        assert!(epochs.iter().any(|left| *left != epochs[0]), "always the same: {epochs:?}");
    }

    #[test]
    fn an_epoch_has_its_order_whatever_was_before() {
        let through = items(Order::shuffled(3, 1));
        let epochs: Vec<_> = (0..4).map(|_| pass(&through)).collect();
        let mut sorted = epochs[0].concat();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        assert!(epochs.windows(2).all(|pair| pair[0] != pair[1]));
        let resumed = items(Order::shuffled(3, 3)).to_device(&Device::default());
        assert_eq!(pass(resumed.as_ref()), epochs[2]);
        assert_eq!(pass(resumed.as_ref()), epochs[3]);
        assert_ne!(pass(&items(Order::shuffled(4, 1))), epochs[0]);
    }
}
