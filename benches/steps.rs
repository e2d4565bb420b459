//! Times training steps of the paper's networks, as in their recipes, and of a small GPT: forward pass and loss,
//! backward pass, optimiser. It runs alone or alternates with PyTorch:
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release --bin steps [NETWORK ...]
//! python3 benches/peers/steps.py [NETWORK ...]
//! ```
//!
//! With `--serve NETWORK` it reads numbers from its input, makes that many steps for each, and prints their times in
//! milliseconds, `forward backward optimiser`, one line per step. With a number after the network, it computes the
//! outputs for that many examples, as after training, instead of steps.

use burn::module::Module;
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Distribution, Int, Tensor};
use gelu_models::{AutoencoderConfig, CnnConfig, GptConfig, MlpConfig, WideResNetConfig};
use gelu_training::{AdamConfig, AdamWConfig, EpsilonPlace, SgdConfig, keep_memory};
use std::io::{BufRead, Write};
use std::time::Instant;

/// The networks, and their numbers of timed steps when the program runs alone.
const NETWORKS: [(&str, usize); 7] = [
    ("classifier", 200),
    ("autoencoder", 60),
    ("tagger", 200),
    ("frames", 8),
    ("cnn", 5),
    ("wrn", 5),
    ("gpt", 20),
];
/// Number of steps before timing starts.
const WARM_UP: usize = 2;

/// Keeps memory allocated and runs on one of the kernels' threads, as `gelu` does in training.
fn main() {
    keep_memory();
    rayon::scope(|_| time());
}

fn time() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [serve, name, examples @ ..] = arguments.as_slice()
        && serve == "--serve"
    {
        let what = match examples {
            [] => What::Step,
            [examples, ..] => What::Output(examples.parse().expect("a number of examples")),
        };
        return self::serve(network(name, what));
    }
    println!("{:<12} {:>9} {:>9} {:>9} {:>9}", "ms", "forward", "backward", "optimiser", "step");
    for (name, steps) in NETWORKS {
        if !arguments.is_empty() && !arguments.iter().any(|wanted| wanted == name) {
            continue;
        }
        let mut step = network(name, What::Step);
        let times: Vec<[f64; 3]> = (0..WARM_UP + steps).map(|_| step()).skip(WARM_UP).collect();
        let [forward, backward, optimiser] =
            [0, 1, 2].map(|part| median(times.iter().map(|times| times[part]).collect()));
        let whole = median(times.iter().map(|times| times.iter().sum()).collect());
        println!("{name:<12} {forward:>9.3} {backward:>9.3} {optimiser:>9.3} {whole:>9.3}");
    }
}

/// Makes the requested steps until the input ends.
fn serve(mut step: Step) {
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line of input");
        let steps: usize = line.trim().parse().expect("how many steps to make");
        for _ in 0..steps {
            let [forward, backward, optimiser] = step();
            println!("{forward} {backward} {optimiser}");
        }
        std::io::stdout().flush().expect("somebody reads the times");
    }
}

/// The work to time.
#[derive(Clone, Copy)]
enum What {
    /// A training step, with the recipe's batch size.
    Step,
    /// The output of a trained network for this many examples.
    Output(usize),
}

impl What {
    /// Returns the requested number of examples, or the usual one.
    fn examples(self, usual: usize) -> usize {
        match self {
            Self::Step => usual,
            Self::Output(examples) => examples,
        }
    }
}

/// Does the work, and returns the times of its three parts in milliseconds.
type Step = Box<dyn FnMut() -> [f64; 3]>;

