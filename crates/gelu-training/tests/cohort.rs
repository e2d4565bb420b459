//! A network has its bits whatever the cohort that it is in, and on however many threads.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use gelu_core::functional::{self, Unit};
use gelu_core::random::{Draw, DropoutMask, Key};
use gelu_training::cohort::{
    CohortAdam, CohortLinear, SliceDropout, SliceUnit, SliceUnits, clip_by_slice_norm,
    cross_entropies,
};
use gelu_training::{AdamConfig, clip_by_global_norm, layers};

const STEPS: usize = 4;
const CLASSES: usize = 10;
const DROPPED: f64 = 0.1;

#[derive(Module, Debug)]
struct Cohort {
    hidden: CohortLinear,
    output: CohortLinear,
}

#[derive(Module, Debug)]
struct Network {
    hidden: Linear,
    output: Linear,
}

#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    inputs: usize,
    width: usize,
}

/// What a seed stands for: the network, its batch, its activation and its rate.
struct Seed(usize);

impl Seed {
    fn network(&self, Sizes { inputs, width, .. }: Sizes, device: &Device) -> Network {
        // Not drawn: the generator is one for all threads.
        let layer = |inputs: usize, outputs: usize, frequency: f32| {
            let size = (inputs as f32).powf(-0.5);
            let number = |i: usize| size * (i as f32 * (frequency + 0.01 * self.0 as f32)).sin();
            let weights = (0..inputs * outputs).map(number).collect();
            let weights = TensorData::new::<f32, _>(weights, [inputs, outputs]);
            Linear {
                weight: Param::from_tensor(Tensor::from_data(weights, device)),
                bias: Some(Param::from_tensor(Tensor::zeros([outputs], device))),
            }
        };
        Network { hidden: layer(inputs, width, 0.7), output: layer(width, CLASSES, 0.9) }
    }

    fn inputs(&self, Sizes { batch, inputs, .. }: Sizes, device: &Device) -> Tensor<2> {
        let number = |i: usize| ((i * (7 + self.0)) as f32 * 0.37).sin();
        let numbers = (0..batch * inputs).map(number).collect();
        Tensor::from_data(TensorData::new::<f32, _>(numbers, [batch, inputs]), device)
    }

    fn classes(&self, Sizes { batch, .. }: Sizes, device: &Device) -> Tensor<1, Int> {
        let classes = (0..batch).map(|i| ((i * 3 + self.0) % CLASSES) as i32).collect();
        Tensor::from_data(TensorData::new::<i32, _>(classes, [batch]), device)
    }

    fn unit(&self, step: usize) -> SliceUnit {
        let unit = [Unit::Gelu, Unit::Relu, Unit::Tanh][self.0 % 3];
        SliceUnit { unit, dropout: Some(SliceDropout::new(DROPPED, self.draw(step))) }
    }

    fn draw(&self, step: usize) -> Draw {
        Draw { seed: self.0 as u64, step: step as u64 }
    }

    fn rate(&self) -> f64 {
        1e-3 * (1 + self.0 % 4) as f64
    }
}

/// The bits of a seed's losses and of its network's parameters in the end.
type Bits = (Vec<u32>, Vec<u32>);

fn bits<const D: usize>(x: Tensor<D>) -> Vec<u32> {
    x.into_data().iter::<f32>().map(f32::to_bits).collect()
}

fn of_layers(layers: [&Linear; 2]) -> Vec<u32> {
    let of = |layer: &Linear| {
        [bits(layer.weight.val()), bits(layer.bias.as_ref().unwrap().val())].concat()
    };
    layers.map(of).concat()
}

