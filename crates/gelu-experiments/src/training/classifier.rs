use super::evaluate::{Measured, Measurement};
use crate::data::Examples;
use crate::randomness::{Purpose, device_seed};
use crate::recipe::NetworkRecipe;
use crate::runs::RunSpec;
use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::tensor::{Device, Int, Tensor};
use burn::train::{ClassificationOutput, InferenceStep, TrainOutput, TrainStep};
use gelu_models::{Mlp, MlpConfig};

/// A network trained to name the class of its input, by the log loss.
#[derive(Module, Debug)]
pub struct Classifier {
    network: Mlp,
}

/// The untrained classifier of a run: same seed, same weights, whatever the activation.
pub fn classifier(spec: &RunSpec, features: usize, classes: usize, device: &Device) -> Classifier {
    device.seed(device_seed(spec.seed, Purpose::Weights));
    let NetworkRecipe::Classifier { depth, width } = spec.network;
    let network = MlpConfig::new(features, classes)
        .with_depth(depth)
        .with_width(width)
        .with_dropout(spec.dropout)
        .with_activation(spec.activation.clone())
        .init(device);
    Classifier { network }.map(&mut NumberParameters::default())
}

/// Gives parameters their position as identity. Burn draws identities at random, which would make
/// the saved files of two equal runs differ.
#[derive(Default)]
struct NumberParameters {
    count: u64,
}

impl ModuleMapper for NumberParameters {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        self.count += 1;
        let (_, tensor, mapper) = param.consume();
        Param::from_mapped_value(ParamId::from(self.count), tensor, mapper)
    }
}

impl Classifier {
    /// Logits, loss and targets of a batch.
    pub fn classify(&self, batch: Examples) -> ClassificationOutput {
        let logits = self.network.forward(batch.inputs);
        let loss = CrossEntropyLossConfig::new()
            .init(&logits.device())
            .forward(logits.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, logits, batch.labels)
    }
}

impl TrainStep for Classifier {
    type Input = Examples;
    type Output = ClassificationOutput;

    fn step(&self, batch: Examples) -> TrainOutput<ClassificationOutput> {
        let output = self.classify(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for Classifier {
    type Input = Examples;
    type Output = ClassificationOutput;

    fn step(&self, batch: Examples) -> ClassificationOutput {
        self.classify(batch)
    }
}

impl Measured for ClassificationOutput {
    fn measure(&self) -> Measurement {
        let targets = self.targets.clone().without_autodiff();
        let examples = targets.dims()[0];
        let logits = self.output.clone().without_autodiff();
        let chosen: Tensor<1, Int> = logits.argmax(1).reshape([examples]);
        Measurement {
            examples,
            loss: self.loss.clone().without_autodiff(),
            wrong: Some(chosen.not_equal(targets).int().sum()),
        }
    }

    fn mean_loss(&self) -> Tensor<1> {
        self.loss.clone().without_autodiff()
    }
}
