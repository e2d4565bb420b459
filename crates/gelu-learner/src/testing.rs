//! A small network that reports its batches, for tests of the training code.

use burn::data::dataloader::DataLoader;
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::{Module, Param};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor, TensorData};
use burn::train::{ClassificationOutput, InferenceStep, TrainOutput, TrainStep};
use std::sync::Arc;

/// A classifier of numbers.
#[derive(Module, Debug)]
pub(crate) struct Net {
    linear: Linear,
    #[module(skip)]
    hears: Hears,
}

/// Receives every batch before the network is trained on it.
#[derive(Clone)]
struct Hears(Arc<dyn Hear>);

trait Hear: Fn(&[usize]) + Send + Sync {}

impl<F: Fn(&[usize]) + Send + Sync> Hear for F {}

impl std::fmt::Debug for Hears {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hears")
    }
}

impl Net {
    pub(crate) fn new(hears: impl Fn(&[usize]) + Send + Sync + 'static) -> Self {
        let device = Device::default();
        let mut linear = LinearConfig::new(1, 2).init(&device);
        // Tests share the device's generator, and another one may draw from it at this moment.
        linear.weight = Param::from_tensor(Tensor::from_floats([[-0.4, 0.3]], &device));
        linear.bias = Some(Param::from_tensor(Tensor::from_floats([0.2, -0.1], &device)));
        Self { linear, hears: Hears(Arc::new(hears)) }
    }

    fn score(&self, batch: Batch) -> ClassificationOutput {
        let logits = self.linear.forward(batch.inputs);
        let targets = Tensor::zeros([batch.items.len()], &logits.device());
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        ClassificationOutput::new(loss.forward(logits.clone(), targets.clone()), logits, targets)
    }
}

impl TrainStep for Net {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        (self.hears.0)(&batch.items);
        let output = self.score(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for Net {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> ClassificationOutput {
        self.score(batch)
    }
}

/// Numbers, also as inputs of the network.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) items: Vec<usize>,
    inputs: Tensor<2>,
}

/// A batcher that adds this number to every item.
pub(crate) struct Plus(pub(crate) usize);

impl Batcher<usize, Batch> for Plus {
    fn batch(&self, items: Vec<usize>, device: &Device) -> Batch {
        let items: Vec<usize> = items.into_iter().map(|item| item + self.0).collect();
        let values: Vec<f32> = items.iter().map(|&item| item as f32).collect();
        let inputs = Tensor::from_data(TensorData::new(values, [items.len(), 1]), device);
        Batch { items, inputs }
    }
}

/// Returns the numbers below `bound`.
pub(crate) fn below(bound: usize) -> InMemDataset<usize> {
    InMemDataset::new((0..bound).collect())
}

/// Returns the numbers of a pass, batch by batch.
pub(crate) fn pass(loader: &dyn DataLoader<Batch>) -> Vec<Vec<usize>> {
    loader.iter().map(|batch| batch.unwrap().items).collect()
}
