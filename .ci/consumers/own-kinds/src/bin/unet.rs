//! A U-Net that finds the disc among two shapes, measured by the intersection over union of its pixels.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::nn::conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::nn::loss::BinaryCrossEntropyLossConfig;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_learner::{BatchMetrics, Loader, Measure, Program, Result, Run, Training};
use rand::RngExt;

const SIDE: usize = 16;

#[derive(Module, Debug)]
struct UNet {
    down: Conv2d,
    pool: MaxPool2d,
    bottom: Conv2d,
    up: ConvTranspose2d,
    merge: Conv2d,
    output: Conv2d,
    activation: ActivationLayer,
}

impl UNet {
    fn new(activation: &Activation, device: &Device) -> Self {
        let convolution = |channels| {
            Conv2dConfig::new(channels, [3, 3]).with_padding(PaddingConfig2d::Same).init(device)
        };
        Self {
            down: convolution([1, 8]),
            pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init(),
            bottom: convolution([8, 16]),
            up: ConvTranspose2dConfig::new([16, 8], [2, 2]).with_stride([2, 2]).init(device),
            merge: convolution([16, 8]),
            output: convolution([8, 1]),
            activation: activation.init(Channels::Shared, device),
        }
    }

    fn forward(&self, images: Tensor<4>) -> Tensor<4> {
        let f = |x| self.activation.forward(x);
        let wide = f(self.down.forward(images));
        let deep = f(self.bottom.forward(self.pool.forward(wide.clone())));
        let joined = Tensor::cat(vec![f(self.up.forward(deep)), wide], 1);
        self.output.forward(f(self.merge.forward(joined)))
    }
}

impl InferenceStep for UNet {
    type Input = (Tensor<4>, Tensor<4, Int>);
    type Output = BatchMetrics;
    fn step(&self, (images, masks): Self::Input) -> BatchMetrics {
        let [count, ..] = images.dims();
        let logits = self.forward(images);
        let loss = BinaryCrossEntropyLossConfig::new().with_logits(true).init(&logits.device());
        let loss = loss.forward(logits.clone(), masks.clone());
        let found = logits.greater_elem(0.0).int();
        let both = (found.clone() * masks.clone()).sum();
        let either = (found + masks).sum() - both.clone();
        BatchMetrics::new(count, loss).ratio("iou", both.float(), either.float())
    }
}
impl TrainStep for UNet {
    type Input = (Tensor<4>, Tensor<4, Int>);
    type Output = BatchMetrics;
    fn step(&self, batch: Self::Input) -> TrainOutput<BatchMetrics> {
        let output = InferenceStep::step(self, batch);
        TrainOutput::new(self, output.loss().backward(), output)
    }
}

/// The middles of a disc and of a square.
type Scene = [[f32; 2]; 2];

struct Drawn;
impl Batcher<Scene, (Tensor<4>, Tensor<4, Int>)> for Drawn {
    fn batch(&self, scenes: Vec<Scene>, device: &Device) -> (Tensor<4>, Tensor<4, Int>) {
        let (mut images, mut masks) = (Vec::new(), Vec::new());
        for [disc, square] in &scenes {
            for pixel in 0..SIDE * SIDE {
                let from =
                    |[x, y]: [f32; 2]| [(pixel % SIDE) as f32 - x, (pixel / SIDE) as f32 - y];
                let ([dx, dy], [sx, sy]) = (from(*disc), from(*square));
                let is_disc = dx.hypot(dy) < 3.5;
                let is_square = sx.abs().max(sy.abs()) < 3.0;
                images.push(f32::from(u8::from(is_disc || is_square)));
                masks.push(i32::from(is_disc));
            }
        }
        let shape = [scenes.len(), 1, SIDE, SIDE];
        let masks = Tensor::from_data(TensorData::new(masks, shape), device);
        (Tensor::from_data(TensorData::new(images, shape), device), masks)
    }
}
fn scenes(count: usize, start: f32) -> InMemDataset<Scene> {
    let times = (0..count).map(|i| start + i as f32 * 0.618);
    let place = |t: f32| [8.0 + 5.0 * (t * 1.7).sin(), 8.0 + 5.0 * (t * 0.9).cos()];
    InMemDataset::new(times.map(|t| [place(t), place(t + 40.0)]).collect())
}

fn training(run: &Run) -> Result<Training<UNet>> {
    let net = UNet::new(&run.activation("activation")?, run.device());
    // The scene, or its mirror image.
    let mirrored = |scene: Scene, flip: bool| match flip {
        true => scene.map(|[x, y]| [SIDE as f32 - 1.0 - x, y]),
        false => scene,
    };
    Ok(Training::new(net, AdamConfig::new().init(), 3e-3)
        .train(
            Loader::new(scenes(192, 0.0), Drawn)
                .batch_size(16)
                .num_workers(2)
                .augment(move |scene, _, random| mirrored(scene, random.random())),
        )
        .test(Loader::new(scenes(64, 0.3), Drawn))
        .num_epochs(run.get("epochs")?))
}

fn main() -> std::process::ExitCode {
    Program::new("unet", training)
        .measure(Measure::named("iou").higher().points())
        .compare("activation", ["gelu", "relu"])
        .set("epochs", 5)
        .main()
}
