//! A training's batches and data, named one after the other.

use super::Training;
use super::data::{Data, Input, Loading, split};
use crate::Trainable;
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::Dataset;
use std::sync::Arc;

/// A [`Training`] whose batches are known, and not yet what is in them.
#[must_use = "give it data to train on"]
pub struct Batches<M: Trainable, I> {
    training: Training<M>,
    size: usize,
    batcher: Arc<dyn Batcher<I, Input<M>>>,
}

impl<M: Trainable, I> std::fmt::Debug for Batches<M, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("size", &self.size).finish_non_exhaustive()
    }
}

impl<M: Trainable, I> Batches<M, I> {
    pub(super) fn of(
        training: Training<M>,
        size: usize,
        batcher: impl Batcher<I, Input<M>> + 'static,
    ) -> Self {
        Self { training, size, batcher: Arc::new(batcher) }
    }
}

impl<M: Trainable, I: Send + 'static> Batches<M, I> {
    /// Trains on this.
    pub fn train(self, data: impl Dataset<I> + 'static) -> Splits<M, I> {
        let train = split(data, &self.batcher, self.size);
        Splits { batches: self, train, valid: None, test: None }
    }
}

/// A [`Training`] with its data.
#[must_use = "say for how many epochs it is trained"]
pub struct Splits<M: Trainable, I> {
    batches: Batches<M, I>,
    train: Arc<dyn Loading<Input<M>>>,
    valid: Option<Arc<dyn Loading<Input<M>>>>,
    test: Option<Arc<dyn Loading<Input<M>>>>,
}

impl<M: Trainable, I> std::fmt::Debug for Splits<M, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Splits").field("batches", &self.batches).finish_non_exhaustive()
    }
}

impl<M: Trainable, I: Send + 'static> Splits<M, I> {
    /// Chooses settings, and best epochs, on this: `valid_loss` and the like.
    pub fn valid(mut self, data: impl Dataset<I> + 'static) -> Self {
        self.valid = Some(split(data, &self.batches.batcher, self.batches.size));
        self
    }

    /// Reports on this, which nothing is chosen on: `test_loss` and the like.
    pub fn test(mut self, data: impl Dataset<I> + 'static) -> Self {
        self.test = Some(split(data, &self.batches.batcher, self.batches.size));
        self
    }

    /// For so many epochs.
    pub fn epochs(self, epochs: usize) -> Training<M> {
        let Self { batches: Batches { training, size, .. }, train, valid, test } = self;
        let data = Some(Data { train, valid, test });
        Training { epochs, batch_size: size, data, ..training }
    }
}
