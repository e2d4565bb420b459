//! A small convolutional network with `GeluLayer`, trained by Burn's `Learner`. The example also compares its
//! gradient with difference quotients.
//!
//! ```text
//! cargo run --release --example small_cnn
//! BURN_DEVICE=vulkan cargo run --release --features vulkan --example small_cnn -- 2
//! ```
//!
//! The number is that of the epochs; `BURN_DEVICE` names one of the backends that the features enable. The example
//! takes seconds, needs no data, and checks at the end that the network has learned.

mod arguments;
mod stripes;

use arguments::{arguments, ended, number};
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Distribution, Tensor};
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{
    ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep,
};
use gelu_core::GeluLayer;
use std::process::ExitCode;
use stripes::Batch;

/// Two convolutions, a pooling and a linear layer, with the exact GELU between them.
#[derive(Module, Debug)]
struct SmallCnn {
    first: Conv2d,
    second: Conv2d,
    pool: AdaptiveAvgPool2d,
    output: Linear,
    activation: GeluLayer,
}

impl SmallCnn {
    fn new(device: &Device) -> Self {
        let conv = |channels| {
            Conv2dConfig::new(channels, [3, 3])
                .with_stride([2, 2])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
        };
        Self {
            first: conv([1, 16]).init(device),
            second: conv([16, 32]).init(device),
            pool: AdaptiveAvgPool2dConfig::new([1, 1]).init(),
            output: LinearConfig::new(32, stripes::CLASSES).init(device),
            activation: GeluLayer::new(),
        }
    }

    /// Maps `[batch, 1, height, width]` images to `[batch, 4]` logits.
    fn forward(&self, pictures: Tensor<4>) -> Tensor<2> {
        let x = self.activation.forward(self.first.forward(pictures));
        let x = self.activation.forward(self.second.forward(x));
        self.output.forward(self.pool.forward(x).flatten(1, 3))
    }

    fn classify(&self, batch: Batch) -> ClassificationOutput {
        let logits = self.forward(batch.pictures);
        let loss = CrossEntropyLossConfig::new()
            .init(&logits.device())
            .forward(logits.clone(), batch.classes.clone());
        ClassificationOutput::new(loss, logits, batch.classes)
    }
}

impl TrainStep for SmallCnn {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let output = self.classify(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for SmallCnn {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> ClassificationOutput {
        self.classify(batch)
    }
}

/// Returns the loss's slope along a random direction, by autodiff and by a difference quotient.
fn slopes(network: &SmallCnn, batch: &Batch) -> Option<(f32, f32)> {
    let loss = |pictures| network.classify(Batch { pictures, ..batch.clone() }).loss;
    let (pictures, step) = (batch.pictures.clone(), 1e-2);
    let direction = pictures.random_like(Distribution::Normal(0.0, 1.0));
    let ahead = loss(pictures.clone() + direction.clone() * step).into_scalar::<f32>();
    let behind = loss(pictures.clone() - direction.clone() * step).into_scalar::<f32>();
    let x = Tensor::<4>::from_inner(pictures.without_autodiff()).require_grad();
    let slope = x.grad(&loss(x.clone()).backward())?;
    let slope = (slope * direction.without_autodiff()).sum().into_scalar::<f32>();
    Some((slope, (ahead - behind) / (2.0 * step)))
}

fn main() -> ExitCode {
    ended(run())
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let epochs = number(arguments("small_cnn [EPOCHS]").next(), 5)?;
    let device = Device::default();
    device.seed(1);
    let autodiff = device.clone().autodiff();
    let network = SmallCnn::new(&autodiff);
    let batch =
        stripes::loader(64, 3, &autodiff).iter().next().ok_or("64 pictures are a batch")??;
    let (slope, quotient) = slopes(&network, &batch).ok_or("the pictures are tracked")?;
    println!("slope of the loss: {slope:.5} by autodiff, {quotient:.5} by differences");
    assert!((slope - quotient).abs() < 0.02 * quotient.abs() + 1e-4, "a wrong gradient");

    let folder = std::env::temp_dir().join(format!("gelu-small-cnn-{}", std::process::id()));
    let learner = Learner::new(network, AdamConfig::new().init(), 3e-3);
    let (train, test) = (stripes::loader(2048, 1, &autodiff), stripes::loader(512, 2, &device));
    let result = SupervisedTraining::new(&folder, train, test)
        .metrics((LossMetric::new(), AccuracyMetric::new()))
        .with_application_logger(None)
        .num_epochs(epochs)
        .launch(learner);
    std::fs::remove_dir_all(&folder)?;

    let test = stripes::loader(512, 2, &device).iter().next().ok_or("there are pictures")??;
    let chosen = result.model.forward(test.pictures).argmax(1).flatten::<1>(0, 1);
    let right = chosen.equal(test.classes).int().sum().into_scalar::<i64>();
    println!("{right} of 64 test pictures are recognised");
    assert!(epochs < 5 || right > 50, "the network should have learnt more than {right} of 64");
    Ok(())
}
