use super::evaluate::{each_loss, evaluate_each, named_classes};
use super::network::Network;
use super::noise::{UnderNoise, measure_noise};
use super::splits::Splits;
use crate::Result;
use crate::recipe::NoiseRecipe;
use crate::runs::RunSpec;
use burn::tensor::Device;
use gelu_compare::measure::{Criterion, EpochMetrics};
use gelu_compare::runs::Stage;
use gelu_learner::networks::{Confusion, NoiseMetrics, Outcomes};

/// The results that are measured once per run, on the saved network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examination {
    /// The metrics under the noise of the recipe, by amplitude.
    pub noise: Vec<NoiseMetrics>,
    /// The outcome of each test example, as the deciding metric counts it. `None` if that metric is not a mean over
    /// test examples, or the run only tunes a learning rate.
    pub outcomes: Option<Outcomes>,
    /// The confusion table of the test examples. `None` if the network does not classify or there are too many
    /// classes, or the run only tunes a learning rate.
    pub confusion: Option<Confusion>,
}

/// The largest number of classes for a confusion table.
const MOST_CLASSES: usize = 100;

/// Measures the saved network of a run: that of the epoch `reported`.
///
/// Apart from the noise, no random numbers are used, and the network and the batches are the same. So the outcomes
/// are those that the epoch was measured with.
///
/// # Errors
///
/// If a result cannot be read back from the device.
pub fn examine(
    model: &Network,
    spec: &RunSpec,
    splits: &Splits,
    criterion: &Criterion,
    reported: &EpochMetrics,
    device: &Device,
) -> Result<Examination> {
    let amplitudes = spec.noise.as_ref().map_or(&[][..], |noise| &noise.amplitudes);
    let disturbing = spec.noise.as_ref().map_or_else(Vec::new, NoiseRecipe::disturbing);
    let under_noise = measure_noise(model, spec, splits, amplitudes, device)?;
    let (epoch, groups) = (reported.epoch, splits.test_groups.clone());
    let outcomes = match criterion.primary.as_str() {
        _ if spec.stage == Stage::Tuning => None,
        // The test rows differ between seeds.
        _ if !splits.is_shared => None,
        "test-error" => {
            let (_, wrong) = evaluate_each(model, &spec.network, &splits.test)?;
            wrong.map(|wrong| Outcomes::of_errors(epoch, groups, wrong))
        }
        "test-loss" => {
            let losses = each_loss(model, &spec.network, &splits.test)?;
            Some(Outcomes::of_losses(epoch, groups, losses))
        }
        "test-rmse" => {
            let squares = each_loss(model, &spec.network, &splits.test)?;
            Some(Outcomes::of_squared_errors(epoch, groups, squares))
        }
        "noisy-test-error" => wrong_at(&under_noise, &disturbing)
            .map(|wrong| Outcomes::of_noise(epoch, groups, wrong)),
        _ => None,
    };
    let confusion = match splits.names.len() {
        2..=MOST_CLASSES if spec.network.classifies() && spec.stage != Stage::Tuning => {
            let pairs = named_classes(model, &spec.network, &splits.test)?;
            Some(Confusion::of(&splits.names, pairs))
        }
        _ => None,
    };
    let noise = under_noise.into_iter().map(|noisy| noisy.metrics).collect();
    Ok(Examination { noise, outcomes, confusion })
}

/// Returns whether each example was classified wrongly, at each of these amplitudes; `None` if there are none, or one
/// was not measured.
fn wrong_at(measured: &[UnderNoise], amplitudes: &[f64]) -> Option<Vec<(f64, Vec<bool>)>> {
    let at = |&amplitude: &f64| {
        let noisy = measured.iter().find(|noisy| noisy.metrics.amplitude == amplitude)?;
        Some((amplitude, noisy.wrong.clone()?))
    };
    let wrong: Vec<_> = amplitudes.iter().map(at).collect::<Option<_>>()?;
    (!wrong.is_empty()).then_some(wrong)
}
