//! Compares with PyTorch's batch norm and activations in f64, which `batch_norm.py` writes to `batch_norm.csv`,
//! and with Burn's own.

use burn::module::{Module, Param, RunningState};
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_training::layers;

/// The script writes every `STEP`th number of the result and of the input's gradient.
const STEP: usize = 29;

/// Returns the script's numbers.
fn wave<const D: usize>(
    shape: [usize; D],
    frequency: f64,
    phase: f64,
    device: &Device,
) -> Tensor<D> {
    let count: usize = shape.iter().product();
    let values = (0..count).map(|i| (frequency * i as f64 + phase).sin() as f32);
    Tensor::from_data(TensorData::new(values.collect::<Vec<f32>>(), shape), device)
}

fn layer(channels: usize, device: &Device) -> BatchNorm {
    let mut layer = BatchNormConfig::new(channels).with_epsilon(1e-3).init(device);
    layer.gamma = Param::from_tensor(wave([channels], 0.9, 2.0, device) + 1.0);
    layer.beta = Param::from_tensor(wave([channels], 0.6, 1.0, device));
    layer.running_mean = RunningState::new(wave([channels], 1.1, 0.5, device));
    layer.running_var = RunningState::new(wave([channels], 1.3, 0.2, device) + 1.5);
    layer
}

fn input<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    wave(shape, 0.37, 0.0, device) * 2.0 + 3.0
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn some(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().step_by(STEP).collect()
}

#[track_caller]
fn assert_near(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
    for (place, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= 2e-5 * scale, "{what} {place}: {f}, not {e}");
    }
}

/// Returns the result of `forward`, and its gradients for input, scale and shift.
fn gradients<const D: usize>(
    layer: &BatchNorm,
    input: Tensor<D>,
    forward: impl Fn(&BatchNorm, Tensor<D>) -> Tensor<D>,
) -> [Vec<f64>; 4] {
    let input = input.require_grad();
    let output = forward(layer, input.clone());
    let dy = wave(output.dims(), 0.71, 3.0, &output.device());
    let gradients = (output.clone() * dy).sum().backward();
    [
        values(output),
        values(input.grad(&gradients).unwrap()),
        values(layer.gamma.val().grad(&gradients).unwrap()),
        values(layer.beta.val().grad(&gradients).unwrap()),
    ]
}

fn activation(name: &str, channels: usize, device: &Device) -> Option<ActivationLayer> {
    let activation = (name != "none").then(|| name.parse::<Activation>().unwrap());
    activation.map(|activation| activation.init(Channels::First(channels), device))
}

fn forward<const D: usize>(
    layer: &BatchNorm,
    activation: Option<&ActivationLayer>,
    input: Tensor<D>,
) -> Tensor<D> {
    match activation {
        Some(activation) => layers::batch_norm_activation(layer, activation, input),
        None => layers::batch_norm(layer, input),
    }
}

fn assert_as_pytorch<const D: usize>(name: &str, shape: &[usize], expected: &[Vec<f64>]) {
    let device = Device::default().autodiff();
    let shape: [usize; D] = shape.try_into().unwrap();
    let layer = layer(shape[1], &device);
    let activation = activation(name, shape[1], &device);
    let run = |layer: &BatchNorm, x| forward(layer, activation.as_ref(), x);
    let valid = layer.valid();
    let evaluated = run(&valid, input(shape, &Device::default()));
    let [y, dx, dgamma, dbeta] = gradients(&layer, input(shape, &device), run);
    let what = |of: &str| format!("{name} {shape:?}, {of}");
    assert_near(&what("result"), &some(y), &expected[0]);
    assert_near(&what("input"), &some(dx), &expected[1]);
    assert_near(&what("scale"), &dgamma, &expected[2]);
    assert_near(&what("shift"), &dbeta, &expected[3]);
    assert_near(&what("evaluated"), &some(values(evaluated)), &expected[4]);
}

