use super::evaluate::evaluate_each;
use super::network::Network;
use super::splits::Splits;
use crate::Result;
use crate::randomness::{device_seed, noise};
use crate::runs::RunSpec;
use burn::tensor::{Device, Distribution};
use gelu_learner::networks::NoiseMetrics;

/// All networks get the same noise, so that their results can be compared.
const SEED: u64 = 0;

/// The result of a trained network on the test set with noise of one amplitude.
#[derive(Clone, Debug, PartialEq)]
pub struct UnderNoise {
    /// The metrics.
    pub metrics: NoiseMetrics,
    /// Whether each example is classified wrongly; `None` if the network does not classify.
    pub wrong: Option<Vec<bool>>,
}

/// Measures a trained network on the test set with noise from Unif[−a, a] added to every input, for each amplitude
/// `a` (section 3.1, Figure 3). The noise only depends on the amplitude, and is the same for every network on one
/// kind of device; inputs are not clipped.
///
/// # Errors
///
/// If a result cannot be read back from the device.
pub fn measure_noise(
    model: &Network,
    spec: &RunSpec,
    splits: &Splits,
    amplitudes: &[f64],
    device: &Device,
) -> Result<Vec<UnderNoise>> {
    let measure = |&amplitude: &f64| {
        device.seed(device_seed(SEED, noise(amplitude)));
        let noisy = match amplitude > 0.0 {
            true => splits.test.clone().map_inputs(|inputs| {
                let range = Distribution::Uniform(-amplitude, amplitude);
                inputs.clone() + inputs.random_like(range)
            }),
            false => splits.test.clone(),
        };
        let (score, wrong) = evaluate_each(model, &spec.network, &noisy)?;
        // A loss of NaN counts as the worst.
        let test_loss = if score.loss.is_nan() { f64::INFINITY } else { score.loss };
        let test_error = score.error;
        Ok(UnderNoise { metrics: NoiseMetrics { amplitude, test_loss, test_error }, wrong })
    };
    amplitudes.iter().map(measure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Examples, Samples};
    use crate::recipe::{NetworkRecipe, Recipe};
    use burn::tensor::Tensor;
    use gelu_core::Activation;
    use gelu_learner::networks::TestGroups;

    #[test]
    fn a_loss_that_is_no_number_is_as_bad_as_can_be() {
        let mut recipe = Recipe::named("digits").unwrap();
        recipe.network = NetworkRecipe::Classifier { depth: 1, width: 5 };
        let spec = RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, 1, "flex", "");
        let device = Device::default();
        let inputs = Tensor::<2>::from_floats([[f32::NAN, 1.0], [0.5, 2.0]], &device);
        let labels = Tensor::from_ints([0, 1], &device);
        let samples: Samples = Examples { inputs: inputs.into(), labels, targets: None }.into();
        let splits = Splits {
            train: samples.clone(),
            valid: None,
            test_groups: TestGroups::singles(2),
            is_shared: true,
            test: samples,
            outside: None,
            classes: 2,
            picture: None,
            names: Vec::new(),
            reader: None,
            large: None,
        };
        let network = Network::new(&spec, &splits, &device);
        for measured in measure_noise(&network, &spec, &splits, &[0.0, 0.5], &device).unwrap() {
            assert_eq!(measured.metrics.test_loss, f64::INFINITY);
        }
    }
}
