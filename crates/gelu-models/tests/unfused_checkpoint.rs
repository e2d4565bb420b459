//! Tests a checkpoint in the format of Hugging Face's models, in a safetensors file: gate and value
//! are separate layers, linear layers are separate from the activation that follows, and weights
//! have PyTorch's layout.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::store::{BurnToPyTorchAdapter, ModuleSnapshot, PyTorchToBurnAdapter, SafetensorsStore};
use burn::tensor::{Device, Int, Tensor, Tolerance};
use gelu_core::{
    Activation, GatedFeedForward, GatedFeedForwardConfig, HiddenLayer, HiddenLayerConfig, Unfused,
    silu,
};

/// The layers of `LlamaMLP`.
#[derive(Module, Debug)]
struct Mlp {
    gate_proj: Linear,
    up_proj: Linear,
    down_proj: Linear,
}

#[derive(Module, Debug)]
struct Layer<B: Module> {
    mlp: B,
}

#[derive(Module, Debug)]
struct Model<B: Module, H: Module> {
    layers: Vec<Layer<B>>,
    head: H,
}

type Theirs = Model<Mlp, Linear>;
type Ours = Model<GatedFeedForward, HiddenLayer>;

fn linear(inputs: usize, outputs: usize, device: &Device) -> Linear {
    LinearConfig::new(inputs, outputs).with_bias(false).init(device)
}

fn layers<B: Module>(block: impl Fn() -> B) -> Vec<Layer<B>> {
    (0..3).map(|_| Layer { mlp: block() }).collect()
}

fn theirs(device: &Device) -> Theirs {
    let mlp = || Mlp {
        gate_proj: linear(4, 6, device),
        up_proj: linear(4, 6, device),
        down_proj: linear(6, 4, device),
    };
    Model { layers: layers(mlp), head: linear(4, 7, device) }
}

fn ours(device: &Device) -> Ours {
    let head = HiddenLayerConfig::new(4, 7).with_activation(Activation::Tanh).with_bias(false);
    Model {
        layers: layers(|| GatedFeedForwardConfig::new(4, 6).init(device)),
        head: head.init(device),
    }
}

impl Theirs {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let x = self.layers.iter().fold(x, |x, Layer { mlp }| {
            let hidden = silu(mlp.gate_proj.forward(x.clone())) * mlp.up_proj.forward(x);
            mlp.down_proj.forward(hidden)
        });
        Activation::Tanh.forward(self.head.forward(x))
    }
}

impl Ours {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.head.forward(self.layers.iter().fold(x, |x, Layer { mlp }| mlp.forward(x)))
    }
}

#[test]
fn a_file_of_pytorchs_loads_into_a_nested_model_and_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (device, training) = (Device::default(), Device::default().autodiff());
    let input = Tensor::<1, Int>::arange(0..12, &device).float().reshape([3, 4]) * 0.3 - 1.5;
    let near = Tolerance::absolute(1e-6);

    let original = theirs(&device);
    let expected = original.forward(input.clone()).into_data();
    let mut store =
        SafetensorsStore::from_file(file("theirs")).with_to_adapter(BurnToPyTorchAdapter);
    original.save_into(&mut store).unwrap();

    for device in [&device, &training] {
        let mut store =
            SafetensorsStore::from_file(file("theirs")).with_from_adapter(PyTorchToBurnAdapter);
        let mut model = Unfused::of(ours(device));
        let loaded = model.load_from(&mut store).unwrap();
        assert_eq!(loaded.applied.len(), 10, "{loaded:?}");
        let model = model.into_inner();
        let found = model.forward(Tensor::from_data(input.to_data(), device)).into_data();
        found.assert_approx_eq::<f32>(&expected, near);

        let written = file(if device.is_autodiff() { "trained" } else { "ours" });
        let mut store = SafetensorsStore::from_file(&written).with_to_adapter(BurnToPyTorchAdapter);
        Unfused::of(model).save_into(&mut store).unwrap();
        let mut store =
            SafetensorsStore::from_file(&written).with_from_adapter(PyTorchToBurnAdapter);
        let mut back = theirs(&Device::default());
        back.load_from(&mut store).unwrap();
        back.forward(input.clone()).into_data().assert_approx_eq::<f32>(&expected, near);
    }
}
