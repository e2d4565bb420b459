//! A variational autoencoder of small images: a loss of its own, noise in training, and two metrics that are not
//! the loss.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::optim::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::tensor::{Device, Distribution, Tensor, TensorData};
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_learner::{BatchMetrics, Error, Loader, Program, Result, Run, Training};

const SIDE: usize = 8;
const CODE: usize = 2;

#[derive(Module, Debug)]
struct Vae {
    encoder: Linear,
    code: Linear,
    decoder: Linear,
    output: Linear,
    activation: ActivationLayer,
}

impl Vae {
    fn new(activation: &Activation, device: &Device) -> Self {
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Self {
            encoder: linear(SIDE * SIDE, 32),
            code: linear(32, 2 * CODE),
            decoder: linear(CODE, 32),
            output: linear(32, SIDE * SIDE),
            activation: activation.init(Channels::Shared, device),
        }
    }

    /// The evidence lower bound, with a sample of the code where `samples`, else with its mean.
    fn bound(&self, images: Tensor<2>, samples: bool) -> BatchMetrics {
        let code = self.code.forward(self.activation.forward(self.encoder.forward(images.clone())));
        let [mean, log_variance] = [0, CODE].map(|start| code.clone().narrow(1, start, CODE));
        let code = match samples {
            true => {
                let noise = mean.random_like(Distribution::Normal(0.0, 1.0));
                mean.clone() + noise * log_variance.clone().mul_scalar(0.5).exp()
            }
            false => mean.clone(),
        };
        let decoded = self.output.forward(self.activation.forward(self.decoder.forward(code)));
        let count = images.dims()[0];
        let reconstruction = (decoded - images).square().sum() / count as f64;
        let divergence = log_variance.clone().exp() + mean.square() - log_variance - 1.0;
        let divergence = divergence.sum() / (2 * count) as f64;
        BatchMetrics::new(count, reconstruction.clone() + divergence.clone() * 0.1)
            .mean("reconstruction", reconstruction)
            .mean("divergence", divergence)
    }
}

impl InferenceStep for Vae {
    type Input = Tensor<2>;
    type Output = BatchMetrics;
    fn step(&self, images: Tensor<2>) -> BatchMetrics {
        self.bound(images, false)
    }
}
impl TrainStep for Vae {
    type Input = Tensor<2>;
    type Output = BatchMetrics;
    fn step(&self, images: Tensor<2>) -> TrainOutput<BatchMetrics> {
        let output = self.bound(images, true);
        TrainOutput::new(self, output.loss().backward(), output)
    }
}

/// Draws a blob around a point.
struct Blobs;
impl Batcher<[f32; 2], Tensor<2>> for Blobs {
    fn batch(&self, points: Vec<[f32; 2]>, device: &Device) -> Tensor<2> {
        let pixel = |[x, y]: &[f32; 2], i: usize| {
            let (dx, dy) = ((i % SIDE) as f32 - x, (i / SIDE) as f32 - y);
            (-(dx * dx + dy * dy) / 4.0).exp()
        };
        let image = |point| (0..SIDE * SIDE).map(move |i| pixel(point, i));
        let pixels: Vec<f32> = points.iter().flat_map(image).collect();
        Tensor::from_data(TensorData::new(pixels, [points.len(), SIDE * SIDE]), device)
    }
}
fn points(count: usize, start: f32) -> InMemDataset<[f32; 2]> {
    let times = (0..count).map(|i| start + i as f32 * 0.618);
    InMemDataset::new(
        times.map(|t| [4.0 + 3.0 * (t * 1.7).sin(), 4.0 + 3.0 * (t * 0.9).cos()]).collect(),
    )
}

fn training(run: &Run) -> Result<Training<Vae>> {
    let net = Vae::new(&run.activation("activation")?, run.device());
    let epochs = run.get("epochs")?;
    let train = Loader::new(points(512, 0.0), Blobs).batch_size(32);
    let cosine = CosineAnnealingLrSchedulerConfig::new(1e-2, epochs * train.num_batches()).init();
    Ok(Training::new(net, AdamConfig::new().init(), cosine.map_err(Error::Usage)?)
        .train(train)
        .test(Loader::new(points(128, 0.3), Blobs))
        .num_epochs(epochs))
}

fn main() -> std::process::ExitCode {
    Program::new("vae", training).compare("activation", ["gelu", "relu"]).set("epochs", 8).main()
}
