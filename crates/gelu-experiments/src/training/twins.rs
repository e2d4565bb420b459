//! Compares training with PyTorch step by step: network, loss, optimiser and schedule of the recipes, on tiny
//! networks, against the losses that `tests/twins/generate.py` wrote.

use super::network::Network;
use super::optimizer::optimizer;
use super::splits::Splits;
use crate::data::{BatchInputs, Examples, Samples};
use crate::recipe::{NetworkRecipe, OptimizerRecipe, Recipe, Schedule};
use crate::runs::RunSpec;
use burn::module::Module;
use burn::optim::lr_scheduler::LrScheduler;
use burn::store::{ModuleStore, SafetensorsStore, bridge};
use burn::tensor::{DType, Device, Element, Tensor, TensorData};
use burn::train::{InferenceStep, TrainStep};
use gelu_core::Activation;
use gelu_learner::networks::TestGroups;
use gelu_models::{BlockOrder, GptNorm, StateDict};
use gelu_training::clip_by_global_norm;
use std::path::PathBuf;

const EPOCHS: usize = 4;
const BATCHES: usize = 2;
/// Largest relative difference of a loss. The references are computed in f64.
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

    /// Returns the number of classes of the classifiers' twins, or the number of tokens of the transformer's.
    fn classes(&self) -> usize {
        if self.path.ends_with("gpt.safetensors") { 7 } else { 5 }
    }

    /// Returns the batches on a device.
    fn batches(&mut self, device: &Device) -> Vec<Examples> {
        let (inputs, targets) = (self.data("inputs"), self.data("targets"));
        let (steps, batch) = (inputs.shape()[0], inputs.shape()[1]);
        let features = inputs.shape()[2..].iter().product::<usize>();
        let targets = targets.try_into_vec::<i64>().unwrap();
        let size = batch * features;
        let inputs: Vec<BatchInputs> = match inputs.dtype() == DType::F32 {
            true => rows::<f32>(inputs, size)
                .map(|data| {
                    Tensor::<2>::from_data(TensorData::new(data, [batch, features]), device)
                })
                .map(BatchInputs::Numbers)
                .collect(),
            false => rows::<i64>(inputs, size)
                .map(|data| Tensor::from_data(TensorData::new(data, [batch, features]), device))
                .map(BatchInputs::Tokens)
                .collect(),
        };
        let labels = targets.chunks(targets.len() / steps);
        let labels = labels.map(|labels| TensorData::new(labels.to_vec(), [labels.len()]));
        let batches = inputs.into_iter().zip(labels).map(|(inputs, labels)| Examples {
            inputs,
            labels: Tensor::from_data(labels, device),
            targets: None,
        });
        let batches: Vec<Examples> = batches.collect();
        assert_eq!(batches.len(), steps);
        batches
    }
}

/// Returns the numbers of some data in rows of `size`.
fn rows<T: Element>(data: TensorData, size: usize) -> impl Iterator<Item = Vec<T>> {
    let all: Vec<T> = data.try_into_vec().unwrap();
    let rows: Vec<Vec<T>> = all.chunks(size).map(<[T]>::to_vec).collect();
    rows.into_iter()
}

/// Returns the recipe of an experiment with another network.
fn small(experiment: &str, network: NetworkRecipe) -> Recipe {
    let mut recipe = Recipe::named(experiment).unwrap();
    recipe.network = network;
    recipe.training.epochs = EPOCHS;
    recipe
}

