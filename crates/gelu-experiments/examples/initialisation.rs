//! Do rows of unit norm help, the initialisation of the GELU paper (§3.1)? This program compares them with two usual
//! initialisations of the paper's MNIST classifier, with each of three activations. It shows that you can compare
//! more than activations.
//!
//! ```text
//! cargo run --release -- data fetch mnist
//! cargo run --release --example initialisation -- compare
//! ```
//!
//! `MNIST=DIR` names another folder with the four files.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::{Dataset, DatasetError};
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Initializer, Linear, LinearConfig};
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn::train::{ClassificationOutput, InferenceStep, TrainOutput, TrainStep};
use gelu_core::{Activation, HiddenLayer};
use gelu_experiments::data::{ImageSet, Images, data_home, mnist};
use gelu_learner::{Error, Loader, Program, Result, Run, Training};
use gelu_training::AdamConfig;
use gelu_training::layers::{hidden_layer, linear};
use std::path::PathBuf;
use std::sync::OnceLock;

const PIXELS: usize = 28 * 28;

/// Creates a layer whose weights have the initialisation `name`.
fn layer(name: &str, inputs: usize, outputs: usize, device: &Device) -> Result<Linear> {
    let config = LinearConfig::new(inputs, outputs);
    match name {
        // The weights of each neuron have norm 1.
        "unit-norm" => Ok(gelu_models::unit_norm_linear(inputs, outputs, device)),
        // The initialisation of Burn and PyTorch: uniform up to 1/√inputs, also for biases.
        "uniform" => Ok(config.init(device)),
        // He and others, 2015: normal, with variance 2/inputs.
        "he" => {
            let normal = Initializer::KaimingNormal { gain: 2f64.sqrt(), fan_out_only: false };
            let drawn = config.with_initializer(normal).init(device);
            let bias = drawn.bias.map(|bias| bias.map(|bias| bias.zeros_like()));
            Ok(Linear { bias, ..drawn })
        }
        _ => Err(Error::Usage(format!(
            "unknown initialisation `{name}`; there are: unit-norm, uniform, he"
        ))),
    }
}

#[derive(Module, Debug)]
struct Classifier {
    hidden: Vec<HiddenLayer>,
    output: Linear,
}

impl Classifier {
    /// Creates a classifier with eight hidden layers of 128 neurons, without dropout.
    fn new(initialisation: &str, activation: &Activation, device: &Device) -> Result<Self> {
        let mut inputs = PIXELS;
        let hidden = (0..8).map(|_| {
            let linear = layer(initialisation, inputs, 128, device)?;
            inputs = 128;
            Ok(HiddenLayer::new(linear, activation, 0.0))
        });
        let hidden = hidden.collect::<Result<_>>()?;
        Ok(Self { hidden, output: layer(initialisation, 128, mnist::CLASSES, device)? })
    }

    fn classify(&self, Digits { pixels, labels }: Digits) -> ClassificationOutput {
        let features = self.hidden.iter().fold(pixels, |x, layer| hidden_layer(layer, x));
        let logits = linear(&self.output, features);
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        let loss = loss.forward(logits.clone(), labels.clone());
        ClassificationOutput::new(loss, logits, labels)
    }
}

impl TrainStep for Classifier {
    type Input = Digits;
    type Output = ClassificationOutput;

    fn step(&self, digits: Digits) -> TrainOutput<ClassificationOutput> {
        let output = self.classify(digits);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for Classifier {
    type Input = Digits;
    type Output = ClassificationOutput;

    fn step(&self, digits: Digits) -> ClassificationOutput {
        self.classify(digits)
    }
}

#[derive(Clone, Debug)]
struct Digits {
    pixels: Tensor<2>,
    labels: Tensor<1, Int>,
}

struct Batches;

impl Batcher<(Vec<u8>, u8), Digits> for Batches {
    fn batch(&self, digits: Vec<(Vec<u8>, u8)>, device: &Device) -> Digits {
        let count = digits.len();
        let labels: Vec<i32> = digits.iter().map(|(_, label)| i32::from(*label)).collect();
        let pixels = digits.into_iter().flat_map(|(pixels, _)| pixels);
        let pixels: Vec<f32> = pixels.map(|pixel| f32::from(pixel) / 255.0).collect();
        Digits {
            pixels: Tensor::from_data(TensorData::new(pixels, [count, PIXELS]), device),
            labels: Tensor::from_data(TensorData::new(labels, [count]), device),
        }
    }
}

/// A part of the images: those to train on, or those that decide.
struct Part(&'static ImageSet, fn(&ImageSet) -> &Images);

impl Dataset<(Vec<u8>, u8)> for Part {
    fn get(&self, index: usize) -> Result<(Vec<u8>, u8), DatasetError> {
        let Images { pixels, labels, .. } = self.1(self.0);
        Ok((pixels[index * PIXELS..(index + 1) * PIXELS].to_vec(), labels[index]))
    }

    fn len(&self) -> usize {
        self.1(self.0).len()
    }
}

/// Returns MNIST; reads it only once.
fn pictures() -> Result<&'static ImageSet> {
    static PICTURES: OnceLock<ImageSet> = OnceLock::new();
    if let Some(read) = PICTURES.get() {
        return Ok(read);
    }
    let folder = std::env::var_os("MNIST").map_or_else(|| data_home().join("mnist"), PathBuf::from);
    let read = mnist::read(&folder)?;
    if read.train.features() != PIXELS {
        let problem = format!("the pictures in {} are not of 28×28 pixels", folder.display());
        return Err(Error::Usage(problem));
    }
    Ok(PICTURES.get_or_init(|| read))
}

fn training(run: &Run) -> Result<Training<Classifier>> {
    let initialisation: String = run.get("initialisation")?;
    let network = Classifier::new(&initialisation, &run.activation("activation")?, run.device())?;
    let digits = pictures()?;
    let learning_rate: f64 = run.get("learning_rate")?;
    Ok(Training::new(network, AdamConfig::new().init(), learning_rate)
        .train(Loader::new(Part(digits, |set| &set.train), Batches).batch_size(128))
        .test(Loader::new(Part(digits, |set| &set.test), Batches))
        .num_epochs(20))
}

fn main() -> std::process::ExitCode {
    Program::new("initialisation", training)
        .compare("initialisation", ["unit-norm", "uniform", "he"])
        .each("activation", ["gelu", "relu", "elu"])
        .set("learning_rate", 1e-3)
        .main()
}
