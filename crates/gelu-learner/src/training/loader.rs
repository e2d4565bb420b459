//! What a training gets its data from.

use crate::loader::{Items, Order};
use crate::{Error, Result};
use burn::data::dataloader::DataLoader;
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::Dataset;
use burn::tensor::Device;
use std::sync::Arc;

/// A data set and the batcher that makes its batches `B`.
///
/// The loader says what the batches are for, and nothing else does: give `.train(…)` one whose batcher augments,
/// and `.valid(…)` and `.test(…)` ones whose batcher does not. The device that a batcher gets is no sign of
/// the phase: [`probes`](super::Training::probes) need the validation's batch on a device with autodiff.
///
/// ```
/// # use burn::data::dataloader::batcher::Batcher;
/// # use burn::data::dataset::InMemDataset;
/// # use burn::tensor::{Device, Distribution, Tensor};
/// # use gelu_learner::Loader;
/// struct Points {
///     noise: f64,
/// }
///
/// impl Batcher<[f32; 2], Tensor<2>> for Points {
///     fn batch(&self, points: Vec<[f32; 2]>, device: &Device) -> Tensor<2> {
///         let rows: Vec<Tensor<2>> =
///             points.into_iter().map(|point| Tensor::from_floats([point], device)).collect();
///         let points = Tensor::cat(rows, 0);
///         match self.noise > 0.0 {
///             true => points.clone() + points.random_like(Distribution::Normal(0.0, self.noise)),
///             false => points,
///         }
///     }
/// }
///
/// # let (train, valid) = (InMemDataset::new(vec![[0.0; 2]]), InMemDataset::new(vec![[0.0; 2]]));
/// let train: Loader<Tensor<2>> = Loader::new(train, Points { noise: 0.1 }).batch_size(64).drop_last();
/// let valid: Loader<Tensor<2>> = Loader::new(valid, Points { noise: 0.0 });
/// ```
#[must_use = "give it to a training"]
pub struct Loader<B> {
    examples: usize,
    batch_size: Option<usize>,
    drop_last: bool,
    make: Make<B>,
}

/// Makes batches of that size, without a smaller last one where that is dropped.
type Make<B> = Arc<dyn Fn(usize, bool, Order, &Device) -> Arc<dyn DataLoader<B>> + Send + Sync>;

impl<B> std::fmt::Debug for Loader<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loader")
            .field("examples", &self.examples)
            .field("batch_size", &self.batch_size)
            .field("drop_last", &self.drop_last)
            .finish_non_exhaustive()
    }
}

impl<B: Send + 'static> Loader<B> {
    /// Loads this data set, in batches that this batcher makes.
    pub fn new<I: Send + 'static>(
        data: impl Dataset<I> + 'static,
        batcher: impl Batcher<I, B> + 'static,
    ) -> Self {
        let examples = data.len();
        let dataset: Arc<dyn Dataset<I>> = Arc::new(data);
        let batcher: Arc<dyn Batcher<I, B>> = Arc::new(batcher);
        let make: Make<B> = Arc::new(move |batch_size, drop_last, order, device| {
            Arc::new(Items {
                dataset: dataset.clone(),
                batcher: batcher.clone(),
                range: 0..examples,
                batch_size,
                drop_last,
                order,
                device: device.clone(),
            })
        });
        Self { examples, batch_size: None, drop_last: false, make }
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

    /// How many batches an epoch has; the batches of `.split(…)` are of this size where they say none.
    ///
    /// # Errors
    ///
    /// When there are no batches.
    pub(super) fn checked(&self, split: &str, default: Option<usize>) -> Result<Checked> {
        let Some(batch_size) = self.batch_size.or(default) else {
            return refuse(format!(
                "the batch size is missing; write .{split}(Loader::new(…).batch_size(64))"
            ));
        };
        let examples = self.examples;
        if batch_size == 0 {
            return refuse("a batch is to have 0 examples; it has to be at least 1".to_owned());
        }
        if examples == 0 {
            return refuse(format!("the data set for .{split}(…) is empty"));
        }
        if i32::try_from(examples).is_err() {
            return refuse(format!("the {examples} examples for .{split}(…) are too many"));
        }
        let batches = match self.drop_last {
            true => examples / batch_size,
            false => examples.div_ceil(batch_size),
        };
        if batches == 0 {
            return refuse(format!(
                "the {examples} examples for .{split}(…) are less than a batch of {batch_size}, and \
                 .drop_last() leaves out what fills none; use a smaller .batch_size(…)"
            ));
        }
        Ok(Checked { batch_size, batches })
    }

    pub(super) fn drops_last(&self) -> bool {
        self.drop_last
    }

    pub(super) fn batches(
        &self,
        of: Checked,
        order: Order,
        device: &Device,
    ) -> Arc<dyn DataLoader<B>> {
        (self.make)(of.batch_size, self.drop_last, order, device)
    }
}

/// Batches that there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    pub(super) batch_size: usize,
    /// In an epoch.
    pub(super) batches: usize,
}

pub(super) fn refuse<T>(problem: String) -> Result<T> {
    Err(Error::Usage(problem))
}
