//! MNIST with Burn's own data sets, data loader, training loop and display, and with `GeluLayer` in the model.
//!
//! ```text
//! cargo run --release --example mnist -- FOLDER
//! BURN_DEVICE=vulkan cargo run --release --features vulkan --example mnist -- FOLDER 5
//! cargo run --release --features download --example mnist
//! ```
//!
//! `FOLDER` contains MNIST's four files, plain or with the ending `.gz`. The number is that of the epochs.
//! `BURN_DEVICE` names one of the backends that the features enable. With the feature `download` and without a
//! folder, Burn's `MnistDataset` downloads the files into the user's cache folder; it needs a network connection,
//! verifies no checksum, and panics on any error.

mod arguments;

use arguments::{arguments, ended, number};
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{
    ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep,
};
use gelu_core::GeluLayer;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

const PIXELS: usize = 28 * 28;

/// An image with values from 0 to 255, and its digit.
#[derive(Clone, Debug)]
struct Digit {
    pixels: Vec<u8>,
    label: u8,
}

/// A batch of digits, `[batch, 784]` from 0 to 1, and their labels, `[batch]`.
#[derive(Clone, Debug)]
struct Batch {
    pixels: Tensor<2>,
    labels: Tensor<1, Int>,
}

#[derive(Clone, Debug)]
struct DigitBatcher;

impl Batcher<Digit, Batch> for DigitBatcher {
    fn batch(&self, digits: Vec<Digit>, device: &Device) -> Batch {
        let count = digits.len();
        let labels: Vec<i64> = digits.iter().map(|digit| i64::from(digit.label)).collect();
        let pixels = digits.into_iter().flat_map(|digit| digit.pixels);
        let pixels: Vec<f32> = pixels.map(|pixel| f32::from(pixel) / 255.0).collect();
        Batch {
            pixels: Tensor::from_data(TensorData::new(pixels, [count, PIXELS]), device),
            labels: Tensor::from_data(TensorData::new(labels, [count]), device),
        }
    }
}

/// Returns the content of an IDX file after its header of `header` bytes.
fn idx(folder: &Path, name: &str, header: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let (plain, packed) = (folder.join(name), folder.join(format!("{name}.gz")));
    let mut bytes = Vec::new();
    if plain.exists() {
        File::open(&plain)?.read_to_end(&mut bytes)?;
    } else {
        let file = File::open(&packed)
            .map_err(|error| format!("neither {name} nor {name}.gz in {folder:?}: {error}"))?;
        flate2::read::GzDecoder::new(file).read_to_end(&mut bytes)?;
    }
    if bytes.len() < header {
        return Err(format!("{name} in {folder:?} is cut short").into());
    }
    Ok(bytes.split_off(header))
}

/// Reads the `train` or the `t10k` files of a folder.
fn read(folder: &Path, split: &str) -> Result<Vec<Digit>, Box<dyn Error>> {
    let pixels = idx(folder, &format!("{split}-images-idx3-ubyte"), 16)?;
    let labels = idx(folder, &format!("{split}-labels-idx1-ubyte"), 8)?;
    if pixels.len() != labels.len() * PIXELS || labels.iter().any(|&label| label > 9) {
        return Err(format!("the {split} files in {folder:?} are not MNIST's").into());
    }
    let pictures = pixels.chunks_exact(PIXELS).zip(labels);
    Ok(pictures.map(|(pixels, label)| Digit { pixels: pixels.to_vec(), label }).collect())
}

#[cfg(feature = "download")]
fn download(split: &str) -> Result<Vec<Digit>, Box<dyn Error>> {
    use burn::data::dataset::{Dataset, vision::MnistDataset};
    let digits = if split == "train" { MnistDataset::train() } else { MnistDataset::test() };
    let digit = |index| {
        let item = digits.get(index)?;
        let pixels = item.image.iter().flatten().map(|&pixel| pixel as u8).collect();
        Ok(Digit { pixels, label: item.label })
    };
    (0..digits.len()).map(digit).collect()
}

#[cfg(not(feature = "download"))]
fn download(_split: &str) -> Result<Vec<Digit>, Box<dyn Error>> {
    Err("say where MNIST's four files are, or build with the feature `download`".into())
}

fn loader(
    folder: Option<&Path>,
    split: &str,
    device: &Device,
) -> Result<Arc<dyn DataLoader<Batch>>, Box<dyn Error>> {
    let digits = folder.map_or_else(|| download(split), |folder| read(folder, split))?;
    let builder = DataLoaderBuilder::new(DigitBatcher).batch_size(128).set_device(device.clone());
    let builder = if split == "train" { builder.shuffle(1) } else { builder };
    Ok(builder.build(InMemDataset::new(digits)))
}

/// A network with two hidden layers.
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
            layers: vec![linear(PIXELS, 256), linear(256, 256)],
            output: linear(256, 10),
            activation: GeluLayer::new(),
        }
    }

    fn classify(&self, batch: Batch) -> ClassificationOutput {
        let layer = |x: Tensor<2>, linear: &Linear| self.activation.forward(linear.forward(x));
        let logits = self.output.forward(self.layers.iter().fold(batch.pixels, layer));
        let loss = CrossEntropyLossConfig::new()
            .init(&logits.device())
            .forward(logits.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, logits, batch.labels)
    }
}

impl TrainStep for Network {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
        let output = self.classify(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for Network {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, batch: Batch) -> ClassificationOutput {
        self.classify(batch)
    }
}

fn main() -> ExitCode {
    ended(run())
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = arguments("mnist [FOLDER] [EPOCHS]");
    let folder = arguments.next();
    let folder = folder.as_deref().map(Path::new);
    let epochs = number(arguments.next(), 5)?;
    let device = Device::default();
    let autodiff = device.clone().autodiff();
    device.seed(1);
    let (train, test) = (loader(folder, "train", &autodiff)?, loader(folder, "t10k", &device)?);
    let learner = Learner::new(Network::new(&autodiff), AdamConfig::new().init(), 1e-3);
    let result = SupervisedTraining::new("results/example-mnist", train, test)
        .metrics((LossMetric::new(), AccuracyMetric::new()))
        .with_default_checkpointers()
        .with_application_logger(None)
        .num_epochs(epochs)
        .summary()
        .launch(learner);
    result.model.save_file("results/example-mnist/model.bpk")?;
    println!("The network is in results/example-mnist/model.bpk");
    Ok(())
}
