//! Steps that are recorded and replayed, beside eager ones of the same training, bit by bit, on the default device. On one that
//! records nothing all steps are eager.
//!
//! ```text
//! BURN_DEVICE=vulkan cargo test --release --features gelu-training/vulkan --test captured
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::module::{Module, Param};
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig};
use burn::tensor::{Device, Distribution, Tensor, TensorData};
use burn_optim::{GradientsParams, ModuleOptimizer};
use gelu_training::{
    AdamConfig, AdamWConfig, CapturedStep, EpsilonPlace, NotCaptured, Recordable, SgdConfig,
    clip_by_global_norm, layers,
};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const BATCH: usize = 12;

/// A device has one generator of random numbers, whichever test asks for it: one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// With everything that a step changes besides parameters, and a layer that is not trained.
#[derive(Module, Debug)]
struct Net {
    input: Linear,
    norm: BatchNorm,
    frozen: Param<Tensor<2>>,
    burns: BatchNorm,
    dropout: Dropout,
    output: Linear,
}

impl Net {
    fn new(device: &Device) -> Self {
        Self {
            input: LinearConfig::new(6, 16).init(device),
            norm: BatchNormConfig::new(16).init(device),
            frozen: Param::from_tensor(Tensor::ones([1, 16], device) * 1.5).set_require_grad(false),
            burns: BatchNormConfig::new(16).with_momentum(0.3).init(device),
            dropout: DropoutConfig::new(0.25).init(),
            output: LinearConfig::new(16, 1).init(device),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let x = gelu_core::gelu(layers::batch_norm(&self.norm, self.input.forward(x)));
        let x = layers::dropout(&self.dropout, x) * self.frozen.val();
        let x = layers::dropout(&self.dropout, self.burns.forward(x));
        self.output.forward(x)
    }
}

/// What a step may do besides.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    Good,
    /// It reads its loss.
    Reads,
}

struct Fit {
    model: Net,
    optimizer: ModuleOptimizer,
    rate: f64,
    clip: Option<f64>,
    habit: Habit,
}

impl Recordable for Fit {
    type Batch = (Tensor<2>, Tensor<2>);
    /// The loss, and the batch's targets.
    type Output = [Tensor<1>; 2];
    type Model = Net;

    fn model(&self) -> Net {
        self.model.clone()
    }

