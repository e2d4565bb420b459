//! Compare, take the best network, and predict with it.
//!
//! ```text
//! cargo run --release --example predict -- compare
//! cargo run --release --example predict -- predict 0.3 -0.2
//! ```

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn::train::{ClassificationOutput, InferenceStep, TrainOutput, TrainStep};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_learner::{Error, Loader, Program, Result, Run, Trained, Training};
use std::process::ExitCode;

#[derive(Module, Debug)]
struct Net {
    hidden: Linear,
    activation: ActivationLayer,
    output: Linear,
}

impl Net {
    fn new(activation: &Activation, device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(2, 32).init(device),
            activation: activation.init(Channels::Shared, device),
            output: LinearConfig::new(32, 2).init(device),
        }
    }
    fn logits(&self, inputs: Tensor<2>) -> Tensor<2> {
        self.output.forward(self.activation.forward(self.hidden.forward(inputs)))
    }
}
impl InferenceStep for Net {
    type Input = (Tensor<2>, Tensor<1, Int>);
    type Output = ClassificationOutput;
    fn step(&self, (inputs, classes): Self::Input) -> ClassificationOutput {
        let logits = self.logits(inputs);
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        let loss = loss.forward(logits.clone(), classes.clone());
        ClassificationOutput::new(loss, logits, classes)
    }
}
impl TrainStep for Net {
    type Input = (Tensor<2>, Tensor<1, Int>);
    type Output = ClassificationOutput;
    fn step(&self, batch: Self::Input) -> TrainOutput<ClassificationOutput> {
        let output = InferenceStep::step(self, batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

/// Mean and deviation that scale the inputs; saved with the network.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Scale {
    mean: [f32; 2],
    deviation: [f32; 2],
}

impl Scale {
    fn inputs(&self, points: &[[f32; 2]], device: &Device) -> Tensor<2> {
        let of = |point: &[f32; 2]| [0, 1].map(|i| (point[i] - self.mean[i]) / self.deviation[i]);
        let numbers: Vec<f32> = points.iter().flat_map(of).collect();
        Tensor::from_data(TensorData::new(numbers, [points.len(), 2]), device)
    }
}
impl Batcher<[f32; 2], (Tensor<2>, Tensor<1, Int>)> for Scale {
    fn batch(&self, points: Vec<[f32; 2]>, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
        let outside = |[x, y]: &[f32; 2]| i32::from((x - 3.0).powi(2) + (y / 5.0).powi(2) > 0.5);
        let classes: Vec<i32> = points.iter().map(outside).collect();
        let classes = TensorData::new(classes, [points.len()]);
        (self.inputs(&points, device), Tensor::from_data(classes, device))
    }
}

/// Points around (3, 0), five times as high as wide.
fn points(count: usize, start: f32) -> Vec<[f32; 2]> {
    let times = (0..count).map(|i| start + i as f32 * 0.618);
    times.map(|t| [3.0 + (t * 1.7).sin(), 5.0 * (t * 0.9).cos()]).collect()
}

fn training(run: &Run) -> Result<Training<Net>> {
    let train = points(2048, 0.0);
    let mean = [0, 1].map(|i| train.iter().map(|point| point[i]).sum::<f32>() / 2048.0);
    let variance =
        |i: usize| train.iter().map(|point| (point[i] - mean[i]).powi(2)).sum::<f32>() / 2048.0;
    let deviation = [variance(0).sqrt(), variance(1).sqrt()];
    let scale = Scale { mean, deviation };
    let load = |points| Loader::new(InMemDataset::new(points), scale.clone());
    let net = Net::new(&run.activation("activation")?, run.device());
    Ok(Training::new(net, AdamConfig::new().init(), run.get::<f64>("learning_rate")?)
        .train(load(train).batch_size(64))
        .valid(load(points(512, 0.3)))
        .test(load(points(1024, 0.7)))
        .num_epochs(10)
        .class_names(["inside", "outside"])
        .attach(&scale))
}

/// Predicts the class of `point` with the best network, and measures the network on the test set again.
fn predict(point: [f32; 2]) -> Result<String> {
    let device = Device::default();
    let best = Trained::best("results/predict")?;
    let (net, scale) = (best.model(training, &device)?, best.attached::<Scale>()?);
    let logits = net.logits(scale.inputs(&[point], &device));
    let class = logits.argmax(1).into_scalar::<i64>() as usize;

    let output = InferenceStep::step(&net, scale.batch(points(1024, 0.7), &device));
    let wrong = output.output.argmax(1).reshape([1024]).not_equal(output.targets);
    let error = wrong.int().sum().into_scalar::<i64>() as f64 / 1024.0;
    Ok(format!(
        "{}, seed {}, in {}\n{}\ntest error {error}, recorded {}\n{}",
        best.setting(),
        best.seed(),
        best.folder().display(),
        best.class_names()?[class],
        best.metrics().get("test_error").unwrap_or(f64::NAN),
        best.confusion()?,
    ))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, x, y] = arguments.as_slice() else { return compare() };
    if command != "predict" {
        return compare();
    }
    let number =
        |text: &str| text.parse().map_err(|_| Error::Usage(format!("{text} is not a number")));
    let predicted = number(x).and_then(|x| predict([x, number(y)?]));
    match predicted {
        Ok(text) => println!("{text}"),
        Err(error) => {
            eprintln!("predict: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn compare() -> ExitCode {
    Program::new("predict", training)
        .compare("activation", ["gelu", "relu"])
        .tune("learning_rate", [1e-2, 1e-3])
        .main()
}
