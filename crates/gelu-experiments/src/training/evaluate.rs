use super::tally::{Tally, unreadable};
use super::{BatchOutput, Network};
use crate::data::{BatchLoader, Examples, Order, Samples};
use crate::measure::Bits;
use crate::recipe::NetworkRecipe;
use crate::{Error, Result};
use burn::data::dataloader::DataLoader;
use burn::tensor::{Int, Tensor};
use burn::train::InferenceStep;
use std::sync::Arc;

/// What one batch tells about a split. The tensors stay on the device until a [`Tally`] reads them.
#[derive(Clone, Debug)]
pub(super) struct Measurement {
    /// How many examples.
    pub examples: usize,
    /// Their mean loss, of shape `[1]`.
    pub loss: Tensor<1>,
    /// How many were classified wrongly, of shape `[1]`; `None` where nothing is classified.
    pub wrong: Option<Tensor<1, Int>>,
}

/// An output of a network that can be scored.
pub(super) trait Measured {
    /// The loss alone.
    fn measure_loss(&self) -> Measurement;

    /// The loss, and how many were classified wrongly where something is classified.
    fn measure(&self) -> Measurement;
}

/// What a network achieves on a split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Mean loss over its examples.
    pub loss: f64,
    /// Fraction of its examples classified wrongly.
    pub error: Option<f64>,
}

/// Measures `model` on everything `loader` yields. `seen` hears the number of examples of every
/// batch and its output.
///
/// # Errors
///
/// When the loader fails, yields nothing, or a result cannot be read back from the device.
pub(super) fn evaluate<M: InferenceStep<Output: Measured>>(
    model: &M,
    loader: &dyn DataLoader<M::Input>,
    mut seen: impl FnMut(usize, M::Output),
) -> Result<Score> {
    let mut tally = Tally::default();
    for batch in loader.iter() {
        let batch = batch.map_err(|error| Error::Failed(error.to_string()))?;
        let output = model.step(batch);
        let measurement = output.measure();
        let examples = measurement.examples;
        tally.push(measurement);
        seen(examples, output);
    }
    tally.score()
}

/// Measures a trained network on one split, with dropout off.
///
/// # Errors
///
/// When a result cannot be read back from the device.
pub fn evaluate_split(model: &Network, recipe: &NetworkRecipe, samples: &Samples) -> Result<Score> {
    evaluate(model, measuring_loader(samples, recipe).as_ref(), |_, _| ())
}

/// Measures a trained network as [`evaluate_split`] does, and says which examples it classifies
/// wrongly; `None` where it classifies nothing.
///
/// # Errors
///
/// As [`evaluate_split`].
pub(super) fn evaluate_each(
    model: &Network,
    recipe: &NetworkRecipe,
    samples: &Samples,
) -> Result<(Score, Option<Bits>)> {
    let mut wrong = Vec::new();
    let loader = measuring_loader(samples, recipe);
    let note = |_, output: BatchOutput| wrong.extend(output.wrong());
    let score = evaluate(model, loader.as_ref(), note)?;
    if wrong.is_empty() {
        return Ok((score, None));
    }
    let wrong = Tensor::cat(wrong, 0).try_into_data().map_err(unreadable)?;
    Ok((score, Some(wrong.iter::<bool>().collect())))
}

/// The loss of every example, with dropout off.
///
/// # Errors
///
/// As [`evaluate_split`].
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

/// Batches to measure by: of the same size for every run of a kind of network, as large as caches
/// like, and no larger than memory where every pixel has a hundred channels. Those of a text are windows.
pub(super) fn measuring_loader(
    samples: &Samples,
    recipe: &NetworkRecipe,
) -> Arc<dyn DataLoader<Examples>> {
    let size = match recipe.context() {
        Some(context) => (4096 / context).max(1),
        None if recipe.is_convolutional() => 250,
        None => 1000,
    };
    // A batch is a number of examples here, or a thousand sentences would lie in memory at once.
    Arc::new(BatchLoader::new(samples.clone().ungrouped(), size, Order::Sequential))
}