/// Trains seeds as one program; `spoil` may change the inputs of one.
fn together(
    seeds: &[usize],
    sizes: Sizes,
    spoil: impl Fn(usize, Tensor<2>) -> Tensor<2>,
) -> Vec<Bits> {
    let device = Device::default().autodiff();
    let seeds: Vec<Seed> = seeds.iter().map(|&seed| Seed(seed)).collect();
    let networks: Vec<_> = seeds.iter().map(|seed| seed.network(sizes, &device)).collect();
    let of = |layer: fn(&Network) -> &Linear| {
        CohortLinear::of(&networks.iter().map(|network| layer(network).clone()).collect::<Vec<_>>())
    };
    let mut cohort = Cohort { hidden: of(|n| &n.hidden), output: of(|n| &n.output) };
    let mut adam = CohortAdam::new(AdamConfig::new().build(), seeds.len());
    let rates: Vec<f64> = seeds.iter().map(Seed::rate).collect();
    let inputs = seeds.iter().map(|seed| spoil(seed.0, seed.inputs(sizes, &device))).collect();
    let x = Tensor::<2>::stack::<3>(inputs, 0);
    let classes = seeds.iter().map(|seed| seed.classes(sizes, &device)).collect();
    let classes = Tensor::<1, Int>::stack::<2>(classes, 0);
    let mut losses = vec![Vec::new(); seeds.len()];
    for step in 0..STEPS {
        let units: SliceUnits = seeds.iter().map(|seed| seed.unit(step)).collect();
        let features = cohort.hidden.forward(x.clone(), &units);
        let loss = cross_entropies(cohort.output.forward_linear(features), classes.clone(), 0.0);
        losses.iter_mut().zip(bits(loss.clone())).for_each(|(all, loss)| all.push(loss));
        let gradients = GradientsParams::from_grads(loss.sum().backward(), &cohort);
        let gradients = clip_by_slice_norm(gradients, &cohort, 0.3);
        cohort = adam.step(&rates, cohort, gradients);
    }
    let parameters = |index| of_layers([&cohort.hidden.slice(index), &cohort.output.slice(index)]);
    losses.into_iter().enumerate().map(|(index, losses)| (losses, parameters(index))).collect()
}

/// Trains one seed by the operations of a single network.
fn alone(seed: usize, sizes: Sizes) -> Bits {
    let (device, seed) = (Device::default().autodiff(), Seed(seed));
    let mut network = seed.network(sizes, &device);
    let mut adam = AdamConfig::new().init();
    let (x, classes) = (seed.inputs(sizes, &device), seed.classes(sizes, &device));
    let mut losses = Vec::new();
    for step in 0..STEPS {
        let weights = Linear { bias: None, ..network.hidden.clone() };
        let bias = network.hidden.bias.as_ref().unwrap().val();
        let mask = DropoutMask::new(DROPPED, Key::known(seed.draw(step), &device));
        let (product, unit) = (layers::linear(&weights, x.clone()), seed.unit(step).unit);
        let features = functional::bias_activation_dropout(product, bias, unit, Some(mask));
        let loss = burn::nn::loss::CrossEntropyLossConfig::new()
            .init(&device)
            .forward(layers::linear(&network.output, features), classes.clone());
        losses.extend(bits(loss.clone()));
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        let gradients = clip_by_global_norm(gradients, &network, 0.3);
        network = adam.step(seed.rate(), network, gradients);
    }
    (losses, of_layers([&network.hidden, &network.output]))
}

fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// A tiny network, one whose products are narrow or shared by threads, and a wide batch.
const ALL_SIZES: [Sizes; 4] = [
    Sizes { batch: 7, inputs: 2, width: 16 },
    Sizes { batch: 100, inputs: 3, width: 64 },
    Sizes { batch: 64, inputs: 200, width: 300 },
    Sizes { batch: 1000, inputs: 40, width: 70 },
];

#[test]
fn a_network_has_the_bits_that_it_has_alone() {
    for sizes in ALL_SIZES {
        let expected: Vec<Bits> = (0..16).map(|seed| on(1, || alone(seed, sizes))).collect();
        assert_ne!(expected[0], expected[3], "seeds differ");
        for (threads, slices) in [(1, 1), (1, 3), (1, 16), (2, 3), (2, 16)] {
            for start in (0..16 - slices + 1).step_by(slices) {
                let seeds: Vec<usize> = (start..start + slices).collect();
                let found = on(threads, || together(&seeds, sizes, |_, x| x));
                let expected = &expected[start..start + slices];
                assert!(found == expected, "{slices} from {start} on {threads} threads");
            }
        }
    }
}

#[test]
fn a_network_that_diverges_leaves_the_others_alone() {
    let sizes = ALL_SIZES[1];
    let expected = together(&[0, 1, 2], sizes, |_, x| x);
    for bad in [f32::NAN, f32::INFINITY, 1e38] {
        let spoil = |seed, x: Tensor<2>| if seed == 1 { x.mul_scalar(bad) } else { x };
        let found = together(&[0, 1, 2], sizes, spoil);
        assert!(found[1].0.iter().all(|&loss| !f32::from_bits(loss).is_finite()), "{bad} diverges");
        assert!(found[0] == expected[0] && found[2] == expected[2], "{bad}");
    }
}
