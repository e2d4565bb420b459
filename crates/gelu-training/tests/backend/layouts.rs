//! The same numbers in another memory order, as after a transposition, have the same results.

use burn::module::Param;
use burn::nn::conv::Conv2dConfig;
use burn::nn::pool::MaxPool2dConfig;
use burn::nn::{BatchNormConfig, LayerNormConfig, Linear, RmsNormConfig};
use burn::tensor::{Device, Tensor, TensorData};
use burn_optim::Optimizer;
use gelu_core::functional::Unit;
use gelu_core::random::Draw;
use gelu_core::{Activation, Channels};
use gelu_training::cohort::{CohortLinear, SliceDropout, SliceUnit};
use gelu_training::{AdamConfig, AdamState, SgdConfig, SgdState, layers};

/// Creates tensors in row-major order, or with the reverse memory order.
#[derive(Clone)]
struct Maker {
    device: Device,
    turns: bool,
}

fn reversed<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    x.permute::<isize>(std::array::from_fn(|axis| (D - 1 - axis) as isize))
}

impl Maker {
    /// Returns sine values, all of them different.
    fn wave<const D: usize>(&self, shape: [usize; D], frequency: f64) -> Tensor<D> {
        let numbers = (1..=shape.iter().product()).map(|i| (frequency * i as f64).sin() as f32);
        let data = TensorData::new(numbers.collect::<Vec<_>>(), shape);
        let plain = Tensor::from_data(data, &self.device);
        match self.turns {
            true => reversed(Tensor::from_data(reversed(plain).into_data(), &self.device)),
            false => plain,
        }
    }

    fn param<const D: usize>(&self, shape: [usize; D], frequency: f64) -> Param<Tensor<D>> {
        Param::from_tensor(self.wave(shape, frequency))
    }

    /// Returns the output of a layer, and the gradients for the inputs of the sum of its weighted outputs. The gradient
    /// that the layer gets has the memory order of the others.
    fn differentiated<const D: usize, const P: usize>(
        &self,
        x: Tensor<D>,
        parameter: Option<&Param<Tensor<P>>>,
        forward: impl FnOnce(Tensor<D>) -> Tensor<D>,
    ) -> Vec<TensorData> {
        let x = x.require_grad();
        let y = forward(x.clone());
        let weights = Self { turns: false, ..self.clone() }.wave(y.dims(), 0.71);
        // A gradient passes a permutation as another view of its memory.
        let loss = match self.turns {
            true => (reversed(y.clone()) * reversed(weights)).sum(),
            false => (y.clone() * weights).sum(),
        };
        let gradients = loss.backward();
        let of_x = x.grad(&gradients).unwrap().into_data();
        let of_parameter = parameter.map(|parameter| parameter.val().grad(&gradients).unwrap());
        [y.into_data(), of_x].into_iter().chain(of_parameter.map(Tensor::into_data)).collect()
    }
}

fn linear(by: &Maker) -> Vec<TensorData> {
    let layer = Linear { weight: by.param([3, 5], 0.53), bias: None };
    by.differentiated(by.wave([4, 3], 0.37), Some(&layer.weight), |x| layers::linear(&layer, x))
}

fn convolution(by: &Maker, channels: usize, side: usize) -> Vec<TensorData> {
    let mut layer = Conv2dConfig::new([channels, channels], [3, 3]).init(&by.device);
    layer.weight = by.param([channels, channels, 3, 3], 0.53);
    layer.bias = Some(by.param([channels], 0.9));
    let x = by.wave([2, channels, side, side + 1], 0.37);
    let forward = |x| layers::conv2d(&layer, x);
    let mut all = by.differentiated(x.clone(), Some(&layer.weight), forward);
    all.extend(by.differentiated(x, layer.bias.as_ref(), forward).pop());
    all
}

fn max_pool(by: &Maker) -> Vec<TensorData> {
    let layer = MaxPool2dConfig::new([2, 2]).init();
    let x = by.wave([2, 3, 4, 6], 0.37);
    by.differentiated::<4, 1>(x, None, |x| layers::max_pool2d(&layer, x))
}

fn batch_norm(by: &Maker) -> Vec<TensorData> {
    let layer = BatchNormConfig::new(3).init(&by.device);
    let gelu = Activation::Gelu.init(Channels::Shared, &by.device);
    let x = by.wave([2, 3, 4, 5], 0.37);
    by.differentiated(x, Some(&layer.gamma), |x| layers::batch_norm_activation(&layer, &gelu, x))
}

