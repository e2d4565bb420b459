//! Several activations side by side in Burn's own terminal dashboard. One run of Burn's `Learner` trains a model that
//! contains a network per activation, all on the same batches and from the same weights, with a loss and an accuracy
//! metric for each.
//!
//! ```text
//! cargo run --release --example several_activations -- 10 gelu relu elu silu
//! BURN_DEVICE=vulkan cargo run --release -p examples --features vulkan \
//!     --example several_activations
//! ```
//!
//! The number is that of the epochs, and the names are any that `Activation` knows. `BURN_DEVICE` names one of the
//! backends that the features enable. Burn shows its dashboard in a terminal and prints plain lines elsewhere.

mod arguments;
mod stripes;

use arguments::{arguments, ended, number};
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::tensor::{Device, ExecutionError, Tensor, TensorReadError};
use burn::train::metric::{
    AccuracyInput, AccuracyMetric, Adaptor, LossInput, LossMetric, Metric, MetricAttributes,
    MetricMetadata, MetricName, Numeric, NumericEntry, SerializedEntry,
};
use burn::train::{
    ClassificationOutput, InferenceStep, ItemLazy, Learner, SupervisedTraining, TrainOutput,
    TrainStep,
};
use gelu_core::{Activation, ActivationLayer, Channels};
use std::process::ExitCode;
use stripes::{Batch, SIDE};

const WIDTH: usize = 64;

/// A network with two hidden layers.
#[derive(Module, Debug)]
struct Network {
    layers: Vec<Linear>,
    activations: Vec<ActivationLayer>,
    output: Linear,
}

impl Network {
    fn new(activation: &Activation, device: &Device) -> Self {
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Self {
            layers: vec![linear(SIDE * SIDE, WIDTH), linear(WIDTH, WIDTH)],
            activations: (0..2).map(|_| activation.init(Channels::Last(WIDTH), device)).collect(),
            output: linear(WIDTH, stripes::CLASSES),
        }
    }

    fn classify(&self, batch: Batch) -> ClassificationOutput {
        let pixels = batch.pictures.flatten::<2>(1, 3);
        let layers = self.layers.iter().zip(&self.activations);
        let x = layers.fold(pixels, |x, (linear, act)| act.forward(linear.forward(x)));
        let logits = self.output.forward(x);
        let loss = CrossEntropyLossConfig::new()
            .init(&logits.device())
            .forward(logits.clone(), batch.classes.clone());
        ClassificationOutput::new(loss, logits, batch.classes)
    }
}

/// One network per activation. The model's loss is the sum of their losses. No loss depends on another network's
/// weights, so each network is trained as if it were alone.
#[derive(Module, Debug)]
struct SideBySide {
    networks: Vec<Network>,
}

impl SideBySide {
    fn classify(&self, batch: Batch) -> Outputs {
        Outputs(self.networks.iter().map(|network| network.classify(batch.clone())).collect())
    }
}

/// The outputs of the networks.
struct Outputs(Vec<ClassificationOutput>);

impl ItemLazy for Outputs {
    fn sync(self) -> Result<Self, ExecutionError> {
        self.0.into_iter().map(ItemLazy::sync).collect::<Result<_, _>>().map(Self)
    }
}

/// The input of one of Burn's metrics, for each of the networks.
struct Each<I>(Vec<I>);

impl Adaptor<Each<LossInput>> for Outputs {
    fn adapt(&self) -> Each<LossInput> {
        Each(self.0.iter().map(Adaptor::adapt).collect())
    }
}

impl Adaptor<Each<AccuracyInput>> for Outputs {
    fn adapt(&self) -> Each<AccuracyInput> {
        Each(self.0.iter().map(Adaptor::adapt).collect())
    }
}

/// One of Burn's metrics for one of the networks, with its own name.
#[derive(Clone)]
struct OfNetwork<M> {
    metric: M,
    index: usize,
    name: MetricName,
}

impl<M: Metric> OfNetwork<M> {
    fn new(metric: M, index: usize, activation: &Activation) -> Self {
        let name = MetricName::new(format!("{} {activation}", metric.name()));
        Self { metric, index, name }
    }
}

impl<M: Metric> Metric for OfNetwork<M> {
    type Input = Each<M::Input>;

    fn name(&self) -> MetricName {
        self.name.clone()
    }

    fn attributes(&self) -> MetricAttributes {
        self.metric.attributes()
    }

    fn update(
        &mut self,
        each: &Self::Input,
        metadata: &MetricMetadata,
    ) -> Result<SerializedEntry, TensorReadError> {
        self.metric.update(&each.0[self.index], metadata)
    }

    fn compute(&mut self) -> Result<SerializedEntry, TensorReadError> {
        self.metric.compute()
    }

    fn clear(&mut self) {
        self.metric.clear();
    }
}

impl<M: Numeric> Numeric for OfNetwork<M> {
    fn value(&self) -> Option<NumericEntry> {
        self.metric.value()
    }

    fn running_value(&self) -> Option<NumericEntry> {
        self.metric.running_value()
    }

    fn final_value(&self) -> NumericEntry {
        self.metric.final_value()
    }
}

impl TrainStep for SideBySide {
    type Input = Batch;
    type Output = Outputs;

    fn step(&self, batch: Batch) -> TrainOutput<Outputs> {
        let outputs = self.classify(batch);
        let losses: Vec<Tensor<1>> = outputs.0.iter().map(|output| output.loss.clone()).collect();
        TrainOutput::new(self, Tensor::cat(losses, 0).sum().backward(), outputs)
    }
}

impl InferenceStep for SideBySide {
    type Input = Batch;
    type Output = Outputs;

    fn step(&self, batch: Batch) -> Outputs {
        self.classify(batch)
    }
}

fn main() -> ExitCode {
    ended(run())
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = arguments("several_activations [EPOCHS] [ACTIVATION]...");
    let epochs = number(arguments.next(), 10)?;
    let mut names: Vec<String> = arguments.collect();
    if names.is_empty() {
        names = ["gelu", "relu", "elu"].map(String::from).into();
    }
    let activations: Vec<Activation> =
        names.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
    let device = Device::default();
    let autodiff = device.clone().autodiff();
    let networks = activations.iter().map(|activation| {
        // The same seed gives every network the same weights.
        device.seed(1);
        Network::new(activation, &autodiff)
    });
    let model = SideBySide { networks: networks.collect() };

    let (train, valid) = (stripes::loader(4096, 1, &autodiff), stripes::loader(1024, 2, &device));
    let folder = std::env::temp_dir().join(format!("gelu-several-{}", std::process::id()));
    let mut training = SupervisedTraining::new(&folder, train, valid)
        .with_application_logger(None)
        .num_epochs(epochs)
        .summary();
    for (index, activation) in activations.iter().enumerate() {
        let loss = OfNetwork::new(LossMetric::new(), index, activation);
        let accuracy = OfNetwork::new(AccuracyMetric::new(), index, activation);
        training = training
            .metric_train_numeric(loss.clone())
            .metric_valid_numeric(loss)
            .metric_train_numeric(accuracy.clone())
            .metric_valid_numeric(accuracy);
    }
    training.launch(Learner::new(model, AdamConfig::new().init(), 1e-3));
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
