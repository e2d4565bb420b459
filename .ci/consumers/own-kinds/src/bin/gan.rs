//! A generative adversarial network: a generator and a critic in one module, each with an optimiser and a learning
//! rate of its own, measured by how far from the unit circle the generated points are.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::{Module, ParamGroup};
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::tensor::activation::softplus;
use burn::tensor::{Device, Distribution, Tensor, TensorData};
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_learner::{BatchMetrics, Loader, Measure, Program, Result, Run, Training};

#[derive(Module, Debug)]
struct Mlp {
    first: Linear,
    second: Linear,
    output: Linear,
    activation: ActivationLayer,
}

impl Mlp {
    fn new(outputs: usize, activation: &Activation, device: &Device) -> Self {
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        let activation = activation.init(Channels::Shared, device);
        Self {
            first: linear(2, 32),
            second: linear(32, 32),
            output: linear(32, outputs),
            activation,
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let x = self.activation.forward(self.first.forward(x));
        self.output.forward(self.activation.forward(self.second.forward(x)))
    }
}

#[derive(Module, Debug)]
struct Gan {
    generator: Mlp,
    critic: Mlp,
}

impl Gan {
    /// Both losses, and how far the generated points are from the circle.
    fn play(&self, real: Tensor<2>) -> BatchMetrics {
        let count = real.dims()[0];
        let fake = self.generator.forward(real.random_like(Distribution::Normal(0.0, 1.0)));
        // The generator learns from a critic that does not learn from it.
        let fooled = softplus(-self.critic.clone().no_grad().forward(fake.clone()), 1.0).mean();
        let told = softplus(self.critic.forward(fake.clone().detach()), 1.0).mean()
            + softplus(-self.critic.forward(real), 1.0).mean();
        let distance = (fake.square().sum_dim(1).sqrt() - 1.0).abs().mean();
        BatchMetrics::new(count, fooled.clone() + told.clone())
            .mean("generator", fooled)
            .mean("critic", told)
            .mean("distance", distance)
    }
}

impl InferenceStep for Gan {
    type Input = Tensor<2>;
    type Output = BatchMetrics;
    fn step(&self, real: Tensor<2>) -> BatchMetrics {
        self.play(real)
    }
}
impl TrainStep for Gan {
    type Input = Tensor<2>;
    type Output = BatchMetrics;
    fn step(&self, real: Tensor<2>) -> TrainOutput<BatchMetrics> {
        let output = self.play(real);
        TrainOutput::new(self, output.loss().backward(), output)
    }
}

struct Circle;
impl Batcher<f32, Tensor<2>> for Circle {
    fn batch(&self, angles: Vec<f32>, device: &Device) -> Tensor<2> {
        let points: Vec<f32> = angles.iter().flat_map(|angle| [angle.cos(), angle.sin()]).collect();
        Tensor::from_data(TensorData::new(points, [angles.len(), 2]), device)
    }
}

fn training(run: &Run) -> Result<Training<Gan>> {
    let (activation, device) = (run.activation("activation")?, run.device());
    let [generator, critic] = [2, 1].map(|outputs| Mlp::new(outputs, &activation, device));
    let of_critic = ParamGroup::from_predicate("critic");
    let adam = AdamConfig::new().with_beta_1(0.5);
    let optimizer = adam.init().with_group(of_critic.clone(), adam.with_beta_2(0.9).build(), None);
    let rates = ModuleLrScheduler::new(1e-3).with_group(of_critic, 2e-3);
    let angles = |count| InMemDataset::new((0..count).map(|i| i as f32 * 0.618).collect());
    Ok(Training::new(Gan { generator, critic }, optimizer, rates)
        .train(Loader::new(angles(512), Circle).batch_size(64))
        .test(Loader::new(angles(256), Circle))
        .num_epochs(run.get("epochs")?))
}

fn main() -> std::process::ExitCode {
    Program::new("gan", training)
        .measure(Measure::named("distance"))
        .compare("activation", ["gelu", "relu"])
        .set("epochs", 10)
        .main()
}
