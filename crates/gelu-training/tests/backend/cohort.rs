//! Beside the same networks one after the other, by the operations of a single network.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use gelu_core::functional::{self, Unit};
use gelu_core::random::{Draw, DropoutMask, Key};
use gelu_training::cohort::{
    AdamMoments, CohortAdam, CohortLinear, SliceDropout, SliceUnit, SliceUnits, clip_by_slice_norm,
    cross_entropies, squared_errors,
};
use gelu_training::{AdamConfig, AdamWConfig, clip_by_global_norm, layers};

const SLICES: usize = 3;
const BATCH: usize = 5;
const INPUTS: usize = 3;
const WIDTH: usize = 7;
const OUTPUTS: usize = 4;

#[derive(Module, Debug)]
struct Network {
    hidden: Linear,
    output: Linear,
}

#[derive(Module, Debug)]
struct Cohort {
    hidden: CohortLinear,
    output: CohortLinear,
}

fn wave<const D: usize>(shape: [usize; D], frequency: f64, device: &Device) -> Tensor<D> {
    let numbers: Vec<f32> =
        (0..shape.iter().product()).map(|i| (frequency * (i as f64 + 1.0)).sin() as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

fn layer(sizes: [usize; 2], seed: usize, device: &Device) -> Linear {
    let frequency = 0.37 + 0.1 * seed as f64;
    Linear {
        bias: Some(Param::from_tensor(wave([sizes[1]], 0.9 * frequency, device))),
        weight: Param::from_tensor(wave(sizes, frequency, device)),
    }
}

fn networks(device: &Device) -> Vec<Network> {
    let network = |seed| Network {
        hidden: layer([INPUTS, WIDTH], seed, device),
        output: layer([WIDTH, OUTPUTS], seed + 10, device),
    };
    (0..SLICES).map(network).collect()
}

fn cohort(networks: &[Network]) -> Cohort {
    let of = |layer: fn(&Network) -> &Linear| {
        CohortLinear::of(&networks.iter().map(|network| layer(network).clone()).collect::<Vec<_>>())
    };
    Cohort { hidden: of(|network| &network.hidden), output: of(|network| &network.output) }
}

/// Two activations, and dropout where that is asked for.
fn units(drops: bool) -> SliceUnits {
    let unit = |slice| SliceUnit {
        unit: [Unit::Gelu, Unit::Elu { alpha: 0.1 }, Unit::Gelu][slice],
        dropout: drops.then(|| SliceDropout::new(0.3, Draw { seed: slice as u64, step: 8 })),
    };
    (0..SLICES).map(unit).collect()
}

impl Cohort {
    fn forward(&self, x: Tensor<3>, units: &SliceUnits) -> Tensor<3> {
        self.output.forward_linear(self.hidden.forward(x, units))
    }
}

impl Network {
    fn forward(&self, x: Tensor<2>, SliceUnit { unit, dropout }: SliceUnit) -> Tensor<2> {
        let weights = Linear { bias: None, ..self.hidden.clone() };
        let bias = self.hidden.bias.as_ref().unwrap().val();
        let device = x.device();
        let mask = dropout.map(|SliceDropout { draw, threshold }| {
            let probability = f64::from(threshold) / 4_294_967_296.0;
            DropoutMask::new(probability, Key::known(draw, &device))
        });
        let product = layers::linear(&weights, x);
        let features = functional::bias_activation_dropout(product, bias, unit, mask);
        layers::linear(&self.output, features)
    }
}

fn slice<const D: usize, const E: usize>(x: &Tensor<D>, index: usize) -> Tensor<E> {
    x.clone().slice(index..index + 1).squeeze_dim(0)
}

fn numbers<const D: usize>(x: Tensor<D>) -> Vec<f64> {
    x.into_data().iter::<f64>().collect()
}

#[track_caller]
fn assert_near(what: &str, found: Vec<f64>, expected: Vec<f64>) {
    assert_eq!(found.len(), expected.len(), "{what}");
    // On CUDA Burn multiplies f32 in TF32.
    let near = if cfg!(feature = "cuda") { 1e-2 } else { 2e-5 };
    for (place, (f, e)) in found.iter().zip(&expected).enumerate() {
        assert!((f - e).abs() <= near * (1.0 + e.abs()), "{what} {place}: {f}, not {e}");
    }
}

/// The parameters' numbers.
fn of_network(Network { hidden, output }: &Network) -> Vec<f64> {
    let of = |layer: &Linear| {
        [numbers(layer.weight.val()), numbers(layer.bias.as_ref().unwrap().val())].concat()
    };
    [of(hidden), of(output)].concat()
}

/// Three steps with a loss, in a cohort and one network after the other: their losses and parameters.
fn are_the_same(
    drops: bool,
    together: impl Fn(Tensor<3>) -> Tensor<1>,
    alone: impl Fn(Tensor<2>, usize) -> Tensor<1>,
) {
    let device = Device::default().autodiff();
    let (x, units) = (wave([SLICES, BATCH, INPUTS], 0.53, &device), units(drops));
    let rates = [1e-2, 2e-2, 5e-3];
    let (mut networks, mut losses) = (networks(&device), [const { Vec::new() }; SLICES]);
    let mut all = cohort(&networks);
    let decayed = AdamWConfig::new().with_weight_decay(0.1);
    let mut adam = CohortAdam::new(decayed.build(), SLICES);
    let mut adams: Vec<_> = (0..SLICES).map(|_| decayed.init()).collect();
    for step in 0..3 {
        let of_all = together(all.forward(x.clone(), &units));
        let gradients = GradientsParams::from_grads(of_all.clone().sum().backward(), &all);
        let gradients = clip_by_slice_norm(gradients, &all, 0.5);
        all = adam.step(&rates, all, gradients);
        for (index, network) in networks.iter_mut().enumerate() {
            let loss = alone(network.forward(slice(&x, index), units.slices()[index]), index);
            let gradients = GradientsParams::from_grads(loss.clone().backward(), network);
            let gradients = clip_by_global_norm(gradients, network, 0.5);
            *network = adams[index].step(rates[index], network.clone(), gradients);
            losses[index].push(numbers(loss)[0]);
        }
        let expected = losses.iter().map(|losses| losses[step]).collect();
        assert_near(&format!("losses of step {step}"), numbers(of_all), expected);
    }
    for (index, network) in networks.iter().enumerate() {
        let found = Network { hidden: all.hidden.slice(index), output: all.output.slice(index) };
        assert_near(&format!("network {index}"), of_network(&found), of_network(network));
    }
}

#[test]
fn squared_errors_train_as_alone() {
    for drops in [false, true] {
        let targets = |device: &Device| wave([SLICES, BATCH, OUTPUTS], 0.31, device);
        are_the_same(
            drops,
            |outputs| squared_errors(outputs.clone(), targets(&outputs.device())),
            |output, index| {
                let targets = slice(&targets(&output.device()), index);
                MseLoss::new().forward(output, targets, Reduction::Mean)
            },
        );
    }
}

#[test]
fn log_losses_train_as_alone_smoothed_or_not() {
    let classes = |device: &Device| {
        let classes: Vec<i32> = (0..SLICES * BATCH).map(|i| (i * 7 % OUTPUTS) as i32).collect();
        Tensor::<2, Int>::from_data(TensorData::new(classes, [SLICES, BATCH]), device)
    };
    for smoothing in [0.0, 0.2] {
        are_the_same(
            smoothing == 0.0,
            |logits| cross_entropies(logits.clone(), classes(&logits.device()), smoothing),
            |logits, index| {
                let device = logits.device();
                let classes = classes(&device).slice(index..index + 1).squeeze_dim(0);
                CrossEntropyLossConfig::new()
                    .with_smoothing((smoothing > 0.0).then_some(smoothing))
                    .init(&device)
                    .forward(logits, classes)
            },
        );
    }
}

#[test]
fn gradients_of_inputs_are_those_of_each_network() {
    let device = Device::default().autodiff();
    let networks = networks(&device);
    let x = wave([SLICES, BATCH, INPUTS], 0.53, &device).require_grad();
    let (units, weights) = (units(true), wave([SLICES, BATCH, OUTPUTS], 0.71, &device));
    let y = cohort(&networks).forward(x.clone(), &units);
    let found = x.grad(&(y * weights.clone()).sum().backward()).unwrap();
    for (index, network) in networks.iter().enumerate() {
        let x = slice::<3, 2>(&x, index).detach().require_grad();
        let y = network.forward(x.clone(), units.slices()[index]);
        let gradients = (y * slice(&weights, index)).sum().backward();
        let expected = x.grad(&gradients).unwrap();
        assert_near("input", numbers(slice::<3, 2>(&found, index)), numbers(expected));
    }
}

#[test]
fn a_resumed_adam_goes_on_as_one_that_never_stopped() {
    let device = Device::default().autodiff();
    let mut all = cohort(&networks(&device));
    let (x, units) = (wave([SLICES, BATCH, INPUTS], 0.53, &device), units(false));
    let adam = AdamConfig::new().build();
    let mut uninterrupted = CohortAdam::new(adam.clone(), SLICES);
    let step = |adam: &mut CohortAdam, all: Cohort| {
        let loss = all.forward(x.clone(), &units).powi_scalar(2).sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &all);
        adam.step(&[1e-2; SLICES], all, gradients)
    };
    all = step(&mut uninterrupted, all);
    let [first, second] = uninterrupted.moments(&all);
    let mut resumed =
        CohortAdam::resumed(adam, uninterrupted.times().to_vec(), &all, [&first, &second]);
    let expected = step(&mut uninterrupted, all.clone());
    let found = step(&mut resumed, all);
    let weights = |cohort: &Cohort| numbers(cohort.hidden.weight.val());
    assert_eq!(weights(&found), weights(&expected));
    assert_eq!(resumed.times(), [2; SLICES]);
}

/// Two steps of Adam, its state taken out of a record and put into another, and a third step.
#[test]
fn a_state_goes_through_a_record_unchanged() {
    let device = Device::default().autodiff();
    let mut network = networks(&device).remove(0);
    let x: Tensor<2> = slice(&wave([SLICES, BATCH, INPUTS], 0.53, &device), 0);
    let step = |adam: &mut burn::optim::ModuleOptimizer, network: Network| {
        let loss = network.forward(x.clone(), Unit::Gelu.into()).powi_scalar(2).sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        adam.step(1e-2, network, gradients)
    };
    let mut adam = AdamConfig::new().init();
    for _ in 0..2 {
        network = step(&mut adam, network);
    }
    let state = AdamMoments::of_record(adam.to_record(), &network);
    assert_eq!(state.time, 2);
    let [first, second] = state.moments.each_ref().map(of_network);
    assert!(first != second && second.iter().all(|&square| square >= 0.0));
    let mut other = AdamConfig::new().init().load_record(state.into_record());
    let found = step(&mut other, network.clone());
    let fresh = step(&mut AdamConfig::new().init(), network.clone());
    let expected = of_network(&step(&mut adam, network));
    assert_eq!(of_network(&found), expected);
    assert_ne!(of_network(&fresh), expected, "the state matters");
}

#[test]
#[should_panic(expected = "3 networks need a unit each, got 2")]
fn a_unit_too_few_is_refused() {
    let device = Device::default();
    let all = cohort(&networks(&device));
    all.forward(wave([SLICES, BATCH, INPUTS], 0.5, &device), &SliceUnits::all(Unit::Gelu, 2));
}
