use super::Network;
use crate::data::{BatchLoader, Examples, Order, Samples};
use crate::recipe::NetworkRecipe;
use crate::{Error, Result};
use burn::data::dataloader::DataLoader;
use burn::tensor::{Int, Tensor};
use burn::train::InferenceStep;
use std::sync::Arc;

/// What one batch tells about a split. The tensors stay on the device until the split is done.
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
    /// Everything a split's score is made of.
    fn measure(&self) -> Measurement;

    /// The mean loss alone, of shape `[1]`, without autodiff.
    fn mean_loss(&self) -> Tensor<1>;
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
    let mut measurements = Vec::new();
    for batch in loader.iter() {
        let batch = batch.map_err(|error| Error::Device(error.to_string()))?;
        let output = model.step(batch);
        let measurement = output.measure();
        let examples = measurement.examples;
        measurements.push(measurement);
        seen(examples, output);
    }
    score(&measurements)
}

/// Measures a trained network on one split, with dropout off.
///
/// # Errors
///
/// When a result cannot be read back from the device.
pub fn evaluate_split(model: &Network, recipe: &NetworkRecipe, samples: &Samples) -> Result<Score> {
    evaluate(model, measuring_loader(samples, recipe).as_ref(), |_, _| ())
}

/// Batches to measure by: of the same size for every run of a kind of network, as large as caches
/// like, and no larger than memory where every pixel has a hundred channels.
pub(super) fn measuring_loader(
    samples: &Samples,
    recipe: &NetworkRecipe,
) -> Arc<dyn DataLoader<Examples>> {
    let size = if recipe.is_convolutional() { 250 } else { 1000 };
    Arc::new(BatchLoader::new(samples.clone(), size, Order::Sequential))
}

/// The score of a split from those of its batches, weighted by their sizes; sums in f64.
pub(super) fn score(measurements: &[Measurement]) -> Result<Score> {
    let examples: usize = measurements.iter().map(|m| m.examples).sum();
    let losses = mean_losses(measurements.iter().map(|m| m.loss.clone()).collect())?;
    let weighted = losses.iter().zip(measurements).map(|(loss, m)| loss * m.examples as f64);
    let loss = weighted.sum::<f64>() / examples as f64;
    let wrong: Option<Vec<Tensor<1, Int>>> = measurements.iter().map(|m| m.wrong.clone()).collect();
    let error = match wrong {
        None => None,
        Some(wrong) => {
            let data = Tensor::cat(wrong, 0).try_into_data().map_err(unreadable)?;
            Some(data.iter::<i64>().sum::<i64>() as f64 / examples as f64)
        }
    };
    Ok(Score { loss, error })
}

/// Reads a list of scalars back from the device at once.
///
/// # Errors
///
/// When there are none, or the device fails.
pub(super) fn mean_losses(losses: Vec<Tensor<1>>) -> Result<Vec<f64>> {
    if losses.is_empty() {
        return Err(Error::Device("there is no batch to measure".to_owned()));
    }
    let data = Tensor::cat(losses, 0).try_into_data().map_err(unreadable)?;
    Ok(data.iter::<f64>().collect())
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::Device(format!("cannot read a result back from the device: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn score_weights_batches_by_their_examples() {
        let device = Device::default();
        let batch = |examples, loss: f32, wrong: i32| Measurement {
            examples,
            loss: Tensor::from_data([loss], &device),
            wrong: Some(Tensor::from_data([wrong], &device)),
        };
        let score = score(&[batch(3, 1.0, 3), batch(1, 5.0, 0)]).unwrap();
        assert_eq!(score, Score { loss: 2.0, error: Some(0.75) });
    }

    #[test]
    fn nothing_to_measure_is_an_error() {
        assert!(score(&[]).is_err());
    }
}
