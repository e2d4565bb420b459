//! Tests small versions of every network of the crate. On Flex, the gradient is compared with the change of the
//! loss along the gradient. On the default device, the first losses are compared with those on Flex.

use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::{Device, Tensor};
use gelu_core::Activation;
use gelu_models::{
    AirbenchConfig, AutoencoderConfig, CnnConfig, Gpt, GptConfig, GptMlp, GptNorm, MlpConfig,
    PatchWhitening, WideResNetConfig,
};

use super::{CLASSES, batch};

const STEPS: usize = 6;
/// The allowed difference of a loss, relative to the loss. On llvmpipe, all five printed digits of every loss
/// are those on Flex.
const ALLOWED: f64 = 5e-4;

/// Computes the square of a gradient, summed over all parameters.
struct Square<'a> {
    gradients: &'a GradientsParams,
    sum: f64,
}

impl ModuleVisitor for Square<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            self.sum += gradient.powf_scalar(2.0).sum().into_scalar::<f64>();
        }
    }
}

/// Returns the model after a step of `rate` against the gradient.
fn stepped<M: Module>(
    model: &M,
    rate: f64,
    loss: fn(&M, &Device) -> Tensor<1>,
    device: &Device,
) -> M {
    let gradients = GradientsParams::from_grads(loss(model, device).backward(), model);
    SgdConfig::new().init().step(rate, model.clone(), gradients)
}

/// Asserts that the loss falls by |g|² per unit of the rate along its gradient g. Returns |g|².
fn assert_gradient_is_the_difference<M: Module>(
    model: &M,
    loss: fn(&M, &Device) -> Tensor<1>,
    device: &Device,
) -> f64 {
    let gradients = GradientsParams::from_grads(loss(model, device).backward(), model);
    let mut square = Square { gradients: &gradients, sum: 0.0 };
    model.visit(&mut square);
    // With this rate the loss changes by about one hundredth: far more than the rounding of f32, and nearly
    // linearly.
    let rate = 5e-3 / square.sum;
    let [after, before] = [rate, -rate]
        .map(|rate| loss(&stepped(model, rate, loss, device), device).into_scalar::<f64>());
    let slope = (before - after) / (2.0 * rate);
    let off = (slope / square.sum - 1.0).abs();
    println!("the loss falls by {slope:.5} where the gradient says {:.5}", square.sum);
    assert!(off < 0.02, "the loss falls by {slope}, and |gradient|² is {}", square.sum);
    square.sum
}

fn losses<M: Module>(
    mut model: M,
    rate: f64,
    loss: fn(&M, &Device) -> Tensor<1>,
    device: &Device,
) -> Vec<f64> {
    let steps = (0..STEPS).map(|_| {
        let before = loss(&model, device).into_scalar::<f64>();
        model = stepped(&model, rate, loss, device);
        before
    });
    steps.collect()
}

fn assert_trains<M: Module>(init: fn(&Device) -> M, loss: fn(&M, &Device) -> Tensor<1>) {
    let (flex, device) = (Device::flex().autodiff(), Device::default().autodiff());
    flex.seed(1);
    let model = init(&flex);
    let there = init(&device).load_record(model.clone().into_record());
    let square = assert_gradient_is_the_difference(&model, loss, &flex);
    // The first step is limited to a tenth of the loss, because a network as steep as this would amplify
    // rounding errors.
    let rate = (0.1 * loss(&model, &flex).into_scalar::<f64>() / square).min(0.1);
    let expected = losses(model, rate, loss, &flex);
    println!("Flex: {expected:.5?}");
    assert!(expected[STEPS - 1] < expected[0], "nothing was learnt: {expected:?}");
    if format!("{flex:?}") == format!("{device:?}") {
        println!("SKIPPED: the default device is Flex itself, BURN_DEVICE names no other");
        return;
    }
    let losses = losses(there, rate, loss, &device);
    println!("{device:?}: {losses:.5?}");
    for (step, (loss, expected)) in losses.iter().zip(&expected).enumerate() {
        let off = (loss - expected).abs() / expected;
        assert!(off < ALLOWED, "step {step}: loss {loss} on {device:?}, {expected} on Flex");
    }
}

