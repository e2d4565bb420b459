//! Times one training step of the paper's MNIST classifier (784 → 8 × 128 → 10, batch of 128, Adam) for every
//! activation, with and without dropout, next to the same network of Burn's own modules.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release --bin training-times
//! ```
//!
//! Small matrices train fastest on one thread. The networks alternate, so that a busy machine slows all of them. The
//! program prints medians and their ratio to ReLU's.

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Dropout, DropoutConfig, Gelu, Linear, Relu};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Distribution, Int, Tensor};
use gelu_core::Activation;
use gelu_models::{Mlp, MlpConfig};
use std::time::Instant;

const BATCH: usize = 128;
const ROUNDS: usize = 150;
/// Number of rounds before timing starts.
const WARM_UP: usize = 10;

fn main() {
    let device = Device::default().autodiff();
    for dropout in [0.0, 0.5] {
        println!("dropout {dropout}\n{:<24} {:>9} {:>9}", "network", "ms a step", "to ReLU");
        let mut networks = networks(dropout, &device);
        let mut times = vec![Vec::new(); networks.len()];
        for round in 0..WARM_UP + ROUNDS {
            for ((_, step), times) in networks.iter_mut().zip(&mut times) {
                let start = Instant::now();
                step();
                if round >= WARM_UP {
                    times.push(start.elapsed().as_secs_f64() * 1e3);
                }
            }
        }
        let medians: Vec<f64> = times.into_iter().map(median).collect();
        for ((name, _), median) in networks.iter().zip(&medians) {
            println!("{name:<24} {median:>9.3} {:>9.3}", median / medians[0]);
        }
    }
}

type Step = Box<dyn FnMut()>;

/// Returns every network with its training step, ReLU's first.
fn networks(dropout: f64, device: &Device) -> Vec<(String, Step)> {
    let names = ["relu", "gelu", "gelu-tanh", "gelu-sigmoid", "silu", "elu", "cauchy"];
    let ours = names.into_iter().map(|name| {
        let activation: Activation = name.parse().expect("names of activations");
        let config = MlpConfig::new(784, 10).with_dropout(dropout).with_activation(activation);
        device.seed(1);
        (name.to_owned(), step(config.init(device), Mlp::forward, device))
    });
    let mut all: Vec<_> = ours.collect();
    for (name, gelu) in [("Burn's modules, ReLU", false), ("Burn's modules, GELU", true)] {
        device.seed(1);
        let network = BurnMlp::new(gelu, dropout, device);
        all.push((name.to_owned(), step(network, BurnMlp::forward, device)));
    }
    all
}

fn step<M: Module + 'static>(
    model: M,
    forward: impl Fn(&M, Tensor<2>) -> Tensor<2> + 'static,
    device: &Device,
) -> Step {
    let images = Tensor::<2>::random([BATCH, 784], Distribution::Uniform(0.0, 1.0), device);
    let labels = Tensor::<1, Int>::random([BATCH], Distribution::Uniform(0.0, 10.0), device);
    let loss = CrossEntropyLossConfig::new().init(device);
    let mut optimizer = AdamConfig::new().with_epsilon(1e-8).init();
    let mut model = Some(model);
    Box::new(move || {
        let current = model.take().expect("each step puts the model back");
        let loss = loss.forward(forward(&current, images.clone()), labels.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), &current);
        model = Some(optimizer.step(1e-4, current, gradients));
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The same network of Burn's own modules, each of which is a pass over memory.
#[derive(Module, Debug)]
struct BurnMlp {
    hidden: Vec<Linear>,
    output: Linear,
    gelu: Option<Gelu>,
    relu: Relu,
    dropout: Dropout,
}

impl BurnMlp {
    /// Creates the network with the same weights as ours.
    fn new(gelu: bool, dropout: f64, device: &Device) -> Self {
        let linear = |inputs, outputs| gelu_models::unit_norm_linear(inputs, outputs, device);
        let mut hidden = vec![linear(784, 128)];
        hidden.extend((1..8).map(|_| linear(128, 128)));
        Self {
            hidden,
            output: linear(128, 10),
            gelu: gelu.then(Gelu::new),
            relu: Relu::new(),
            dropout: DropoutConfig::new(dropout).init(),
        }
    }

    fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        let features = self.hidden.iter().fold(input, |x, layer| {
            let x = layer.forward(x);
            let x = match &self.gelu {
                Some(gelu) => gelu.forward(x),
                None => self.relu.forward(x),
            };
            self.dropout.forward(x)
        });
        self.output.forward(features)
    }
}