#[test]
fn results_and_gradients_are_pytorchs() {
    for line in include_str!("batch_norm.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let shape: Vec<usize> = fields[1].split(' ').map(|size| size.parse().unwrap()).collect();
        let values =
            |text: &&str| text.split(' ').map(|value| value.parse::<f64>().unwrap()).collect();
        let expected: Vec<Vec<f64>> = fields[2..].iter().map(values).collect();
        match shape.len() {
            2 => assert_as_pytorch::<2>(fields[0], &shape, &expected),
            3 => assert_as_pytorch::<3>(fields[0], &shape, &expected),
            _ => assert_as_pytorch::<4>(fields[0], &shape, &expected),
        }
    }
}

/// Tests sizes as large as a network's, which threads share, and the running statistics afterwards.
#[test]
fn large_layers_and_their_running_statistics_are_burns() {
    let device = Device::default().autodiff();
    let shape = [9, 32, 24, 24];
    let (ours, burns) = (layer(32, &device), layer(32, &device));
    for _ in 0..2 {
        let found = gradients(&ours, input(shape, &device), layers::batch_norm);
        let expected = gradients(&burns, input(shape, &device), BatchNorm::forward);
        for (what, (found, expected)) in
            ["result", "input", "scale", "shift"].iter().zip(found.iter().zip(&expected))
        {
            assert_near(what, found, expected);
        }
    }
    let (ours, burns) = (ours.valid(), burns.valid());
    for (ours, burns) in
        [(&ours.running_mean, &burns.running_mean), (&ours.running_var, &burns.running_var)]
    {
        assert_near("running", &values(ours.value_sync()), &values(burns.value_sync()));
    }
}

#[test]
fn frozen_layers_keep_their_statistics_and_pass_gradients_on() {
    let device = Device::default().autodiff();
    let frozen = layer(3, &device).freeze();
    let x = input([2, 3, 4, 4], &device).require_grad();
    let gelu = Activation::Gelu.init(Channels::First(3), &device);
    let y = layers::batch_norm_activation(&frozen, &gelu, x.clone());
    let expected = gelu.forward(frozen.forward(x.clone()));
    assert_near("result", &values(y.clone()), &values(expected.clone()));
    let [found, expected] =
        [y, expected].map(|y| values(x.grad(&(y.clone() * y).sum().backward()).unwrap()));
    assert_near("input", &found, &expected);
    let mean = values(frozen.running_mean.value_sync());
    assert_near("running mean", &mean, &values(wave([3], 1.1, 0.5, &device)));
}

#[test]
fn activations_without_a_kernel_follow_by_themselves() {
    let device = Device::default().autodiff();
    let layer = layer(3, &device);
    let x = input([2, 3, 4, 4], &device);
    for activation in
        [Activation::LearnableGelu, Activation::custom("cube", |x| x.powf_scalar(3.0))]
    {
        let activation = activation.init(Channels::First(3), &device);
        let y = layers::batch_norm_activation(&layer, &activation, x.clone());
        let expected = activation.forward(layer.forward(x.clone()));
        assert_near("result", &values(y), &values(expected));
    }
}

#[test]
fn input_stays_what_it_is_for_who_else_holds_it() {
    let device = Device::default();
    let (layer, x) = (layer(3, &device), input([2, 3, 4, 4], &device));
    let before = values(x.clone());
    let relu = Activation::Relu.init(Channels::First(3), &device);
    layers::batch_norm_activation(&layer, &relu, x.clone());
    assert_eq!(values(x), before);
}

/// Returns the layer in a 16-bit type.
fn narrowed(mut layer: BatchNorm, dtype: FloatDType) -> BatchNorm {
    let [gamma, beta] = [&layer.gamma, &layer.beta]
        .map(|parameter| Param::from_tensor(parameter.val().cast(dtype).detach()));
    (layer.gamma, layer.beta) = (gamma, beta);
    layer.running_mean = RunningState::new(layer.running_mean.value_sync().cast(dtype));
    layer.running_var = RunningState::new(layer.running_var.value_sync().cast(dtype));
    layer
}

