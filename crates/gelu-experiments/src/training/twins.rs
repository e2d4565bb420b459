//! Training step by step beside PyTorch: network, loss, optimiser and schedule as the recipes have
//! them, on tiny networks, against the losses that `tests/twins/generate.py` wrote.

use super::network::Network;
use super::optimizer::optimizer;
use super::splits::Splits;
use crate::data::Examples;
use crate::measure::TestGroups;
use crate::recipe::{NetworkRecipe, Order, Recipe};
use crate::runs::RunSpec;
use burn::module::Module;
use burn::optim::lr_scheduler::LrScheduler;
use burn::store::{ModuleStore, SafetensorsStore, bridge};
use burn::tensor::{Device, Tensor, TensorData};
use burn::train::{InferenceStep, TrainStep};
use gelu_core::Activation;
use gelu_models::StateDict;
use std::path::PathBuf;

const EPOCHS: usize = 4;
const BATCHES: usize = 2;
/// Largest difference of a loss, relative. The references are computed in f64.
const TOLERANCE: f32 = 1e-4;

struct Reference {
    path: PathBuf,
    store: SafetensorsStore,
}

impl Reference {
    fn open(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/twins");
        let path = path.join(format!("{name}.safetensors"));
        let store = SafetensorsStore::from_file(&path);
        Self { path, store }
    }

    fn data(&mut self, name: &str) -> TensorData {
        bridge::to_data(self.store.get_tensor(name).unwrap().unwrap()).unwrap()
    }

    fn numbers(&mut self, name: &str) -> Vec<f32> {
        self.data(name).try_into_vec().unwrap()
    }

    /// The batches, on a device.
    fn batches(&mut self, device: &Device) -> Vec<Examples> {
        let (inputs, targets) = (self.data("inputs"), self.data("targets"));
        let (steps, batch) = (inputs.shape()[0], inputs.shape()[1]);
        let features = inputs.shape()[2..].iter().product::<usize>();
        let inputs = inputs.try_into_vec::<f32>().unwrap();
        let targets = targets.try_into_vec::<i64>().unwrap();
        let batches = inputs.chunks(batch * features).zip(targets.chunks(batch));
        let batches: Vec<Examples> = batches
            .map(|(inputs, targets)| Examples {
                inputs: Tensor::from_data(
                    TensorData::new(inputs.to_vec(), [batch, features]),
                    device,
                ),
                labels: Tensor::from_data(TensorData::new(targets.to_vec(), [batch]), device),
            })
            .collect();
        assert_eq!(batches.len(), steps);
        batches
    }
}

/// Trains the network of a recipe, made small, from the twin's weights and on its batches.
#[track_caller]
fn assert_trains_as_the_twin(
    file: &str,
    experiment: &str,
    network: NetworkRecipe,
    rate: f64,
    picture: Option<[usize; 3]>,
) {
    let mut reference = Reference::open(file);
    let mut recipe = Recipe::named(experiment).unwrap();
    recipe.network = network;
    recipe.training.epochs = EPOCHS;
    let spec = RunSpec::new(&recipe, &Activation::Gelu, rate, 0.0, 1, "flex", "");

    let device = Device::default();
    let batches = reference.batches(&device);
    let first = batches[0].clone();
    let splits = Splits {
        train: first.clone().into(),
        valid: None,
        test_groups: TestGroups::singles(first.len()),
        test: first.into(),
        classes: 5,
        picture,
    };
    let training = device.autodiff();
    let mut network = Network::new(&spec, &splits, &training);
    let names = |name: &str| name.strip_prefix("model.").map(|name| format!("architecture.{name}"));
    let weights = StateDict::open(&reference.path).unwrap().map_names(names).unwrap();
    weights.load_into(&mut network).unwrap();

    let (mut optimizer, clock) = optimizer(&spec.training.optimizer, EPOCHS);
    let mut schedule = spec.training.schedule.clone().rates(rate, EPOCHS, BATCHES);
    let (rates, losses) = (reference.numbers("rates"), reference.numbers("losses"));
    let mut found = Vec::new();
    for (step, batch) in batches.iter().enumerate() {
        clock.begin(step / BATCHES + 1);
        let batch = Examples {
            inputs: batch.inputs.clone().to_device(&training),
            labels: batch.labels.clone().to_device(&training),
        };
        let output = TrainStep::step(&network, batch);
        found.push(output.item.loss.into_scalar::<f32>());
        let rate = schedule.step();
        assert!(
            (rate as f32 - rates[step]).abs() <= 1e-6 * rates[0],
            "rate of step {step}: {rate}"
        );
        network = optimizer.step(rate, network, output.grads);
    }
    if losses.len() > batches.len() {
        let evaluated = InferenceStep::step(&network.valid(), batches[0].clone());
        found.push(evaluated.loss.into_scalar::<f32>());
    }
    assert_eq!(found.len(), losses.len());
    for (step, (found, expected)) in found.iter().zip(&losses).enumerate() {
        let difference = (found - expected).abs() / expected;
        assert!(difference < TOLERANCE, "step {step}: {found}, PyTorch has {expected}");
    }
}

#[test]
fn classifier_trains_as_pytorchs() {
    let network = NetworkRecipe::Classifier { depth: 3, width: 8 };
    assert_trains_as_the_twin("classifier", "tweet-tagger", network, 1e-2, None);
}

#[test]
fn autoencoder_trains_as_pytorchs() {
    let network = NetworkRecipe::Autoencoder { encoder: vec![7, 5, 3] };
    assert_trains_as_the_twin("autoencoder", "mnist-autoencoder", network, 1e-2, None);
}

#[test]
fn cnn_trains_as_pytorchs_through_the_change_of_beta_1() {
    let network = NetworkRecipe::Cnn { widths: [3, 4], noise: 0.0 };
    assert_trains_as_the_twin("cnn", "cifar10-cnn", network, 1e-2, Some([3, 14, 14]));
}

#[test]
fn wide_resnet_trains_as_pytorchs_with_momentum_penalty_and_cosine() {
    let network = NetworkRecipe::WideResNet { depth: 10, width: 1, order: Order::Paper };
    assert_trains_as_the_twin("wide-resnet", "cifar100-wrn", network, 0.1, Some([3, 8, 8]));
}
