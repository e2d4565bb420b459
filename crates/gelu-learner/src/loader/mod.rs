//! What a training gets its data from.

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

/// A data set of items `I` and the batcher that makes batches `B` of them.
///
/// A batcher knows its phase by the loader that it is given to, and by nothing else: give `.train(…)` a batcher
/// that augments, and `.valid(…)` and `.test(…)` one that does not. The device that a batcher gets is no sign of
/// the phase: [`probes`](crate::Training::probes) need the validation's batch on a device with autodiff.
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

/// Changes an item in an epoch, from 1, by a generator of the item's own.
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
    /// Loads this data set, in batches that this batcher makes.
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

    /// Sets the number of examples in a batch. Without it, measuring uses the batch size of `.train(…)`, which
    /// has to have one.
    pub fn batch_size(mut self, examples: usize) -> Self {
        self.batch_size = Some(examples);
        self
    }

    /// Leaves out the last batch of an epoch where it is smaller than the others. A last batch of one example
    /// gives batch norm a variance of 0. Each epoch leaves out other examples. For training alone: what is
    /// measured is measured on all examples.
    pub fn drop_last(mut self) -> Self {
        self.drop_last = true;
        self
    }

    /// Reads and augments items on this number of threads, up to two batches per thread ahead of the training.
    /// Batches keep their order and their bits, whatever the number. The batcher still runs on the training's
    /// thread, so that what it draws on the device follows from the seed.
    pub fn num_workers(mut self, threads: usize) -> Self {
        self.num_workers = threads;
        self
    }

    /// Changes every item on the host before it is batched: by the epoch, from 1, and a generator that follows
    /// from the run's seed, the epoch and the item's index alone. So a run that was killed draws the same numbers
    /// again. Where nothing is shuffled, in `.valid(…)` and `.test(…)`, the epoch is 0.
    pub fn augment(
        mut self,
        augment: impl Fn(I, usize, &mut ChaCha8Rng) -> I + Send + Sync + 'static,
    ) -> Self {
        self.augment = Some(Arc::new(augment));
        self
    }

    /// Returns the number of batches in an epoch; 0 before the batch size is set. The steps of an epoch, which
    /// Burn's schedulers ask for, are these divided by what
    /// [`grads_accumulation`](crate::Training::grads_accumulation) says, rounded up.
    pub fn num_batches(&self) -> usize {
        let (examples, size) = (self.dataset.len(), self.batch_size.unwrap_or(0));
        match self.drop_last {
            _ if size == 0 => 0,
            true => examples / size,
            false => examples.div_ceil(size),
        }
    }
}