/// The square of 300 overflows f16. PyTorch 2.15 also gives ±1 for `BatchNorm1d(1)` on these numbers.
#[test]
fn sixteen_bits_are_normalised_by_the_right_statistics() {
    let device = Device::default().autodiff();
    for dtype in [FloatDType::F16, FloatDType::BF16] {
        if !device.supports_dtype(DType::from(dtype)) {
            println!("skipped: {device:?} has no {dtype:?}");
            continue;
        }
        let layer = narrowed(BatchNormConfig::new(1).init(&device), dtype);
        let x = || Tensor::<2>::from_floats([[300.0], [-300.0]], &device).cast(dtype);
        let y = layers::batch_norm(&layer, x());
        assert_eq!(y.dtype(), DType::from(dtype));
        assert_near("result", &values(y), &[1.0, -1.0]);
        // The running variance is 0.9·1 + 0.1·300², because 300² is the mean square of two numbers around 0.
        assert_near("variance", &values(layer.running_var.value_sync()), &[9000.9]);
        for _ in 0..200 {
            layers::batch_norm(&layer, x());
        }
        let evaluated = layers::batch_norm(&layer.valid(), x().inner());
        assert_near("evaluated", &values(evaluated), &[1.0, -1.0]);
    }
}

/// Compares with the same layer in f32, on the same rounded numbers.
#[test]
fn gradients_of_sixteen_bits_are_those_of_32() {
    let device = Device::default().autodiff();
    if !device.supports_dtype(DType::F16) {
        return println!("skipped: {device:?} has no f16");
    }
    for shape in [[4, 3, 1, 1], [2, 3, 4, 4]] {
        let run = |dtype: FloatDType| {
            let layer = narrowed(narrowed(layer(3, &device), FloatDType::F16), dtype);
            let x = (wave(shape, 0.37, 0.0, &device) * 900.0).cast(FloatDType::F16);
            let x = x.cast(dtype).detach().require_grad();
            let gelu = Activation::Gelu.init(Channels::First(3), &device);
            let y = layers::batch_norm_activation(&layer, &gelu, x.clone());
            let dy = wave(shape, 0.71, 3.0, &device).cast(dtype);
            // The factor is needed because the input's gradients are below the range of f16.
            let gradients = (y.clone() * dy * 1000.0).sum().backward();
            [
                values(y),
                values(x.grad(&gradients).unwrap()),
                values(layer.gamma.val().grad(&gradients).unwrap()),
            ]
        };
        for (found, expected) in run(FloatDType::F16).iter().zip(run(FloatDType::F32)) {
            let largest = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
            for (f, e) in found.iter().zip(&expected) {
                assert!((f - e).abs() <= 2e-3 * largest, "{shape:?}: {found:?}, {expected:?}");
            }
        }
    }
}

/// As in PyTorch, an empty batch changes no statistic.
#[test]
fn an_empty_batch_leaves_the_statistics_as_they_are() {
    let device = Device::default().autodiff();
    let layer = layer(3, &device);
    let before = [&layer.running_mean, &layer.running_var].map(|x| values(x.value_sync()));
    let y = layers::batch_norm(&layer, Tensor::<4>::zeros([0, 3, 4, 4], &device));
    assert_eq!(y.dims(), [0, 3, 4, 4]);
    let after = [&layer.running_mean, &layer.running_var].map(|x| values(x.value_sync()));
    assert_eq!(after, before);
}

#[test]
#[should_panic(expected = "trained on more than one number per channel, got [1, 3]")]
fn training_on_one_number_per_channel_is_refused() {
    let device = Device::default().autodiff();
    layers::batch_norm(&layer(3, &device), Tensor::<2>::zeros([1, 3], &device));
}

#[test]
fn one_number_per_channel_is_evaluated() {
    let device = Device::default();
    let y = layers::batch_norm(&layer(3, &device), Tensor::<2>::zeros([1, 3], &device));
    assert!(values(y).iter().all(|y| y.is_finite()));
}

#[test]
#[should_panic(expected = "takes [batch, 3, ...], got [2, 4, 5, 5]")]
fn other_channels_are_refused() {
    let device = Device::default();
    layers::batch_norm(&layer(3, &device), Tensor::<4>::zeros([2, 4, 5, 5], &device));
}