    fn gradients(&mut self, (x, y): Self::Batch) -> (GradientsParams, [Tensor<1>; 2]) {
        let targets = y.clone().inner().flatten(0, 1);
        let loss = (self.model.forward(x) - y).square().mean();
        if self.habit == Habit::Reads {
            assert!(loss.clone().into_scalar::<f32>() < 1e6);
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        let gradients = match self.clip {
            Some(largest) => clip_by_global_norm(gradients, &self.model, largest),
            None => gradients,
        };
        (gradients, [loss.inner(), targets])
    }

    fn update(&mut self, gradients: GradientsParams) {
        self.model = self.optimizer.step(self.rate, self.model.clone(), gradients);
    }
}

fn fit(optimizer: &ModuleOptimizer, device: &Device) -> Fit {
    device.seed(5);
    let (model, optimizer) = (Net::new(device), optimizer.clone());
    Fit { model, optimizer, rate: 0.0, clip: Some(0.7), habit: Habit::Good }
}

/// A batch of step `step`, smaller at the end of each epoch.
fn batch(step: usize, epoch: usize, device: &Device) -> (Tensor<2>, Tensor<2>) {
    let rows = if step % epoch == epoch - 1 { BATCH / 3 } else { BATCH };
    let numbers: Vec<f32> = (0..rows * 6).map(|i| ((i * 7 + step * 13) as f32).sin()).collect();
    let x = Tensor::<2>::from_data(TensorData::new(numbers, [rows, 6]), device);
    let y = x.clone().slice([0..rows, 0..1]).powi_scalar(2);
    (x, y)
}

/// All numbers that a training has come to.
fn state(fit: &Fit) -> Vec<TensorData> {
    let mut tensors = Vec::new();
    let model = fit.model.valid();
    for batch_norm in [&model.norm, &model.burns] {
        tensors.extend([&batch_norm.running_mean, &batch_norm.running_var].map(|x| x.value()));
        tensors.extend([&batch_norm.gamma, &batch_norm.beta].map(|x| x.val()));
    }
    for linear in [&model.input, &model.output] {
        tensors.extend(linear.bias.as_ref().map(Param::val));
        let weight = linear.weight.val();
        let count = weight.shape().num_elements();
        tensors.push(weight.reshape([count]));
    }
    tensors.push(model.frozen.val().reshape([16]));
    tensors.into_iter().map(Tensor::into_data).collect()
}

fn rate_of(step: usize, steps: usize) -> f64 {
    0.02 * (1.0 + (std::f64::consts::PI * step as f64 / steps as f64).cos())
}

/// Trains both ways: how many steps were replays.
fn assert_equal_steps(
    name: &str,
    optimizer: &ModuleOptimizer,
    steps: usize,
    epoch: usize,
) -> usize {
    let device = Device::default().autodiff();
    let mut eager = fit(optimizer, &device);
    let mut eager_times = Vec::new();
    let losses = (0..steps).map(|step| {
        let began = Instant::now();
        eager.rate = rate_of(step, steps);
        let (gradients, [loss, _]) = eager.gradients(batch(step, epoch, &device));
        eager.update(gradients);
        let loss = loss.into_scalar::<f32>();
        eager_times.push(began.elapsed());
        loss
    });
    let losses: Vec<f32> = losses.collect();
    let mut training = fit(optimizer, &device);
    let mut captured = CapturedStep::new(&device);
    let mut replay_times = Vec::new();
    for (step, loss) in losses.iter().enumerate() {
        training.rate = rate_of(step, steps);
        let (before, began) = (captured.replays(), Instant::now());
        let (x, y) = batch(step, epoch, &device);
        let [found, targets] = captured.step(&mut training, (x, y.clone())).unwrap().clone();
        let found = found.into_scalar::<f32>();
        if before > 0 && captured.replays() > before {
            replay_times.push(began.elapsed());
        }
        assert_eq!(found.to_bits(), loss.to_bits(), "{name}, step {step}: {found}, not {loss}");
        targets.into_data().assert_eq(&y.flatten::<1>(0, 1).into_data(), true);
        if step == steps / 2 {
            // As an evaluation and a checkpoint between two epochs do, which allocate and free memory.
            drop((
                state(&training),
                training.model.valid().forward(batch(0, epoch, &device).0.inner()),
            ));
        }
    }
    let [eager_time, replay_time] = [eager_times, replay_times].map(|mut times: Vec<Duration>| {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    });
    println!("{name}: {eager_time:?} per eager step, {replay_time:?} per replay (medians)");
    // Eager steps go on from either, by the moments and the number of steps that the optimiser has.
    for further in 0..3 {
        for (place, (found, expected)) in state(&training).iter().zip(state(&eager)).enumerate() {
            let bits = |data: &TensorData| data.iter::<f32>().map(f32::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(found), bits(&expected), "{name}, tensor {place}, {further} further");
        }
        for fit in [&mut training, &mut eager] {
            device.seed(further);
            let (gradients, _) = fit.gradients(batch(0, epoch, &device));
            fit.update(gradients);
        }
    }
    if format!("{device:?}").contains("Wgpu") {
        assert!(captured.unsupported().is_none(), "{:?}", captured.unsupported());
        assert!(captured.replays() > steps / 2, "{} replays of {steps}", captured.replays());
    }
    captured.replays()
}

#[test]
fn replays_of_every_optimiser_are_its_steps() {
    let _alone = alone();
    let adam = AdamConfig::new().with_beta_2(0.9);
    let optimizers: [(&str, ModuleOptimizer); 7] = [
        ("adam", adam.clone().init()),
        ("adam, penalty", adam.clone().with_weight_decay(0.1).init()),
        ("amsgrad", adam.clone().with_amsgrad(true).init()),
        ("inside", adam.with_epsilon(1e-3).with_epsilon_place(EpsilonPlace::Inside).init()),
        ("adamw", AdamWConfig::new().with_weight_decay(0.5).init()),
        (
            "cautious amsgrad",
            AdamWConfig::new().with_amsgrad(true).with_cautious_weight_decay(true).init(),
        ),
        (
            "nesterov",
            SgdConfig::new().with_nesterov(true).with_dampening(0.3).with_weight_decay(0.1).init(),
        ),
    ];
    for (name, optimizer) in optimizers {
        assert_equal_steps(name, &optimizer, 14, 9);
    }
    assert_equal_steps("sgd", &SgdConfig::new().with_momentum(0.0).init(), 14, 9);
}

/// `GELU_CAPTURED_STEPS=1000` makes more of them.
#[test]
fn many_replays_are_as_many_steps() {
    let _alone = alone();
    let steps = std::env::var("GELU_CAPTURED_STEPS").map_or(200, |steps| steps.parse().unwrap());
    let replays = assert_equal_steps("adam", &AdamConfig::new().init(), steps, 50);
    println!("{replays} of {steps} steps were replays");
}

/// Steps until one is refused; `None` where all of them are made.
fn refusal(optimizer: &ModuleOptimizer, habit: Habit) -> Option<NotCaptured> {
    let device = Device::default().autodiff();
    let mut training = Fit { habit, ..fit(optimizer, &device) };
    let mut captured = CapturedStep::new(&device);
    let refused = (0..6).find_map(|step| {
        let batch = batch(step, 9, &device);
        captured.step(&mut training, batch).err()
    });
    // The device goes on computing, whatever it was asked to record.
    drop((captured, training));
    let sum = Tensor::<1>::random([64], Distribution::Uniform(1.0, 2.0), &device).sum();
    assert!(sum.into_scalar::<f32>() > 64.0);
    refused
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let _alone = alone();
    let ours = AdamConfig::new().init();
    let said = [
        refusal(&burn_optim::AdamConfig::new().init(), Habit::Good),
        refusal(&ours, Habit::Reads),
        refusal(&ours, Habit::Good),
    ];
    let said = said.map(|said| said.map(|said| said.to_string()));
    println!("{said:#?}");
    if format!("{:?}", Device::default()).contains("Wgpu") {
        let [burns, reads, good] = said;
        assert!(
            burns.unwrap().contains("8 of 8 parameters are stepped by an optimiser that cannot")
        );
        assert!(reads.unwrap().contains("read"));
        assert_eq!(good, None);
    } else {
        assert_eq!(said, [const { None }; 3]);
    }
}

/// A training that ends before its step is recorded leaves a device on which another can be.
#[test]
fn a_recording_that_never_began_is_given_up() {
    let _alone = alone();
    let device = Device::default().autodiff();
    let optimizer = AdamConfig::new().init();
    let mut training = fit(&optimizer, &device);
    let mut captured = CapturedStep::new(&device);
    for step in 0..2 {
        captured.step(&mut training, batch(step, 9, &device)).unwrap();
    }
    drop(captured);
    assert_equal_steps("after another", &optimizer, 8, 9);
}
