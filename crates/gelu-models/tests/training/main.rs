//! Training takes the same course on every backend: the losses of each step are those on Flex, which
//! other tests compare with PyTorch. The tests run on the default device, which `BURN_DEVICE` chooses
//! among the backends that are compiled in:
//!
//! ```text
//! BURN_DEVICE=wgpu cargo test --release -p gelu-models --features wgpu --test training
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod networks;

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::{Device, Int, Tensor, TensorData};
use gelu_core::{Activation, GeluLayer, HiddenLayer, HiddenLayerConfig};
use gelu_models::MlpConfig;

const CLASSES: usize = 3;
const STEPS: usize = 100;

/// Returns inputs of this shape and their classes, the same on every device.
fn batch<const D: usize>(shape: [usize; D], device: &Device) -> (Tensor<D>, Tensor<1, Int>) {
    let (count, size) = (shape[0], shape[1..].iter().product::<usize>());
    let class = |example: usize| example % CLASSES;
    let values: Vec<f32> = (0..count * size)
        .map(|index| {
            let (example, place) = (index / size, index % size);
            let signal = ((class(example) + 1) as f32 * 0.9 * place as f32).sin();
            signal + 0.5 * ((index * 7919 % 1009) as f32 * 0.37).cos()
        })
        .collect();
    let classes: Vec<i64> = (0..count).map(|example| class(example) as i64).collect();
    (
        Tensor::from_data(TensorData::new(values, shape), device),
        Tensor::from_data(TensorData::new(classes, [count]), device),
    )
}

/// Returns the losses of every step of stochastic gradient descent on one batch.
fn course<M: Module, const D: usize>(
    mut model: M,
    forward: fn(&M, Tensor<D>) -> Tensor<2>,
    shape: [usize; D],
    device: &Device,
) -> Vec<f64> {
    let (inputs, classes) = batch(shape, device);
    let cross_entropy = CrossEntropyLossConfig::new().init(device);
    let mut optimizer = SgdConfig::new().init();
    let steps = (0..STEPS).map(|_| {
        let loss = cross_entropy.forward(forward(&model, inputs.clone()), classes.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(0.1, model.clone(), gradients);
        loss.into_scalar::<f64>()
    });
    steps.collect()
}

/// Trains from the same weights on Flex and on the default device, and compares.
fn assert_trains_as_on_flex<M: Module, const D: usize>(
    init: fn(&Device) -> M,
    forward: fn(&M, Tensor<D>) -> Tensor<2>,
    shape: [usize; D],
) {
    let (flex, device) = (Device::flex().autodiff(), Device::default().autodiff());
    flex.seed(1);
    let model = init(&flex);
    let there = init(&device).load_record(model.clone().into_record());
    let expected = course(model, forward, shape, &flex);
    let losses = course(there, forward, shape, &device);
    println!("{device:?}: {:.5} to {:.5}", losses[0], losses[STEPS - 1]);
    // On CUDA, Burn multiplies in TF32, with ten bits after the binary point. We measured differences
    // of up to 1.2e-3.
    let allowed = if format!("{device:?}").contains("Cuda") { 5e-3 } else { 1e-3 };
    for (step, (loss, expected)) in losses.iter().zip(&expected).enumerate() {
        let off = (loss - expected).abs() / expected;
        assert!(off < allowed, "step {step}: loss {loss} on {device:?}, {expected} on Flex");
    }
    let (first, last) = (expected[0], expected[STEPS - 1]);
    assert!(last < 0.7 * first, "nothing was learnt: {first} before, {last} after");
}

#[test]
fn hidden_layers_train() {
    #[derive(Module, Debug)]
    struct Stack {
        layers: Vec<HiddenLayer>,
        output: Linear,
    }
    assert_trains_as_on_flex(
        |device| Stack {
            layers: [Activation::Gelu, Activation::Silu]
                .map(|activation| {
                    HiddenLayerConfig::new(12, 12).with_activation(activation).init(device)
                })
                .into(),
            output: LinearConfig::new(12, CLASSES).init(device),
        },
        |stack, x: Tensor<2>| {
            stack.output.forward(stack.layers.iter().fold(x, |x, layer| layer.forward(x)))
        },
        [24, 12],
    );
}

#[test]
fn multi_layer_perceptron_trains() {
    assert_trains_as_on_flex(
        |device| MlpConfig::new(10, CLASSES).with_depth(3).with_width(16).init(device),
        |network, x: Tensor<2>| network.forward(x),
        [24, 10],
    );
}

#[test]
fn small_convolutional_network_trains() {
    #[derive(Module, Debug)]
    struct SmallCnn {
        first: Conv2d,
        second: Conv2d,
        output: Linear,
        activation: GeluLayer,
    }
    assert_trains_as_on_flex(
        |device| {
            let conv = |channels| {
                Conv2dConfig::new(channels, [3, 3])
                    .with_stride([2, 2])
                    .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                    .init(device)
            };
            SmallCnn {
                first: conv([1, 4]),
                second: conv([4, 8]),
                output: LinearConfig::new(8 * 2 * 2, CLASSES).init(device),
                activation: GeluLayer::new(),
            }
        },
        |network, x: Tensor<4>| {
            let x = network.activation.forward(network.first.forward(x));
            let x = network.activation.forward(network.second.forward(x));
            network.output.forward(x.flatten(1, 3))
        },
        [12, 1, 8, 8],
    );
}
