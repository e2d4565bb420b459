//! Compares with Burn's own layer, which stores the index of each result.

use burn::nn::PaddingConfig2d;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};
use gelu_training::layers::max_pool2d;

/// Returns images in which many pixels equal a neighbour.
fn pictures(shape: [usize; 4], device: &Device) -> Tensor<4> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 7919 % 11) as f32 - 5.0) / 4.0).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Returns the result and the input's gradient. Each result has another weight in the loss.
fn passes(pool: impl Fn(Tensor<4>) -> Tensor<4>, input: Tensor<4>) -> [TensorData; 2] {
    let input = input.require_grad();
    let pooled = pool(input.clone());
    let count = pooled.dims().iter().product::<usize>() as i64;
    let weights = Tensor::arange(1..1 + count, &pooled.device()).float().cast(pooled.dtype());
    let gradients = (pooled.clone() * weights.reshape(pooled.dims())).sum().backward();
    [pooled, input.grad(&gradients).unwrap()].map(Tensor::into_data)
}

#[track_caller]
fn assert_is_burns(layer: MaxPool2d, input: Tensor<4>) {
    let what = format!("{layer} of {:?}, {:?}", input.dims(), input.dtype());
    let found = passes(|x| max_pool2d(&layer, x), input.clone());
    assert_eq!(found, passes(|x| layer.forward(x), input), "{what}");
}

#[test]
fn pools_of_any_size_are_burns() {
    let device = Device::default().autodiff();
    let halves = || MaxPool2dConfig::new([2, 2]);
    for shape in [[1, 1, 2, 2], [2, 3, 5, 7], [3, 40, 32, 32], [1, 2, 2, 9]] {
        assert_is_burns(halves().init(), pictures(shape, &device));
    }
    let turned = pictures([2, 9, 6, 4], &device).permute([0, 3, 1, 2]);
    assert_is_burns(halves().init(), turned);
    for other in [
        MaxPool2dConfig::new([3, 3]),
        MaxPool2dConfig::new([2, 3]),
        halves().with_strides([1, 1]),
        halves().with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1)),
        halves().with_padding(PaddingConfig2d::Explicit(0, 0, 0, 0)),
        halves().with_padding(PaddingConfig2d::Same),
        halves().with_dilation([2, 2]),
        halves().with_ceil_mode(true),
    ] {
        assert_is_burns(other.init(), pictures([2, 3, 5, 7], &device));
    }
}

#[test]
fn other_types_are_pooled_too() {
    let device = Device::default().autodiff();
    for dtype in [FloatDType::F64, FloatDType::F16] {
        if device.supports_dtype(DType::from(dtype)) {
            let input = pictures([2, 3, 5, 6], &device).cast(dtype);
            assert_is_burns(MaxPool2dConfig::new([2, 2]).init(), input);
        }
    }
}

#[test]
fn a_nan_is_found_where_burn_finds_it() {
    let device = Device::default().autodiff();
    let input = Tensor::from_floats([[[[1.0, 3.0], [f32::NAN, 7.0]]]], &device);
    assert_is_burns(MaxPool2dConfig::new([2, 2]).init(), input);
}