fn network(name: &str, what: What) -> Step {
    let device = match what {
        What::Step => Device::default().autodiff(),
        What::Output(_) => Device::default(),
    };
    device.seed(1);
    let adam = AdamConfig::new();
    match name {
        "classifier" => mlp(MlpConfig::new(784, 10), [128, 784], 10, what, &device),
        "autoencoder" => {
            let model = AutoencoderConfig::new(784).init(&device);
            let (x, _) = batch([what.examples(64), 784], 10, &device);
            let targets = x.clone();
            let loss =
                move |y: Tensor<2>| MseLoss::new().forward(y, targets.clone(), Reduction::Mean);
            timed(what, model, gelu_models::Autoencoder::forward, x, loss, (adam.init(), 1e-4))
        }
        "tagger" => mlp(MlpConfig::tagger(50), [16, 150], 25, what, &device),
        "frames" => mlp(MlpConfig::frame_classifier(), [1024, 286], 39, what, &device),
        "cnn" => {
            let model = CnnConfig::new().init(&device);
            let (x, labels) = batch([what.examples(100), 3, 32, 32], 10, &device);
            let adam = adam.with_epsilon_place(EpsilonPlace::Inside);
            let loss = log_loss(labels, &device);
            timed(what, model, gelu_models::Cnn::forward, x, loss, (adam.init(), 1e-4))
        }
        "wrn" => {
            let model = WideResNetConfig::wrn_40_4(100).with_dropout(0.3).init(&device);
            let (x, labels) = batch([what.examples(16), 3, 32, 32], 100, &device);
            let sgd = SgdConfig::new().with_nesterov(true).with_weight_decay(1e-3);
            let loss = log_loss(labels, &device);
            timed(what, model, gelu_models::WideResNet::forward, x, loss, (sgd.init(), 1e-2))
        }
        "gpt" => {
            let model = GptConfig::new(65).init(&device);
            let texts = what.examples(12);
            let (_, tokens) = batch([texts * 64], 65, &device);
            let (_, targets) = batch([texts * 64], 65, &device);
            let tokens: Tensor<2, Int> = tokens.reshape([texts, 64]);
            let adam = AdamWConfig::new().with_beta_2(0.99).with_weight_decay(0.1);
            let loss = log_loss(targets, &device);
            let loss = move |logits: Tensor<3>| loss(logits.flatten(0, 1));
            timed(what, model, gelu_models::Gpt::forward, tokens, loss, (adam.init(), 1e-3))
        }
        name => panic!("there is no network `{name}`, but {:?}", NETWORKS.map(|(name, _)| name)),
    }
}

fn mlp(
    config: MlpConfig,
    [examples, inputs]: [usize; 2],
    classes: usize,
    what: What,
    device: &Device,
) -> Step {
    let model = config.init(device);
    let (x, labels) = batch([what.examples(examples), inputs], classes, device);
    let (adam, loss) = (AdamConfig::new().init(), log_loss(labels, device));
    timed(what, model, gelu_models::Mlp::forward, x, loss, (adam, 1e-4))
}

fn log_loss(labels: Tensor<1, Int>, device: &Device) -> impl Fn(Tensor<2>) -> Tensor<1> + use<> {
    let loss = CrossEntropyLossConfig::new().init(device);
    move |logits| loss.forward(logits, labels.clone())
}

/// Returns inputs of this shape, and a class for each index of the first dimension.
fn batch<const D: usize>(
    shape: [usize; D],
    classes: usize,
    device: &Device,
) -> (Tensor<D>, Tensor<1, Int>) {
    let labels = Distribution::Uniform(0.0, classes as f64);
    (
        Tensor::random(shape, Distribution::Uniform(0.0, 1.0), device),
        Tensor::random([shape[0]], labels, device),
    )
}

fn timed<M: Module + 'static, X: Clone + 'static, Y: 'static>(
    what: What,
    model: M,
    output: impl Fn(&M, X) -> Y + 'static,
    x: X,
    loss: impl Fn(Y) -> Tensor<1> + 'static,
    (optimizer, rate): (ModuleOptimizer, f64),
) -> Step {
    match what {
        What::Step => step(model, move |model| loss(output(model, x.clone())), optimizer, rate),
        What::Output(_) => {
            let device = Device::default();
            Box::new(move || {
                let start = Instant::now();
                let _output = output(&model, x.clone());
                [lap(start, &device), 0.0, 0.0]
            })
        }
    }
}

fn step<M: Module + 'static>(
    model: M,
    forward: impl Fn(&M) -> Tensor<1> + 'static,
    mut optimizer: ModuleOptimizer,
    rate: f64,
) -> Step {
    let mut model = Some(model);
    Box::new(move || {
        let current = model.take().expect("each step puts the model back");
        let start = Instant::now();
        let loss = forward(&current);
        let device = loss.device();
        let forward = lap(start, &device);
        let start = Instant::now();
        let gradients = GradientsParams::from_grads(loss.backward(), &current);
        let backward = lap(start, &device);
        let start = Instant::now();
        model = Some(optimizer.step(rate, current, gradients));
        [forward, backward, lap(start, &device)]
    })
}

/// Returns the milliseconds since `start`, after waiting for the device.
fn lap(start: Instant, device: &Device) -> f64 {
    device.sync().expect("the device works");
    start.elapsed().as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
