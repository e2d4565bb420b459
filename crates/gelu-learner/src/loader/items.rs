//! Batches of a Burn data set.

use super::{Augment, Order};
use crate::randomness::{Purpose, generator};
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataloader::{DataLoader, DataLoaderIterator, Progress};
use burn::data::dataset::{Dataset, DatasetError};
use burn::tensor::Device;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

/// Batches of a Burn data set. The training thread runs the batcher for one batch after the other, so its random
/// numbers from the device's generator depend only on seed and epoch. The last batch holds the rest, unless it is
/// dropped.
pub(super) struct Items<I, B> {
    pub(super) dataset: Arc<dyn Dataset<I>>,
    pub(super) batcher: Arc<dyn Batcher<I, B>>,
    pub(super) range: Range<usize>,
    pub(super) batch_size: usize,
    /// Whether to leave out a last batch that is smaller than the others.
    pub(super) drop_last: bool,
    /// Number of threads that read and augment items; 0 uses the training thread.
    pub(super) num_workers: usize,
    pub(super) augment: Option<Augment<I>>,
    pub(super) order: Order,
    pub(super) device: Device,
}

impl<I, B> Items<I, B> {
    /// Returns a copy with another range, or on another device.
    fn with(&self, range: Range<usize>, device: &Device) -> Self {
        Self {
            dataset: self.dataset.clone(),
            batcher: self.batcher.clone(),
            range,
            augment: self.augment.clone(),
            order: self.order.clone(),
            device: device.clone(),
            ..*self
        }
    }

    /// Returns the number of examples in the batches of a pass.
    fn count(&self) -> usize {
        match self.drop_last {
            true => self.range.len() / self.batch_size * self.batch_size,
            false => self.range.len(),
        }
    }
}

impl<I: Send + 'static, B: Send + 'static> DataLoader<B> for Items<I, B> {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<B> + 'a> {
        let (epoch, order) = match self.order.next_pass(self.range.clone()) {
            Some((epoch, order)) => (epoch, Some(order)),
            None => (0, None),
        };
        let seed = match &self.order {
            Order::Shuffled { seed, .. } => *seed,
            Order::Sequential => 0,
        };
        let pass = Pass {
            dataset: self.dataset.clone(),
            augment: self.augment.clone(),
            order,
            start: self.range.start,
            count: self.count(),
            batch_size: self.batch_size,
            seed,
            epoch,
        };
        let reading = match self.num_workers {
            0 => Reading::Here(pass),
            threads => Reading::Ahead(ahead(Arc::new(pass), threads)),
        };
        Box::new(Batches { items: self, reading, batch: 0, done: 0 })
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

/// The items of a pass, batch by batch.
struct Pass<I> {
    dataset: Arc<dyn Dataset<I>>,
    augment: Option<Augment<I>>,
    order: Option<Vec<i32>>,
    /// Index of the first item, if there is no order.
    start: usize,
    count: usize,
    batch_size: usize,
    seed: u64,
    epoch: usize,
}

impl<I> Pass<I> {
    /// Returns the items of a batch; `None` after the last one.
    fn items(&self, batch: usize) -> Option<Result<Vec<I>, DatasetError>> {
        let begin = batch * self.batch_size;
        let end = (begin + self.batch_size).min(self.count);
        if begin >= end {
            return None;
        }
        let indices: Vec<usize> = match &self.order {
            Some(order) => order[begin..end].iter().map(|&unit| unit as usize).collect(),
            None => (self.start + begin..self.start + end).collect(),
        };
        let Some(augment) = &self.augment else { return Some(self.dataset.get_many(indices)) };
        let items = self.dataset.get_many(indices.clone());
        let augmented = |(item, index)| {
            let purpose = Purpose::Augmentation { epoch: self.epoch, item: index };
            augment(item, self.epoch, &mut generator(self.seed, purpose))
        };
        Some(items.map(|items| items.into_iter().zip(indices).map(augmented).collect()))
    }
}

/// Reads the items of a pass on `threads` threads. Thread `t` of `n` reads the batches `t`, `t + n`, …, holds at most
/// two of them ready, and ends when the receiver is dropped.
fn ahead<I: Send + 'static>(pass: Arc<Pass<I>>, threads: usize) -> Vec<Read<I>> {
    let reader = |thread: usize| {
        let (send, receive) = sync_channel(2);
        let pass = pass.clone();
        let work = move || {
            let batches = (thread..).step_by(threads).map_while(|batch| pass.items(batch));
            for items in batches {
                if send.send(items).is_err() {
                    return;
                }
            }
        };
        // If a thread cannot start, its batches are missing, and `next` reports that.
        let _ = std::thread::Builder::new().name(format!("loader-{thread}")).spawn(work);
        receive
    };
    (0..threads).map(reader).collect()
}

/// The batches that one thread reads.
type Read<I> = Receiver<Result<Vec<I>, DatasetError>>;

enum Reading<I> {
    Here(Pass<I>),
    Ahead(Vec<Read<I>>),
}

struct Batches<'a, I, B> {
    items: &'a Items<I, B>,
    reading: Reading<I>,
    batch: usize,
    done: usize,
}

impl<I, B> Iterator for Batches<'_, I, B> {
    type Item = Result<B, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done >= self.items.count() {
            return None;
        }
        let items = match &self.reading {
            Reading::Here(pass) => pass.items(self.batch)?,
            Reading::Ahead(threads) => match threads[self.batch % threads.len()].recv() {
                Ok(items) => items,
                Err(_) => panic!("a thread that reads the data set has ended before its time"),
            },
        };
        self.batch += 1;
        self.done = (self.done + self.items.batch_size).min(self.items.count());
        Some(items.map(|items| self.items.batcher.batch(items, &self.items.device)))
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
            num_workers: 0,
            augment: None,
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
        // The inner range counts from the start of the slice.
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
    fn a_shuffled_slice_has_its_own_items_alone() {
        let slice = items(Order::shuffled(3, 1)).slice(4, 9);
        for _ in 0..3 {
            let mut seen = pass(slice.as_ref()).concat();
            seen.sort_unstable();
            assert_eq!(seen, [4, 5, 6, 7, 8]);
        }
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

    #[test]
    fn threads_change_nothing_and_an_item_is_augmented_by_seed_epoch_and_index() {
        use rand::RngExt;
        let augment: Augment<usize> = Arc::new(|item, epoch, random| {
            item + 100 * epoch + 1000 * random.random_range(0..1_000_000_usize)
        });
        let loader = |num_workers, order| Items {
            num_workers,
            augment: Some(augment.clone()),
            ..items(order)
        };
        let expected: Vec<_> = {
            let loader = loader(0, Order::shuffled(3, 1));
            (0..3).map(|_| pass(&loader)).collect()
        };
        for num_workers in [1, 2, 5] {
            let loader = loader(num_workers, Order::shuffled(3, 1));
            for epoch in &expected {
                assert_eq!(pass(&loader), *epoch, "{num_workers} threads");
            }
        }
        // A pass that starts in a later epoch, as after an interruption.
        assert_eq!(pass(&loader(2, Order::shuffled(3, 3))), expected[2]);
        let mut drawn: Vec<usize> = expected.iter().flatten().flatten().map(|v| v / 1000).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 30, "each item of each epoch draws numbers of its own");
        // Dropping a pass ends its threads, and the next pass starts from the beginning.
        let given_up = loader(2, Order::Sequential);
        assert!(given_up.iter().next().is_some());
        assert_eq!(pass(&given_up), pass(&loader(0, Order::Sequential)));
    }
}
