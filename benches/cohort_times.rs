//! Times a training step of networks one after the other and as one program ([`gelu_training::cohort`]), on one
//! thread, with Adam.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release --bin cohort-times
//! ```
//!
//! The two take turns, and what counts is the thread's processor time where the system tells it (Linux), so that a
//! busy machine disturbs little. Printed are medians for one network's step, and their ratio.

use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Distribution, Int, Tensor};
use gelu_core::random::Draw;
use gelu_models::{Mlp, MlpCohort, MlpConfig};
use gelu_training::AdamConfig;
use gelu_training::cohort::{CohortAdam, cross_entropies, squared_errors};

const ROUNDS: usize = 40;
/// Rounds before the clock counts.
const WARM_UP: usize = 5;
const RATE: f64 = 1e-3;

/// A network, and how it is trained.
struct Shape {
    name: &'static str,
    batch: usize,
    network: MlpConfig,
    /// Whether it is trained by the log loss; else by squared errors.
    classifies: bool,
}

fn main() {
    gelu_training::keep_memory();
    let classifier = |inputs, depth, width, dropout| {
        let config = MlpConfig::new(inputs, 10).with_depth(depth).with_width(width);
        config.with_dropout(dropout)
    };
    let shapes = [
        Shape {
            name: "2x16, batch 32",
            batch: 32,
            network: classifier(8, 2, 16, 0.0),
            classifies: true,
        },
        Shape {
            name: "4x64 regression, batch 100",
            batch: 100,
            network: MlpConfig::new(2, 1).with_depth(4).with_width(64),
            classifies: false,
        },
        Shape {
            name: "3x128, dropout 0.1, batch 64",
            batch: 64,
            network: classifier(20, 3, 128, 0.1),
            classifies: true,
        },
        Shape {
            name: "8x128 of MNIST, batch 128",
            batch: 128,
            network: classifier(784, 8, 128, 0.0),
            classifies: true,
        },
    ];
    let device = Device::default().autodiff();
    println!(
        "{:<30} {:>8} {:>9} {:>9} {:>6}",
        "network", "networks", "µs alone", "together", "ratio"
    );
    for shape in &shapes {
        for networks in [1, 2, 4, 8, 16] {
            let [alone, together] = times(shape, networks, &device);
            let ratio = alone / together;
            println!("{:<30} {networks:>8} {alone:>9.0} {together:>9.0} {ratio:>6.2}", shape.name);
        }
    }
}

/// Medians in microseconds for one step of one network.
fn times(shape: &Shape, count: usize, device: &Device) -> [f64; 2] {
    let Shape { batch, ref network, classifies, .. } = *shape;
    let (inputs, outputs) = (network.d_input, network.d_output);
    let networks: Vec<Mlp> = (0..count).map(|_| network.init(device)).collect();
    let mut cohort = MlpCohort::of(&networks).expect("they are of one shape");
    let mut adam = CohortAdam::new(AdamConfig::new().build(), count);
    let mut alone: Vec<(Mlp, ModuleOptimizer)> =
        networks.into_iter().map(|network| (network, AdamConfig::new().init())).collect();
    let normal = Distribution::Normal(0.0, 1.0);
    let x = Tensor::<3>::random([count, batch, inputs], normal, device);
    let y = Tensor::<3>::random([count, batch, outputs], normal, device);
    let classes = Distribution::Uniform(0.0, outputs as f64);
    let classes = Tensor::<2, Int>::random([count, batch], classes, device);
    let mut step = 0;
    let mut taken = [Vec::new(), Vec::new()];
    for round in 0..WARM_UP + ROUNDS {
        let start = Clock::start();
        for (index, (network, adam)) in alone.iter_mut().enumerate() {
            let x: Tensor<2> = x.clone().slice(index..index + 1).squeeze_dim(0);
            let output = network.forward(x);
            let loss = match classifies {
                true => {
                    let classes = classes.clone().slice(index..index + 1).squeeze_dim(0);
                    CrossEntropyLossConfig::new().init(device).forward(output, classes)
                }
                false => {
                    let y = y.clone().slice(index..index + 1).squeeze_dim(0);
                    MseLoss::new().forward(output, y, Reduction::Mean)
                }
            };
            let gradients = GradientsParams::from_grads(loss.backward(), network);
            *network = adam.step(RATE, network.clone(), gradients);
        }
        let of_alone = start.microseconds();
        let start = Clock::start();
        let output = cohort.forward_train(x.clone(), |index| {
            step += 1;
            Draw { seed: index as u64, step }
        });
        let losses = match classifies {
            true => cross_entropies(output, classes.clone(), 0.0),
            false => squared_errors(output, y.clone()),
        };
        let gradients = GradientsParams::from_grads(losses.sum().backward(), &cohort);
        cohort = adam.step(&vec![RATE; count], cohort, gradients);
        if round >= WARM_UP {
            taken[0].push(of_alone / count as f64);
            taken[1].push(start.microseconds() / count as f64);
        }
    }
    taken.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// The processor time of this thread, where the system tells it, or the time.
struct Clock(f64);

impl Clock {
    fn start() -> Self {
        Self(now())
    }

    fn microseconds(&self) -> f64 {
        now() - self.0
    }
}

#[cfg(target_os = "linux")]
fn now() -> f64 {
    let ran = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    let ran = ran.expect("the clock of a thread is there");
    ran.tv_sec() as f64 * 1e6 + ran.tv_nsec() as f64 * 1e-3
}

#[cfg(not(target_os = "linux"))]
fn now() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64() * 1e6
}
