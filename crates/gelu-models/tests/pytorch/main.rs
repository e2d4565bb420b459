//! Compares the networks with PyTorch's. With the same weights and batch, both have to give the
//! same logits in training and in evaluation, the same loss, and the same gradient for every
//! parameter.
//!
//! `generate.py` in this directory creates the references and documents their contents.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::module::{Module, ModuleMapper, Param};
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::store::{BurnToPyTorchAdapter, ModuleSnapshot, ModuleStore, SafetensorsStore, bridge};
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData};
use gelu_core::Activation;
use gelu_models::{
    Airbench, AirbenchConfig, Autoencoder, AutoencoderConfig, BlockOrder, Cnn, CnnConfig, Gpt,
    GptConfig, GptMlp, GptNorm, Mlp, MlpConfig, PatchWhitening, StateDict, WideResNet,
    WideResNetConfig,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The largest allowed difference, relative to the largest entry of the tensor. An entry that is a
/// sum of cancelling terms is only as exact as the terms, and those are as large as the tensor's
/// other entries.
const TOLERANCE: f32 = 1e-4;

/// The only gradient that is 0: the last batch norm of the paper's order subtracts whatever the
/// batch norm before it adds to a channel.
const CANCELLED: &str = "gradient.groups.2.1.norms.0.bias";
/// The same gradient in the network of 40 layers.
const CANCELLED_AT_FULL_SIZE: &str = "gradient.groups.2.5.norms.0.bias";
/// Gradients below this size count as 0. The entries of these networks' gradients are around 0.01.
const ZERO: f32 = 1e-7;

/// One file of references.
struct Reference {
    path: PathBuf,
    store: SafetensorsStore,
    /// The largest allowed difference of a gradient.
    tolerance: f32,
    /// The size below which the entries of a tensor prove nothing.
    least: f32,
    /// The gradient that is 0.
    cancelled: &'static str,
    /// The largest difference so far.
    worst: f32,
}

impl Reference {
    fn open(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.safetensors"));
        let store = SafetensorsStore::from_file(&path);
        let (tolerance, least, cancelled) = (TOLERANCE, 1e4 * ZERO, CANCELLED);
        Self { path, store, tolerance, least, cancelled, worst: 0.0 }
    }

    fn weights(&self) -> StateDict {
        let model = |name: &str| name.strip_prefix("model.").map(str::to_owned);
        StateDict::open(&self.path).unwrap().map_names(model).unwrap()
    }

    fn data(&mut self, name: &str) -> TensorData {
        let tensor = self.store.get_tensor(name).unwrap();
        bridge::to_data(tensor.unwrap_or_else(|| panic!("no {name} in the file"))).unwrap()
    }

    fn input<const D: usize>(&mut self, device: &Device) -> Tensor<D> {
        Tensor::from_data(self.data("input"), device)
    }

    fn names_below(&mut self, prefix: &str) -> BTreeSet<String> {
        let names = self.store.keys().unwrap();
        names.iter().filter_map(|name| name.strip_prefix(prefix).map(str::to_owned)).collect()
    }

    /// Asserts that `found` is close to PyTorch's tensor of this name.
    fn assert_close(&mut self, name: &str, found: TensorData) {
        let expected = self.data(name);
        assert_eq!(found.shape(), expected.shape(), "shape of {name}");
        let expected = expected.try_into_vec::<f32>().unwrap();
        let found = found.try_into_vec::<f32>().unwrap();
        let largest = expected.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if name == self.cancelled && largest < ZERO {
            assert!(found.iter().all(|value| value.abs() < ZERO), "{name} is not 0: {found:?}");
            return;
        }
        assert!(
            largest > self.least,
            "{name} is next to 0 in {}: it proves nothing",
            self.path.display()
        );
        let tolerance = if name.starts_with("gradient.") { self.tolerance } else { TOLERANCE };
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let difference = (found - expected).abs() / largest;
            self.worst = self.worst.max(difference);
            assert!(
                difference <= tolerance,
                "{}, {name}, entry {index}: {found}, PyTorch has {expected} (off by {difference:e} \
                 of the largest entry, {largest})",
                self.path.display()
            );
        }
    }
}

