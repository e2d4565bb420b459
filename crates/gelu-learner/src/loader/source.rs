//! The source of a split's batches.

use super::items::Items;
use super::{Loader, Order};
use crate::{Error, Result};
use burn::data::dataloader::DataLoader;
use burn::tensor::Device;
use std::sync::Arc;

/// The batches `B` of a split: from a [`Loader`] or from a data loader of your own.
///
/// Convert your own data loader, an `Arc<dyn DataLoader<B>>`, with `.into()`. Its random numbers must depend only on
/// the seed and the epoch, as with [`Order`]; otherwise an interrupted run gives different results.
#[must_use = "give it to a training"]
pub struct BatchSource<B>(Kind<B>);

enum Kind<B> {
    Loader { examples: usize, batch_size: Option<usize>, drop_last: bool, make: Make<B> },
    Ready(Arc<dyn DataLoader<B>>),
}

/// Creates a data loader with batches of the given size.
type Make<B> = Box<dyn Fn(usize, Order, &Device) -> Arc<dyn DataLoader<B>> + Send + Sync>;

impl<B> std::fmt::Debug for BatchSource<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchSource").finish_non_exhaustive()
    }
}

impl<B> From<Arc<dyn DataLoader<B>>> for BatchSource<B> {
    fn from(loader: Arc<dyn DataLoader<B>>) -> Self {
        Self(Kind::Ready(loader))
    }
}

impl<I: Send + 'static, B: Send + 'static> From<Loader<I, B>> for BatchSource<B> {
    fn from(loader: Loader<I, B>) -> Self {
        let Loader { dataset, batcher, batch_size, drop_last, num_workers, augment } = loader;
        let examples = dataset.len();
        let make: Make<B> = Box::new(move |batch_size, order, device| {
            Arc::new(Items {
                dataset: dataset.clone(),
                batcher: batcher.clone(),
                range: 0..examples,
                batch_size,
                drop_last,
                num_workers,
                augment: augment.clone(),
                order,
                device: device.clone(),
            })
        });
        Self(Kind::Loader { examples, batch_size, drop_last, make })
    }
}

impl<B: Send + 'static> BatchSource<B> {
    /// Checks the batches for `.split(…)` and returns their size: the loader's own, otherwise `default`; `None` for a
    /// data loader that the program wrote itself.
    ///
    /// # Errors
    ///
    /// If there are no batches, or their size is missing or invalid.
    pub(crate) fn checked(&self, split: &str, default: Option<usize>) -> Result<Option<usize>> {
        let &Kind::Loader { examples, batch_size, drop_last, .. } = &self.0 else {
            return Ok(None);
        };
        if examples == 0 {
            return refuse(format!(
                "the data set for .{split}(…) has no examples; give it at least one"
            ));
        }
        if i32::try_from(examples).is_err() {
            return refuse(format!(
                "the {examples} examples for .{split}(…) are too many; at most {} can be loaded",
                i32::MAX
            ));
        }
        let Some(size) = batch_size.or(default) else {
            return refuse(format!(
                "the batch size is missing; write .{split}(Loader::new(…).batch_size(64))"
            ));
        };
        if size == 0 {
            return refuse("the batch size is 0; it has to be at least 1".to_owned());
        }
        if batch_size.is_some() && size > examples {
            return refuse(format!(
                "a batch of {size} is larger than the data set for .{split}(…), which has {examples} examples; \
                 use .batch_size({examples}) or a smaller one"
            ));
        }
        if drop_last && split != "train" {
            return refuse(format!(
                ".{split}(…) measures all examples, and .drop_last() would leave some out; use it for .train(…) \
                 alone"
            ));
        }
        Ok(Some(size))
    }

    /// Returns the data loader; `batch_size` is the result of [`checked`](Self::checked).
    pub(crate) fn loader(
        &self,
        batch_size: Option<usize>,
        order: Order,
        device: &Device,
    ) -> Arc<dyn DataLoader<B>> {
        match &self.0 {
            Kind::Loader { make, .. } => make(batch_size.unwrap_or(1), order, device),
            Kind::Ready(loader) => loader.clone(),
        }
    }
}

pub(crate) fn refuse<T>(problem: String) -> Result<T> {
    Err(Error::Usage(problem))
}
