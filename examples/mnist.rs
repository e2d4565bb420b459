//! MNIST with Burn's own training loop and display, and `GeluLayer` in the model.
//!
//! ```text
//! cargo run --release -p gelu-experiments -- data fetch mnist
//! cargo run --release -p examples --example mnist            # or: -- FOLDER-OF-MNIST
//! ```

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Tensor};
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{
    ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep,
};
use gelu_core::GeluLayer;
use gelu_experiments::data::{self, BatchLoader, DataSet, Examples, Order};
use gelu_experiments::recipe::Pixels;
use std::path::PathBuf;
use std::sync::Arc;

/// Two hidden layers.
#[derive(Module, Debug)]
struct Network {
    layers: Vec<Linear>,
    output: Linear,
    activation: GeluLayer,
}

impl Network {
    fn new(device: &Device) -> Self {
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Self {
            layers: vec![linear(784, 256), linear(256, 256)],
            output: linear(256, 10),
            activation: GeluLayer::new(),
        }
    }

    fn classify(&self, batch: Examples) -> ClassificationOutput {
        let layer = |x: Tensor<2>, linear: &Linear| self.activation.forward(linear.forward(x));
        let logits = self.output.forward(self.layers.iter().fold(batch.inputs, layer));
        let loss = CrossEntropyLossConfig::new()
            .init(&logits.device())
            .forward(logits.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, logits, batch.labels)
    }
}

impl TrainStep for Network {
    type Input = Examples;
    type Output = ClassificationOutput;

    fn step(&self, batch: Examples) -> TrainOutput<ClassificationOutput> {
        let output = self.classify(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for Network {
    type Input = Examples;
    type Output = ClassificationOutput;

    fn step(&self, batch: Examples) -> ClassificationOutput {
        self.classify(batch)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let DataSet::Pictures(mnist) = data::load("mnist", folder.as_deref())? else {
        unreachable!("MNIST is pictures");
    };
    let device = Device::default();
    device.seed(1);
    let train = mnist.train.to_examples(Pixels::ZeroToOne, &device);
    let test = mnist.test.to_examples(Pixels::ZeroToOne, &device);
    let train_loader = Arc::new(BatchLoader::new(train, 128, Order::shuffled(1, 1)));
    let test_loader = Arc::new(BatchLoader::new(test, 1000, Order::Sequential));
    let learner = Learner::new(Network::new(&device).train(), AdamConfig::new().init(), 1e-3);
    let result = SupervisedTraining::new("results/example-mnist", train_loader, test_loader)
        .metrics((LossMetric::new(), AccuracyMetric::new()))
        .with_default_checkpointers()
        .with_application_logger(None)
        .num_epochs(5)
        .summary()
        .launch(learner);
    result.model.into_record().save("results/example-mnist/model.bpk")?;
    println!("The network is in results/example-mnist/model.bpk");
    Ok(())
}