/// Replaces each parameter by its gradient, so that the gradients can be collected by name.
struct GradientsAsParameters(Gradients);

impl ModuleMapper for GradientsAsParameters {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        // A running mean has no gradient and stays unchanged.
        let gradient = match tensor.grad(&self.0) {
            Some(gradient) => Tensor::from_inner(gradient),
            None => tensor,
        };
        Param::from_mapped_value(id, gradient, mapper)
    }
}

fn small_twins() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pytorch")
}

/// Compares with a small twin.
fn compare<const D: usize, M: Module>(
    file: &str,
    model: impl FnOnce(&Device) -> M,
    forward: impl Fn(&M, Tensor<D>) -> Tensor<2>,
) {
    compare_with(Reference::open(&small_twins(), file), model, forward);
}

/// Loads the weights, runs the batch, compares everything, and returns the largest difference.
fn compare_with<const D: usize, M: Module>(
    mut reference: Reference,
    model: impl FnOnce(&Device) -> M,
    forward: impl Fn(&M, Tensor<D>) -> Tensor<2>,
) -> f32 {
    let plain = Device::default();
    let training = plain.clone().autodiff();
    let mut model = model(&training);
    reference.weights().load_into(&mut model).unwrap();

    let output = forward(&model.valid(), reference.input(&plain));
    reference.assert_close("eval.logits", output.into_data());

    let input = reference.input::<D>(&training);
    let output = forward(&model, input.clone());
    reference.assert_close("train.logits", output.clone().into_data());

    let loss = if reference.names_below("target").is_empty() {
        let target = input.reshape(output.dims());
        MseLoss::new().forward(output, target, Reduction::Mean)
    } else {
        let target = Tensor::<1, Int>::from_data(reference.data("target"), &training);
        CrossEntropyLossConfig::new().init(&training).forward(output, target)
    };
    reference.assert_close("loss", loss.clone().into_data());

    let gradients = model.map(&mut GradientsAsParameters(loss.backward()));
    let mut compared = BTreeSet::new();
    for tensor in gradients.collect(None, Some(Box::new(BurnToPyTorchAdapter)), true) {
        // Untrained tensors have no gradient.
        if tensor.name.contains("running_") || tensor.name.starts_with("whitening.") {
            continue;
        }
        let gradient = bridge::to_data(&tensor).unwrap();
        reference.assert_close(&format!("gradient.{}", tensor.name), gradient);
        compared.insert(tensor.name);
    }
    let file = reference.path.display().to_string();
    assert_eq!(compared, reference.names_below("gradient."), "gradients compared in {file}");
    reference.worst
}

fn named(activation: &str) -> Activation {
    activation.parse().unwrap()
}

#[test]
fn mlp_is_pytorchs() {
    for name in ["gelu", "gelu-tanh", "relu", "elu", "silu"] {
        let config = MlpConfig::new(6, 5).with_depth(3).with_width(8).with_activation(named(name));
        compare(&format!("mlp-{name}"), |device| config.init(device), Mlp::forward);
    }
}

#[test]
fn tagger_and_frame_classifier_are_pytorchs() {
    for name in ["gelu", "silu"] {
        for (file, preset) in
            [("tagger", MlpConfig::tagger(2)), ("frame", MlpConfig::frame_classifier())]
        {
            let config = preset.with_width(8).with_dropout(0.0).with_activation(named(name));
            compare(&format!("{file}-{name}"), |device| config.init(device), Mlp::forward);
        }
    }
}

#[test]
fn autoencoder_is_pytorchs() {
    for name in ["gelu", "elu"] {
        let config =
            AutoencoderConfig::new(9).with_encoder(vec![7, 5, 3]).with_activation(named(name));
        compare(&format!("autoencoder-{name}"), |device| config.init(device), Autoencoder::forward);
    }
}

#[test]
fn cnn_is_pytorchs() {
    for name in ["gelu", "gelu-tanh", "relu", "elu"] {
        let config = CnnConfig::new()
            .with_classes(5)
            .with_widths([3, 4])
            .with_noise(0.0)
            .with_dropout(0.0)
            .with_activation(named(name));
        compare(&format!("cnn-{name}"), |device| config.init(device), Cnn::forward);
    }
}

