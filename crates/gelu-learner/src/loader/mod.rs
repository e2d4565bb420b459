//! Data loaders for a training.

mod items;
mod order;
mod source;

pub use order::Order;
pub use source::BatchSource;
pub(crate) use source::refuse;

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::Dataset;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// A data set of items `I` and the batcher that makes batches `B` from them.
///
/// A batcher learns its phase only from the loader that you give it to: give `.train(…)` a batcher that augments, and
/// `.valid(…)` and `.test(…)` one that does not. The device does not show the phase, because
/// [`probes`](crate::Training::probes) need a validation batch on a device with autodiff.
///
/// ```
/// # use burn::data::dataloader::batcher::Batcher;
/// # use burn::data::dataset::InMemDataset;
/// # use burn::tensor::{Device, Tensor};
/// # use gelu_learner::Loader;
/// use rand::RngExt;
///
/// #[derive(Clone)]
/// struct Points;
///
/// impl Batcher<[f32; 2], Tensor<2>> for Points {
///     fn batch(&self, points: Vec<[f32; 2]>, device: &Device) -> Tensor<2> {
///         let rows = points.into_iter().map(|point| Tensor::from_floats([point], device));
///         Tensor::cat(rows.collect(), 0)
///     }
/// }
///
/// # let (train, valid) = (InMemDataset::new(vec![[0.0; 2]]), InMemDataset::new(vec![[0.0; 2]]));
/// let train = Loader::new(train, Points)
///     .batch_size(64)
///     .drop_last()
///     .augment(|[x, y], _epoch, random| [x + random.random_range(-0.1..0.1), y])
///     .num_workers(2);
/// let valid = Loader::new(valid, Points);
/// ```
#[must_use = "give it to a training"]
pub struct Loader<I, B> {
    dataset: Arc<dyn Dataset<I>>,
    batcher: Arc<dyn Batcher<I, B>>,
    batch_size: Option<usize>,
    drop_last: bool,
    num_workers: usize,
    augment: Option<Augment<I>>,
}

/// Changes an item in an epoch, from 1, with the item's own random number generator.
pub(crate) type Augment<I> = Arc<dyn Fn(I, usize, &mut ChaCha8Rng) -> I + Send + Sync>;

impl<I, B> std::fmt::Debug for Loader<I, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loader")
            .field("examples", &self.dataset.len())
            .field("batch_size", &self.batch_size)
            .field("drop_last", &self.drop_last)
            .field("num_workers", &self.num_workers)
            .finish_non_exhaustive()
    }
}

impl<I: Send + 'static, B: Send + 'static> Loader<I, B> {
    /// Creates a loader of `dataset` in batches that `batcher` makes.
    pub fn new(dataset: impl Dataset<I> + 'static, batcher: impl Batcher<I, B> + 'static) -> Self {
        Self {
            dataset: Arc::new(dataset),
            batcher: Arc::new(batcher),
            batch_size: None,
            drop_last: false,
            num_workers: 0,
            augment: None,
        }
    }

    /// Sets the number of examples per batch. Without it, measuring uses the batch size of `.train(…)`, which is
    /// required.
    pub fn batch_size(mut self, examples: usize) -> Self {
        self.batch_size = Some(examples);
        self
    }

    /// Drops the last batch of an epoch if it is smaller than the others. With a last batch of one example, batch
    /// norm would see a variance of 0. Each epoch drops other examples. Only for training: measuring uses all
    /// examples.
    pub fn drop_last(mut self) -> Self {
        self.drop_last = true;
        self
    }

    /// Reads and augments items on this number of threads, up to two batches per thread ahead of the training. The
    /// batches and their order do not depend on `threads`. The batcher still runs on the training thread, so its
    /// random numbers on the device depend only on the seed.
    pub fn num_workers(mut self, threads: usize) -> Self {
        self.num_workers = threads;
        self
    }

    /// Changes every item on the host before batching. `augment` gets the item, the epoch, from 1, and a generator
    /// that depends only on the run's seed, the epoch and the item's index, so a resumed run gets the same random
    /// numbers. Without shuffling, in `.valid(…)` and `.test(…)`, the epoch is 0.
    pub fn augment(
        mut self,
        augment: impl Fn(I, usize, &mut ChaCha8Rng) -> I + Send + Sync + 'static,
    ) -> Self {
        self.augment = Some(Arc::new(augment));
        self
    }

    /// Returns the number of batches in an epoch; 0 before the batch size is set. Burn's schedulers need the number
    /// of steps in an epoch: this number divided by [`grads_accumulation`](crate::Training::grads_accumulation),
    /// rounded up.
    pub fn num_batches(&self) -> usize {
        let (examples, size) = (self.dataset.len(), self.batch_size.unwrap_or(0));
        match self.drop_last {
            _ if size == 0 => 0,
            true => examples / size,
            false => examples.div_ceil(size),
        }
    }
}
