//! Which activation does my network want? The code above the line is what Burn's Learner needs anyway.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Tensor, TensorData};
use burn::train::{InferenceStep, RegressionOutput, TrainOutput, TrainStep};
use gelu_core::{Activation, ActivationLayer, Channels};

#[derive(Module, Debug)]
struct Net {
    first: Linear,
    second: Linear,
    output: Linear,
    activation: ActivationLayer,
}

impl Net {
    fn new(activation: &Activation, width: usize, device: &Device) -> Self {
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Self {
            first: linear(2, width),
            second: linear(width, width),
            output: linear(width, 1),
            activation: activation.init(Channels::Shared, device),
        }
    }
}
impl InferenceStep for Net {
    type Input = [Tensor<2>; 2];
    type Output = RegressionOutput;
    fn step(&self, [inputs, targets]: [Tensor<2>; 2]) -> RegressionOutput {
        let x = self.activation.forward(self.first.forward(inputs));
        let output = self.output.forward(self.activation.forward(self.second.forward(x)));
        let loss = (output.clone() - targets.clone()).powi_scalar(2).mean();
        RegressionOutput::new(loss, output, targets)
    }
}
impl TrainStep for Net {
    type Input = [Tensor<2>; 2];
    type Output = RegressionOutput;
    fn step(&self, batch: [Tensor<2>; 2]) -> TrainOutput<RegressionOutput> {
        let output = InferenceStep::step(self, batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

struct Points;
impl Batcher<[f32; 2], [Tensor<2>; 2]> for Points {
    fn batch(&self, points: Vec<[f32; 2]>, device: &Device) -> [Tensor<2>; 2] {
        let targets = points.iter().map(|[a, b]| (3.0 * a).sin() * b).collect();
        [(points.concat(), 2), (targets, 1)].map(|(numbers, columns)| {
            Tensor::from_data(TensorData::new(numbers, [points.len(), columns]), device)
        })
    }
}
fn points(count: usize, start: f32) -> InMemDataset<[f32; 2]> {
    let times = (0..count).map(|i| start + i as f32 * 0.618);
    InMemDataset::new(times.map(|t| [(t * 1.7).sin(), (t * 0.9).cos()]).collect())
}

// ------------------------------------------------------------------------------------------------

use gelu_learner::{Loader, Program, Result, Run, Training};

fn training(run: &Run) -> Result<Training<Net>> {
    let net = Net::new(&run.activation("activation")?, run.get("width")?, run.device());
    Ok(Training::new(net, AdamConfig::new().init(), run.get::<f64>("learning_rate")?)
        .train(Loader::new(points(4096, 0.0), Points).batch_size(64))
        .valid(Loader::new(points(512, 0.3), Points))
        .test(Loader::new(points(1024, 0.7), Points))
        .num_epochs(10))
}

fn main() -> std::process::ExitCode {
    Program::new("points", training)
        .compare("activation", ["gelu", "relu", "tanh"])
        .tune("learning_rate", [1e-2, 1e-3])
        .set("width", 32)
        .main()
}