#[test]
fn gpt_is_pytorchs_with_every_kind_of_mlp() {
    let plain = |name: &str| (format!("gpt-{name}"), GptNorm::Layer, GptMlp::Plain(named(name)));
    let gated =
        |name: &str| (format!("gated-gpt-{name}"), GptNorm::Rms, GptMlp::Gated(named(name)));
    let normed = ("normed-gpt".to_owned(), GptNorm::Layer, GptMlp::PolyNorm);
    for (file, norm, mlp) in [plain("gelu"), plain("relu"), gated("gelu"), gated("silu"), normed] {
        let config = GptConfig::new(7).with_context(6).with_layers(2).with_width(8);
        let config = config.with_heads(2).with_mlp(mlp).with_norm(norm);
        let forward = |model: &Gpt, tokens: Tensor<2>| {
            let logits: Tensor<3> = model.forward(tokens.int());
            logits.flatten(0, 1)
        };
        compare(&file, |device| config.init(device), forward);
    }
}

#[test]
fn wide_resnet_is_pytorchs_in_both_orders() {
    for (file, order) in
        [("wrn-paper", BlockOrder::Paper), ("wrn-original", BlockOrder::PreActivation)]
    {
        for name in ["gelu", "gelu-tanh", "relu", "elu"] {
            let config = WideResNetConfig::new(5)
                .with_depth(16)
                .with_width(1)
                .with_stem(3)
                .with_dropout(0.0)
                .with_order(order)
                .with_activation(named(name));
            compare(&format!("{file}-{name}"), |device| config.init(device), WideResNet::forward);
        }
    }
}

#[test]
fn airbench_is_pytorchs() {
    for name in ["gelu", "relu"] {
        let config = AirbenchConfig::new().with_channels(2).with_classes(5);
        let config = config.with_widths([3, 4, 5]).with_activation(named(name));
        let init = |device: &Device| config.init(PatchWhitening::identity(2, device), device);
        compare(&format!("airbench-{name}"), init, Airbench::forward);
    }
}

/// This test needs real images, which are not in the repository; `generate.py` documents how to
/// create the files.
#[test]
fn full_size_networks_are_pytorchs_on_real_pictures() {
    let Some(folder) = std::env::var_os("GELU_FULL_SIZE").map(PathBuf::from) else {
        println!("SKIPPED: GELU_FULL_SIZE does not name a folder of references");
        return;
    };
    // Where rounding decides which of two nearly equal entries is a maximum, f32 results differ
    // widely.
    let open = |file: &str| {
        let mut reference = Reference::open(&folder, file);
        let pytorchs = reference.data("single").try_into_vec::<f32>().unwrap()[0];
        println!("{file}: PyTorch's f32 is off by at most {pytorchs:e}");
        let tolerance = TOLERANCE.max(2.0 * pytorchs);
        Reference { tolerance, least: 1e3 * ZERO, cancelled: CANCELLED_AT_FULL_SIZE, ..reference }
    };
    let say = |file: &str, worst: f32| println!("{file}: this is off by at most {worst:e}");
    let config = CnnConfig::new().with_noise(0.0).with_dropout(0.0);
    say("cnn", compare_with(open("cnn"), |device| config.init(device), Cnn::forward));
    for (file, order) in
        [("wrn-paper", BlockOrder::Paper), ("wrn-original", BlockOrder::PreActivation)]
    {
        let config = WideResNetConfig::new(10).with_dropout(0.0).with_order(order);
        let init = |device: &Device| config.init(device);
        say(file, compare_with(open(file), init, WideResNet::forward));
    }
}

#[test]
#[should_panic(expected = "PyTorch has")]
fn another_activation_fails() {
    let config = MlpConfig::new(6, 5).with_depth(3).with_width(8);
    let wrong = config.with_activation(Activation::GeluTanh);
    compare("mlp-gelu", |device| wrong.init(device), Mlp::forward);
}

#[test]
fn every_reference_is_compared() {
    let entries = std::fs::read_dir(small_twins()).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|e| e == "safetensors"));
    assert_eq!(files.count(), 5 + 2 * 2 + 2 + 4 + 2 * 4 + 5 + 2);
}
