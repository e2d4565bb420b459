use super::{BatchOutput, Network};
use crate::Result;
use crate::data::{BatchLoader, Examples, Order, Samples};
use crate::recipe::NetworkRecipe;
use burn::data::dataloader::DataLoader;
use burn::tensor::Tensor;
use gelu_learner::{evaluate, read_bools, unreadable};
use std::sync::Arc;

/// The metrics of a network on a split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Mean loss over the examples.
    pub loss: f64,
    /// Share of wrongly classified examples.
    pub error: Option<f64>,
    /// The root of the loss, for a regression.
    pub rmse: Option<f64>,
    /// The unexplained share of the variance, for a regression on a table.
    pub unexplained: Option<f64>,
}

impl From<gelu_learner::SplitMetrics> for Score {
    fn from(score: gelu_learner::SplitMetrics) -> Self {
        Self {
            loss: score.loss(),
            error: score.get(BatchOutput::ERROR),
            rmse: score.get(BatchOutput::RMSE),
            unexplained: score.get(BatchOutput::UNEXPLAINED),
        }
    }
}

/// Measures a trained network on one split, with dropout off.
///
/// # Errors
///
/// If a result cannot be read back from the device.
pub fn evaluate_split(model: &Network, recipe: &NetworkRecipe, samples: &Samples) -> Result<Score> {
    let loader = measuring_loader(samples, recipe);
    Ok(evaluate(model, loader.as_ref(), |_, _| Ok(()))?.into())
}

/// Measures a trained network like [`evaluate_split`], and returns for each example whether it is classified wrongly;
/// `None` if the network does not classify.
///
/// # Errors
///
/// If [`evaluate_split`] would fail.
pub(super) fn evaluate_each(
    model: &Network,
    recipe: &NetworkRecipe,
    samples: &Samples,
) -> Result<(Score, Option<Vec<bool>>)> {
    let mut wrong = Vec::new();
    let loader = measuring_loader(samples, recipe);
    let note = |_, output: BatchOutput| {
        wrong.extend(output.wrong());
        Ok(())
    };
    let score = evaluate(model, loader.as_ref(), note)?;
    Ok((score.into(), read_bools(wrong)?))
}

/// Returns the true and the predicted class of every example.
///
/// # Errors
///
/// If [`evaluate_split`] would fail.
pub(super) fn named_classes(
    model: &Network,
    recipe: &NetworkRecipe,
    samples: &Samples,
) -> Result<Vec<(usize, usize)>> {
    let mut pairs = Vec::new();
    for batch in measuring_loader(samples, recipe).iter() {
        let BatchOutput { output, labels, .. } = model.score(batch.map_err(unreadable)?);
        let named = output.argmax(1).try_into_data().map_err(unreadable)?;
        let labels = labels.try_into_data().map_err(unreadable)?;
        let number = |number: i64| number as usize;
        pairs.extend(labels.iter::<i64>().map(number).zip(named.iter::<i64>().map(number)));
    }
    Ok(pairs)
}

/// Returns the loss of every example, with dropout off.
///
/// # Errors
///
/// If [`evaluate_split`] would fail.
pub(super) fn each_loss(
    model: &Network,
    recipe: &NetworkRecipe,
    samples: &Samples,
) -> Result<Vec<f32>> {
    let loader = measuring_loader(samples, recipe);
    let batches = loader.iter().map(|batch| batch.map(|batch| model.losses(batch)));
    let losses = batches.collect::<std::result::Result<Vec<_>, _>>().map_err(unreadable)?;
    let losses = Tensor::cat(losses, 0).try_into_data().map_err(unreadable)?;
    Ok(losses.iter::<f32>().collect())
}

/// Returns a loader for measuring. The batch size only depends on the kind of network. It suits the caches, and is
/// small enough for memory when every pixel has a hundred channels. For a text, it counts windows.
pub(super) fn measuring_loader(
    samples: &Samples,
    recipe: &NetworkRecipe,
) -> Arc<dyn DataLoader<Examples>> {
    let size = match recipe.context() {
        Some(context) => (4096 / context).max(1),
        None if recipe.is_convolutional() => 250,
        None => 1000,
    };
    in_order(samples, size)
}

/// Returns a loader for probing layers. Its batches are small, because the inputs and outputs of all layers are in
/// memory at once, and every position of an image is an example.
pub(super) fn probing_loader(
    samples: &Samples,
    recipe: &NetworkRecipe,
) -> Arc<dyn DataLoader<Examples>> {
    match recipe.is_convolutional() {
        true => in_order(samples, 25),
        false => measuring_loader(samples, recipe),
    }
}

fn in_order(samples: &Samples, size: usize) -> Arc<dyn DataLoader<Examples>> {
    // A batch counts examples here. If it counted groups, a thousand sentences would be in memory at once.
    Arc::new(BatchLoader::new(samples.clone().ungrouped(), size, Order::Sequential))
}
