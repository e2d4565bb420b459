//! A model of one's own with `GeluLayer`, trained by Burn's `Learner` on the built-in digits.
//!
//! ```text
//! cargo run --release -p examples --example own_model
//! ```
//!
//! Learns in seconds, needs no data, and checks at the end that it has learnt. Runs on whichever
//! backend the features choose: `--no-default-features --features vulkan`, for example.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Tensor};
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{
    ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep,
};
use gelu_core::GeluLayer;
use gelu_experiments::data::{BatchLoader, Examples, Order, digits};
use gelu_experiments::recipe::Pixels;
use std::sync::Arc;

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
            pool: AdaptiveAvgPool2dConfig::new([4, 4]).init(),
            output: LinearConfig::new(32 * 16, digits::CLASSES).init(device),
            activation: GeluLayer::new(),
        }
    }

    /// `[batch, 784]` pixels to `[batch, 10]` logits.
    fn forward(&self, pixels: Tensor<2>) -> Tensor<2> {
        let batch = pixels.dims()[0];
        let x = pixels.reshape([batch, 1, digits::SIDE, digits::SIDE]);
        let x = self.activation.forward(self.first.forward(x));
        let x = self.activation.forward(self.second.forward(x));
        self.output.forward(self.pool.forward(x).flatten(1, 3))
    }

    fn classify(&self, batch: Examples) -> ClassificationOutput {
        let logits = self.forward(batch.inputs);
        let loss = CrossEntropyLossConfig::new()
            .init(&logits.device())
            .forward(logits.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, logits, batch.labels)
    }
}

impl TrainStep for SmallCnn {
    type Input = Examples;
    type Output = ClassificationOutput;

    fn step(&self, batch: Examples) -> TrainOutput<ClassificationOutput> {
        let output = self.classify(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for SmallCnn {
    type Input = Examples;
    type Output = ClassificationOutput;

    fn step(&self, batch: Examples) -> ClassificationOutput {
        self.classify(batch)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default();
    device.seed(1);
    let data = digits::generate(2_000, 500);
    let train = data.train.to_examples(Pixels::ZeroToOne, &device);
    let test = data.test.to_examples(Pixels::ZeroToOne, &device);
    let train_loader = Arc::new(BatchLoader::new(train, 64, Order::shuffled(1, 1)));
    let test_loader = Arc::new(BatchLoader::new(test.clone(), 500, Order::Sequential));

    let folder = std::env::temp_dir().join(format!("gelu-own-model-{}", std::process::id()));
    let learner = Learner::new(SmallCnn::new(&device).train(), AdamConfig::new().init(), 3e-3);
    let result = SupervisedTraining::new(&folder, train_loader, test_loader)
        .metrics((LossMetric::new(), AccuracyMetric::new()))
        .with_application_logger(None)
        .num_epochs(6)
        .launch(learner);
    std::fs::remove_dir_all(&folder)?;

    let logits = result.model.forward(test.inputs);
    let chosen = logits.argmax(1).reshape([500]);
    let right = chosen.equal(test.labels).int().sum().into_scalar::<i64>();
    println!("{right} of 500 test digits are recognised");
    assert!(right > 350, "the model should have learnt more than {right} of 500");
    Ok(())
}
