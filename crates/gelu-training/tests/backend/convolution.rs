//! Compares with PyTorch's convolutions in f64, which `convolution.py` writes to `convolution.csv`,
//! and with Burn's own.

use burn::module::Param;
use burn::nn::PaddingConfig2d;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::{Device, Distribution, Tensor, TensorData};
use gelu_training::layers;
use proptest::prelude::*;

const BATCH: usize = 2;
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

/// A line of the script's file.
struct Case {
    name: String,
    layer: Conv2d,
    input: Tensor<4>,
    /// The result, and the gradients for input, weight and bias.
    expected: [Vec<f64>; 4],
}

impl Case {
    fn parse(line: &str, device: &Device) -> Self {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers = |text: &str| -> Vec<usize> {
            text.split(' ').map(|number| number.parse().unwrap()).collect()
        };
        let pair = |text: &str| -> [usize; 2] { numbers(text).try_into().unwrap() };
        let (channels, outputs) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
        let ([height, width], kernel) = (pair(fields[3]), pair(fields[4]));
        let padding: [usize; 4] = numbers(fields[6]).try_into().unwrap();
        let [top, left, bottom, right] = padding;
        let mut layer = Conv2dConfig::new([channels, outputs], kernel)
            .with_stride(pair(fields[5]))
            .with_padding(PaddingConfig2d::Explicit(top, left, bottom, right))
            .with_dilation(pair(fields[7]))
            .init(device);
        let weight = wave([outputs, channels, kernel[0], kernel[1]], 0.53, 1.0, device);
        layer.weight = Param::from_tensor(weight);
        layer.bias = Some(Param::from_tensor(wave([outputs], 0.9, 2.0, device)));
        let values =
            |text: &str| text.split(' ').map(|value| value.parse::<f64>().unwrap()).collect();
        Self {
            name: fields[0].to_owned(),
            layer,
            input: wave([BATCH, channels, height, width], 0.37, 0.0, device),
            expected: [8, 9, 10, 11].map(|field| values(fields[field])),
        }
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

#[track_caller]
fn assert_near(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
    for (place, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= 2e-5 * scale, "{what} {place}: {f}, not {e}");
    }
}

fn every_so_manieth(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().step_by(STEP).collect()
}

/// Returns the result of `forward` and its gradients.
fn gradients(
    layer: &Conv2d,
    input: Tensor<4>,
    forward: impl Fn(&Conv2d, Tensor<4>) -> Tensor<4>,
) -> [Vec<f64>; 4] {
    let input = input.require_grad();
    let output = forward(layer, input.clone());
    let dy = wave(output.dims(), 0.71, 3.0, &output.device());
    let gradients = (output.clone() * dy).sum().backward();
    let bias = layer.bias.as_ref().map(|bias| values(bias.val().grad(&gradients).unwrap()));
    [
        values(output),
        values(input.grad(&gradients).unwrap()),
        values(layer.weight.val().grad(&gradients).unwrap()),
        bias.unwrap_or_default(),
    ]
}

#[test]
fn results_and_gradients_are_pytorchs() {
    let device = Device::default().autodiff();
    let mut lines = include_str!("convolution.csv").lines();
    lines.next();
    for line in lines {
        let Case { name, layer, input, expected } = Case::parse(line, &device);
        let [y, dx, dw, db] = gradients(&layer, input, layers::conv2d);
        assert_near(&format!("{name}, result"), &every_so_manieth(y), &expected[0]);
        assert_near(&format!("{name}, input"), &every_so_manieth(dx), &expected[1]);
        assert_near(&format!("{name}, weight"), &dw, &expected[2]);
        assert_near(&format!("{name}, bias"), &db, &expected[3]);
    }
}

/// Tests layers as wide as the networks', which need several tiles and threads.
#[test]
fn layers_of_the_networks_sizes_are_burns() {
    let device = Device::default().autodiff();
    for (channels, outputs, size, kernel, stride, padding) in [
        (96, 96, 32, 3, 1, 1),
        (192, 192, 8, 3, 1, 0),
        (192, 192, 6, 1, 1, 0),
        (64, 128, 32, 3, 2, 1),
        (64, 128, 32, 1, 2, 0),
        (256, 256, 8, 3, 1, 1),
    ] {
        let layer = Conv2dConfig::new([channels, outputs], [kernel, kernel])
            .with_stride([stride, stride])
            .with_padding(PaddingConfig2d::Explicit(padding, padding, padding, padding))
            .init(&device);
        let input = wave([3, channels, size, size], 0.37, 0.0, &device);
        let found = gradients(&layer, input.clone(), layers::conv2d);
        let expected = gradients(&layer, input, Conv2d::forward);
        for (what, (found, expected)) in
            ["result", "input", "weight", "bias"].iter().zip(found.iter().zip(&expected))
        {
            assert_near(&format!("{layer:?}, {what}"), found, expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn any_layer_is_burns(
        (groups, channels, outputs) in (1usize..3, 1usize..4, 1usize..4),
        size in prop::array::uniform2(1usize..14),
        kernel in prop::array::uniform2(1usize..5),
        stride in prop::array::uniform2(1usize..4),
        dilation in prop::array::uniform2(1usize..3),
        padding in prop::array::uniform4(0usize..4),
        (same, biased, batch, seed) in (any::<bool>(), any::<bool>(), 1usize..4, any::<u64>()),
    ) {
        let [top, left, bottom, right] = padding;
        let fits = |axis: usize, padding: usize| {
            (kernel[axis] - 1) * dilation[axis] < size[axis] + padding
        };
        let same = same && dilation == [1, 1];
        prop_assume!(same || (fits(0, top + bottom) && fits(1, left + right)));
        let padding = match same {
            true => PaddingConfig2d::Same,
            false => PaddingConfig2d::Explicit(top, left, bottom, right),
        };
        let device = Device::default().autodiff();
        device.seed(seed);
        let layer = Conv2dConfig::new([channels * groups, outputs * groups], kernel)
            .with_stride(stride)
            .with_dilation(dilation)
            .with_padding(padding)
            .with_groups(groups)
            .with_bias(biased)
            .init(&device);
        let shape = [batch, channels * groups, size[0], size[1]];
        let input = Tensor::random(shape, Distribution::Normal(0.0, 1.0), &device);
        let found = gradients(&layer, input.clone(), layers::conv2d);
        let expected = gradients(&layer, input, Conv2d::forward);
        for (found, expected) in found.iter().zip(&expected) {
            assert_near(&format!("{layer:?}"), found, expected);
        }
    }
}

/// The results of permutations and expansions are read without a copy.
#[test]
fn other_memory_orders_are_read_rightly() {
    let device = Device::default();
    let layer = Conv2dConfig::new([3, 2], [3, 3]).init(&device);
    let last: Tensor<4> = wave([2, 5, 6, 3], 0.37, 0.0, &device);
    let permuted = last.permute([0, 3, 1, 2]);
    let copied = Tensor::from_data(permuted.to_data(), &device);
    let (one, two) = (layers::conv2d(&layer, permuted), layers::conv2d(&layer, copied));
    one.into_data().assert_eq(&two.into_data(), true);
}

#[test]
fn nothing_in_gives_nothing() {
    let device = Device::default();
    let layer = Conv2dConfig::new([3, 2], [3, 3]).init(&device);
    let output = layers::conv2d(&layer, Tensor::zeros([0, 3, 5, 5], &device));
    assert_eq!(output.dims(), [0, 2, 3, 3]);
}

#[test]
#[should_panic(expected = "takes 3 channels, got pictures with 4")]
fn other_channels_are_refused() {
    let device = Device::default();
    let layer = Conv2dConfig::new([3, 2], [3, 3]).init(&device);
    layers::conv2d(&layer, Tensor::zeros([1, 4, 5, 5], &device));
}