/// Returns the cross-entropy of classes, for inputs of this shape.
fn cross_entropy<const D: usize>(
    shape: [usize; D],
    device: &Device,
    forward: impl FnOnce(Tensor<D>) -> Tensor<2>,
) -> Tensor<1> {
    let (inputs, classes) = batch(shape, device);
    CrossEntropyLossConfig::new().init(device).forward(forward(inputs), classes)
}

#[test]
fn tagger_trains() {
    assert_trains(
        |device| {
            let tagger = MlpConfig { d_output: CLASSES, ..MlpConfig::tagger(4) };
            tagger.with_width(16).with_dropout(0.0).init(device)
        },
        |model, device| cross_entropy([12, 12], device, |x| model.forward(x)),
    );
}

#[test]
fn frame_classifier_trains() {
    assert_trains(
        |device| {
            let frames =
                MlpConfig { d_input: 20, d_output: CLASSES, ..MlpConfig::frame_classifier() };
            frames.with_width(16).with_dropout(0.0).init(device)
        },
        |model, device| cross_entropy([12, 20], device, |x| model.forward(x)),
    );
}

#[test]
fn autoencoder_trains() {
    assert_trains(
        |device| AutoencoderConfig::new(12).with_encoder(vec![10, 8, 6, 3]).init(device),
        |model, device| {
            let (x, _) = batch([12, 12], device);
            MseLoss::new().forward(model.forward(x.clone()), x, Reduction::Mean)
        },
    );
}

#[test]
fn nine_layer_convolutional_network_trains() {
    assert_trains(
        |device| {
            let narrow = CnnConfig::new().with_classes(CLASSES).with_widths([4, 6]);
            narrow.with_noise(0.0).with_dropout(0.0).init(device)
        },
        |model, device| cross_entropy([6, 3, 12, 12], device, |x| model.forward(x)),
    );
}

#[test]
fn airbench_trains() {
    assert_trains(
        |device| {
            let small = AirbenchConfig::new().with_classes(CLASSES).with_widths([4, 5, 6]);
            small.with_scale(1.0).init(PatchWhitening::identity(3, device), device)
        },
        |model, device| cross_entropy([6, 3, 10, 10], device, |x| model.forward(x)),
    );
}

#[test]
fn wide_residual_network_trains() {
    assert_trains(
        |device| {
            let small = WideResNetConfig::new(CLASSES).with_depth(10).with_width(1).with_stem(4);
            small.with_dropout(0.0).init(device)
        },
        |model, device| cross_entropy([6, 3, 8, 8], device, |x| model.forward(x)),
    );
}

fn transformer(mlp: GptMlp, device: &Device) -> Gpt {
    let small = GptConfig::new(CLASSES).with_context(6).with_layers(1).with_heads(2);
    small.with_width(16).with_mlp(mlp).with_norm(GptNorm::Rms).init(device)
}

/// Returns the cross-entropy of the next token, in a sequence that repeats.
fn next_token(model: &Gpt, device: &Device) -> Tensor<1> {
    let (_, tokens) = batch([24, 1], device);
    let logits = model.forward(tokens.clone().reshape([4, 6]));
    let next = (tokens + 1).remainder_scalar(CLASSES as i64);
    CrossEntropyLossConfig::new().init(device).forward(logits.reshape([24, CLASSES]), next)
}

#[test]
fn transformer_trains() {
    let swiglu = |device: &Device| transformer(GptMlp::Gated(Activation::Silu), device);
    assert_trains(swiglu, next_token);
}

#[test]
fn transformer_of_poly_norms_trains() {
    assert_trains(|device| transformer(GptMlp::PolyNorm, device), next_token);
}