/// Trains the scaled-down network of a recipe from the twin's weights and on its batches.
#[track_caller]
fn assert_trains_as_the_twin(file: &str, recipe: &Recipe, rate: f64, picture: Option<[usize; 3]>) {
    let mut reference = Reference::open(file);
    let spec = RunSpec::new(recipe, &Activation::Gelu, rate, 0.0, 1, "flex", "");

    let device = Device::default();
    let batches = reference.batches(&device);
    // The training data come from the reference; only the sizes of these splits are used.
    let (examples, classes) = (batches[0].len(), reference.classes());
    let samples = match &batches[0].inputs {
        BatchInputs::Numbers(_) => Samples::from(batches[0].clone()),
        BatchInputs::Tokens(_) => Samples::of_text(&[0; 7], 6, &device),
    };
    let splits = Splits {
        train: samples.clone(),
        valid: None,
        test_groups: TestGroups::singles(examples),
        is_shared: true,
        test: samples,
        outside: None,
        classes,
        picture,
        names: Vec::new(),
        reader: None,
        large: None,
    };
    let training = device.autodiff();
    let mut network = Network::new(&spec, &splits, &training);
    let names = |name: &str| name.strip_prefix("model.").map(|name| format!("architecture.{name}"));
    let weights = StateDict::open(&reference.path).unwrap().map_names(names).unwrap();
    weights.load_into(&mut network).unwrap();

    let (mut optimizer, clock) = optimizer(&spec.training.optimizer, EPOCHS, &network);
    let mut schedule = spec.training.schedule.clone().scheduler(rate, EPOCHS, BATCHES);
    let (rates, losses) = (reference.numbers("rates"), reference.numbers("losses"));
    let mut found = Vec::new();
    for (step, batch) in batches.iter().enumerate() {
        clock.begin(step / BATCHES + 1);
        let batch = Examples {
            inputs: match batch.inputs.clone() {
                BatchInputs::Numbers(numbers) => numbers.to_device(&training).into(),
                BatchInputs::Tokens(tokens) => BatchInputs::Tokens(tokens.to_device(&training)),
            },
            labels: batch.labels.clone().to_device(&training),
            targets: None,
        };
        let output = TrainStep::step(&network, batch);
        found.push(output.item.loss.into_scalar::<f32>());
        let rate = schedule.step();
        assert!(
            (rate as f32 - rates[step]).abs() <= 1e-6 * rates[0],
            "rate of step {step}: {rate}"
        );
        let gradients = match spec.training.optimizer.clip_norm() {
            Some(largest) => clip_by_global_norm(output.grads, &network, largest),
            None => output.grads,
        };
        network = optimizer.step(rate, network, gradients);
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
    assert_trains_as_the_twin("classifier", &small("tweet-tagger", network), 1e-2, None);
}

#[test]
fn autoencoder_trains_as_pytorchs() {
    let network = NetworkRecipe::Autoencoder { encoder: vec![7, 5, 3] };
    assert_trains_as_the_twin("autoencoder", &small("mnist-autoencoder", network), 1e-2, None);
}

#[test]
fn cnn_trains_as_pytorchs_through_the_change_of_beta_1() {
    let network = NetworkRecipe::Cnn { widths: [3, 4], noise: 0.0 };
    assert_trains_as_the_twin("cnn", &small("cifar10-cnn", network), 1e-2, Some([3, 14, 14]));
}

#[test]
fn wide_resnet_trains_as_pytorchs_with_momentum_penalty_and_cosine() {
    let network = NetworkRecipe::WideResNet { depth: 10, width: 1, order: BlockOrder::Paper };
    assert_trains_as_the_twin("wide-resnet", &small("cifar100-wrn", network), 0.1, Some([3, 8, 8]));
}

#[test]
fn transformer_trains_as_pytorchs_with_decay_clipping_and_warm_up() {
    let (layers, heads, width, context) = (2, 2, 8, 6);
    let network = NetworkRecipe::Gpt { layers, heads, width, context, norm: GptNorm::Layer };
    let mut recipe = small("char-gpt", network);
    let Schedule::WarmupCosine { warmup, .. } = &mut recipe.training.schedule else {
        panic!("the recipe warms up");
    };
    *warmup = 3;
    let OptimizerRecipe::AdamW { clip_norm, .. } = &mut recipe.training.optimizer else {
        panic!("the recipe's weights decay");
    };
    *clip_norm = 4.0;
    assert_trains_as_the_twin("gpt", &recipe, 1e-2, None);
}