fn layer_norm(by: &Maker) -> Vec<TensorData> {
    let layer = LayerNormConfig::new(9).init(&by.device);
    let forward = |x| layers::layer_norm(&layer, 1e-5, x);
    by.differentiated(by.wave([4, 9], 0.37), Some(&layer.gamma), forward)
}

fn rms_norm(by: &Maker) -> Vec<TensorData> {
    let layer = RmsNormConfig::new(9).init(&by.device);
    let forward = |x| layers::rms_norm(&layer, x);
    by.differentiated(by.wave([4, 9], 0.37), Some(&layer.gamma), forward)
}

fn attention(by: &Maker) -> Vec<TensorData> {
    let x = by.wave([2, 5, 24], 0.37);
    by.differentiated::<3, 1>(x, None, |x| layers::causal_attention(x, 2))
}

fn cohort(by: &Maker) -> Vec<TensorData> {
    let layer = CohortLinear { weight: by.param([3, 4, 6], 0.53), bias: by.param([3, 1, 6], 0.9) };
    let unit = |slice| SliceUnit {
        unit: [Unit::Gelu, Unit::Elu { alpha: 0.1 }, Unit::Tanh][slice],
        dropout: Some(SliceDropout::new(0.3, Draw { seed: slice as u64, step: 8 })),
    };
    let units = (0..3).map(unit).collect();
    let x = by.wave([3, 5, 4], 0.37);
    by.differentiated(x, Some(&layer.weight), |x| layer.forward(x, &units))
}

fn steps(by: &Maker) -> Vec<TensorData> {
    let [w, g, m] = [0.37, 0.53, 0.71].map(|frequency| by.wave([4, 5], frequency));
    let [v, greatest] = [0.9, 1.7].map(|frequency| by.wave([4, 5], frequency).abs());
    let state = |max_moment_2| AdamState {
        time: 3,
        moment_1: m.clone(),
        moment_2: v.clone(),
        max_moment_2,
    };
    let adam = AdamConfig::new().with_weight_decay(0.1);
    let plain = adam.build().step(0.1, w.clone(), g.clone(), Some(state(None)));
    let amsgrad = adam.with_amsgrad(true).build();
    let amsgrad = amsgrad.step(0.1, w.clone(), g.clone(), Some(state(Some(greatest))));
    let sgd = SgdConfig::new().build().step(0.1, w, g, Some(SgdState { velocity: m.clone() }));
    let of_adam = |(w, state): (Tensor<2>, Option<AdamState<2>>)| {
        let AdamState { moment_1, moment_2, max_moment_2, .. } = state.unwrap();
        [w, moment_1, moment_2].into_iter().chain(max_moment_2)
    };
    let of_sgd = [sgd.0, sgd.1.unwrap().velocity];
    of_adam(plain).chain(of_adam(amsgrad)).chain(of_sgd).map(Tensor::into_data).collect()
}

#[test]
fn memory_in_another_order_changes_no_result() {
    type Case = (&'static str, bool, fn(&Maker) -> Vec<TensorData>);
    let cases: [Case; 10] = [
        ("linear", true, linear),
        ("convolution", true, |by| convolution(by, 3, 6)),
        ("convolution of many channels", true, |by| convolution(by, 16, 12)),
        ("max pool", true, max_pool),
        ("batch norm", true, batch_norm),
        ("layer norm", true, layer_norm),
        ("root mean square norm", true, rms_norm),
        ("attention", true, attention),
        ("cohort", true, cohort),
        ("optimisers", false, steps),
    ];
    for (name, differentiates, results) in cases {
        let device = match differentiates {
            true => Device::default().autodiff(),
            false => Device::default(),
        };
        let [plain, turned] =
            [false, true].map(|turns| results(&Maker { device: device.clone(), turns }));
        for (place, (plain, turned)) in plain.iter().zip(&turned).enumerate() {
            assert_eq!(plain.shape(), turned.shape(), "{name} {place}");
            for (plain, turned) in plain.iter::<f64>().zip(turned.iter::<f64>()) {
                let off = (plain - turned).abs();
                assert!(off <= 1e-5 * (1.0 + plain.abs()), "{name} {place}: {turned}, not {plain}");
            }
        }
    }
}
