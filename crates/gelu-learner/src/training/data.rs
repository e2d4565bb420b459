//! A network's data, as loaders of its batches.

use crate::Trainable;
use crate::loader::{Items, Order};
use burn::data::dataloader::DataLoader;
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::Dataset;
use burn::tensor::Device;
use burn::train::InferenceStep;
use std::ops::Range;
use std::sync::Arc;

/// A network's data, as loaders.
pub(super) struct Data<M: Trainable> {
    pub(super) train: Arc<dyn Loading<Input<M>>>,
    pub(super) valid: Option<Arc<dyn Loading<Input<M>>>>,
    pub(super) test: Option<Arc<dyn Loading<Input<M>>>>,
}

pub(super) type Input<M> = <M as InferenceStep>::Input;

/// A data set with its batcher.
pub(super) trait Loading<B>: Send + Sync {
    fn items(&self) -> usize;
    fn trained(&self, order: Order, device: &Device) -> Arc<dyn DataLoader<B>>;
    fn measured(&self, device: &Device) -> Arc<dyn DataLoader<B>> {
        self.trained(Order::Sequential, device)
    }
}

impl<I: Send + 'static, B: Send + 'static> Loading<B> for Items<I, B> {
    fn items(&self) -> usize {
        self.range.len()
    }

    fn trained(&self, order: Order, device: &Device) -> Arc<dyn DataLoader<B>> {
        Arc::new(self.with(self.range.clone(), order, device))
    }
}

pub(super) fn split<I: Send + 'static, B: Send + 'static>(
    data: impl Dataset<I> + 'static,
    batcher: &Arc<dyn Batcher<I, B>>,
    batch_size: usize,
) -> Arc<dyn Loading<B>> {
    let range: Range<usize> = 0..data.len();
    let (dataset, batcher) = (Arc::new(data), batcher.clone());
    let (order, device) = (Order::Sequential, Device::default());
    Arc::new(Items { dataset, batcher, range, batch_size, order, device })
}
