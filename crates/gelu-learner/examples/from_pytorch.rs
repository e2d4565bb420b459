//! The Rust half of the book's page *From PyTorch*.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::loss::{MseLoss, Reduction};
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Tensor, TensorData};
use burn::train::{InferenceStep, RegressionOutput, TrainOutput, TrainStep};
use gelu_core::{ActivationLayer, Channels};
use gelu_learner::{Loader, Program, Result, Run, Training};
use std::process::ExitCode;

#[derive(Module, Debug)]
struct Net {
    first: Linear,
    output: Linear,
    activation: ActivationLayer,
}

impl InferenceStep for Net {
    // forward, and the loss
    type Input = [Tensor<2>; 2];
    type Output = RegressionOutput;
    fn step(&self, [x, y]: [Tensor<2>; 2]) -> RegressionOutput {
        let output = self.output.forward(self.activation.forward(self.first.forward(x)));
        let loss = MseLoss::new().forward(output.clone(), y.clone(), Reduction::Mean);
        RegressionOutput::new(loss, output, y)
    }
}
impl TrainStep for Net {
    // loss.backward()
    type Input = [Tensor<2>; 2];
    type Output = RegressionOutput;
    fn step(&self, batch: [Tensor<2>; 2]) -> TrainOutput<RegressionOutput> {
        let output = InferenceStep::step(self, batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

struct Points; // converts items into a batch, like TensorDataset
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

fn training(run: &Run) -> Result<Training<Net>> {
    let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(run.device());
    let activation = run.activation("activation")?.init(Channels::Shared, run.device());
    let net = Net { first: linear(2, 32), output: linear(32, 1), activation };
    Ok(Training::new(net, AdamConfig::new().with_epsilon(1e-8).init(), 1e-2)
        .train(Loader::new(points(4096, 0.0), Points).batch_size(64).drop_last())
        .test(Loader::new(points(1024, 0.7), Points))
        .num_epochs(10)
        .clip_norm(1.0))
}

fn main() -> ExitCode {
    Program::new("points", training).compare("activation", ["gelu", "relu", "tanh"]).main()
}
