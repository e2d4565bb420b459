//! A transformer whose encoder is `gelu_core::Encoder`, created from Burn's own encoder in one line. Bias, GELU and
//! dropout between two matrix products are a single pass over memory, forward and backward. The example trains it
//! with its own loop, and at the end compares its gradient with difference quotients.
//!
//! ```text
//! cargo run --release --example transformer
//! BURN_DEVICE=vulkan cargo run --release --features vulkan --example transformer -- 5
//! ```
//!
//! The number is that of the training steps; `BURN_DEVICE` names one of the backends that the features enable. Burn's
//! own `TransformerEncoder` only takes the activations of its closed enum `ActivationConfig`; this one takes any
//! activation. It learns which of four symbols is the most frequent in a sequence.

mod arguments;

use arguments::{arguments, ended, number};
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::transformer::TransformerEncoderConfig;
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Distribution, Int, Tensor, TensorData};
use gelu_core::{Activation, Encoder};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::process::ExitCode;

const SYMBOLS: usize = 4;
const LENGTH: usize = 13;
const D_MODEL: usize = 32;

/// Two encoder layers between an embedding and a classifier.
#[derive(Module, Debug)]
struct Classifier {
    embedding: Embedding,
    encoder: Encoder,
    norm: LayerNorm,
    output: Linear,
}

impl Classifier {
    fn new(device: &Device) -> Self {
        let burns = TransformerEncoderConfig::new(D_MODEL, 4 * D_MODEL, 4, 2)
            .with_norm_first(true)
            .with_dropout(0.05);
        Self {
            embedding: EmbeddingConfig::new(SYMBOLS, D_MODEL).init(device),
            encoder: Encoder::from(burns.init(device)).with_activation(&Activation::Gelu),
            norm: LayerNormConfig::new(D_MODEL).init(device),
            output: LinearConfig::new(D_MODEL, SYMBOLS).init(device),
        }
    }

    /// Maps `[batch, sequence, d_model]` embedded symbols to `[batch, symbols]` logits.
    fn classify(&self, x: Tensor<3>) -> Tensor<2> {
        let x = self.encoder.forward(x, None, None);
        let mean: Tensor<2> = self.norm.forward(x).mean_dim(1).squeeze_dim(1);
        self.output.forward(mean)
    }

    /// Maps `[batch, sequence]` symbols to `[batch, symbols]` logits.
    fn forward(&self, symbols: Tensor<2, Int>) -> Tensor<2> {
        self.classify(self.embedding.forward(symbols))
    }
}

/// Returns random sequences and their most frequent symbols.
fn sequences(
    count: usize,
    rng: &mut ChaCha8Rng,
    device: &Device,
) -> (Tensor<2, Int>, Tensor<1, Int>) {
    let (mut symbols, mut most) = (Vec::new(), Vec::new());
    while most.len() < count {
        let sequence: Vec<usize> = (0..LENGTH).map(|_| rng.random_range(0..SYMBOLS)).collect();
        let times = |symbol| sequence.iter().filter(|&&s| s == symbol).count();
        let mut ranked: Vec<usize> = (0..SYMBOLS).collect();
        ranked.sort_by_key(|&symbol| std::cmp::Reverse(times(symbol)));
        if times(ranked[0]) > times(ranked[1]) {
            most.push(ranked[0] as i64);
            symbols.extend(sequence.into_iter().map(|symbol| symbol as i64));
        }
    }
    let symbols = TensorData::new(symbols, [count, LENGTH]);
    let most = TensorData::new(most, [count]);
    (Tensor::from_data(symbols, device), Tensor::from_data(most, device))
}

/// Returns the loss's slope along a random direction, by autodiff and by a difference quotient. The model is frozen,
/// because dropout would make it a different function in each call.
fn slopes(model: Classifier, device: &Device) -> Option<(f32, f32)> {
    let model = model.freeze();
    let distribution = Distribution::Normal(0.0, 1.0);
    let at = Tensor::<3>::random([16, LENGTH, D_MODEL], distribution, device);
    let (direction, step) = (at.random_like(distribution), 1e-2);
    let loss = |x: Tensor<3>| model.classify(x).powf_scalar(2.0).sum();
    let ahead = loss(at.clone() + direction.clone() * step).into_scalar::<f32>();
    let behind = loss(at.clone() - direction.clone() * step).into_scalar::<f32>();
    let x = at.require_grad();
    let slope = x.grad(&loss(x.clone()).backward())?;
    let slope = (slope * direction.without_autodiff()).sum().into_scalar::<f32>();
    Some((slope, (ahead - behind) / (2.0 * step)))
}

fn main() -> ExitCode {
    ended(run())
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let steps = number(arguments("transformer [STEPS]").next(), 150)?;
    let device = Device::default();
    let autodiff = device.clone().autodiff();
    device.seed(1);
    let mut model = Classifier::new(&autodiff);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut optimizer = AdamConfig::new().init();
    let cross_entropy = CrossEntropyLossConfig::new().init(&autodiff);
    for step in 0..steps {
        let (symbols, most) = sequences(64, &mut rng, &autodiff);
        let loss = cross_entropy.forward(model.forward(symbols), most);
        if step % 25 == 0 {
            println!("step {step:>3}: loss {:.3}", loss.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(3e-3, model, gradients);
    }

    let (symbols, most) = sequences(256, &mut rng, &device);
    let chosen = model.valid().forward(symbols).argmax(1).flatten::<1>(0, 1);
    let right = chosen.equal(most).int().sum().into_scalar::<i64>();
    println!("right for {right} of 256 new sequences");
    assert!(steps < 150 || right > 200, "it should have learnt more than {right} of 256");

    let (slope, quotient) = slopes(model, &autodiff).ok_or("the input is tracked")?;
    println!("slope of the loss: {slope:.4} by autodiff, {quotient:.4} by differences");
    assert!((slope - quotient).abs() < 0.02 * quotient.abs() + 1e-2, "a wrong gradient");
    Ok(())
}
