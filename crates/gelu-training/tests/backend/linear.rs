//! Compares with the sums written out in f64.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};
use gelu_training::layers;

/// Returns a layer without bias.
fn layer(weight: Tensor<2>) -> Linear {
    Linear { weight: Param::from_tensor(weight), bias: None }
}

fn wave(shape: [usize; 2], frequency: f64) -> Vec<f32> {
    (0..shape[0] * shape[1]).map(|i| (frequency * i as f64).sin() as f32).collect()
}

fn tensor(values: &[f32], shape: [usize; 2], device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), device)
}

/// Returns Σ left(row, k)·right(k, column).
fn product(
    [rows, inner, columns]: [usize; 3],
    left: impl Fn(usize, usize) -> f32,
    right: impl Fn(usize, usize) -> f32,
) -> Vec<f64> {
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let sum = |(row, column)| -> f64 {
        (0..inner).map(|k| f64::from(left(row, k)) * f64::from(right(k, column))).sum()
    };
    places.map(sum).collect()
}

#[track_caller]
fn assert_near(what: &str, found: Tensor<2>, expected: &[f64], terms: usize) {
    // On CUDA, Burn multiplies f32 in TF32, which has ten bits after the binary point. The numbers here are
    // up to 1.
    let short = format!("{:?}", found.device()).contains("Cuda") && found.dtype() == DType::F32;
    let (each, least) = if short { (2f64.powi(-11), 2f64.powi(-11)) } else { (1e-6, 1e-6) };
    let found: Vec<f64> = found.into_data().iter::<f64>().collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= each * terms as f64 + least, "{what} {place}: {f}, not {e}");
    }
}

#[test]
fn products_and_gradients_of_any_size_are_the_sums() {
    let device = Device::default().autodiff();
    for [batch, inputs, outputs] in
        [[1, 1, 1], [3, 5, 7], [17, 300, 2], [64, 33, 700], [600, 9, 520], [1030, 40, 3]]
    {
        let (x, w) = (wave([batch, inputs], 0.37), wave([inputs, outputs], 0.53));
        let dy = wave([batch, outputs], 0.71);
        let input = tensor(&x, [batch, inputs], &device).require_grad();
        let weight = tensor(&w, [inputs, outputs], &device).require_grad();
        let y = layers::linear(&layer(weight.clone()), input.clone());
        let gradients = (y.clone() * tensor(&dy, [batch, outputs], &device)).sum().backward();
        let what = |of: &str| format!("{batch} {inputs} {outputs}, {of}");
        let x = |row: usize, column: usize| x[row * inputs + column];
        let w = |row: usize, column: usize| w[row * outputs + column];
        let dy = |row: usize, column: usize| dy[row * outputs + column];
        let expected = product([batch, inputs, outputs], x, w);
        assert_near(&what("result"), y, &expected, inputs);
        let expected = product([batch, outputs, inputs], dy, |k, column| w(column, k));
        assert_near(&what("input"), input.grad(&gradients).unwrap(), &expected, outputs);
        let expected = product([inputs, batch, outputs], |row, k| x(k, row), dy);
        assert_near(&what("weight"), weight.grad(&gradients).unwrap(), &expected, batch);
    }
}

#[test]
fn transposed_factors_and_doubles_are_multiplied_too() {
    let device = Device::default();
    let (x, w) = (wave([4, 3], 0.37), wave([5, 4], 0.53));
    let (turned, weight) = (tensor(&x, [4, 3], &device), tensor(&w, [5, 4], &device));
    let expected = product([3, 4, 5], |row, k| x[k * 3 + row], |k, column| w[column * 4 + k]);
    let y = layers::linear(&layer(weight.clone().transpose()), turned.clone().transpose());
    assert_near("f32", y, &expected, 4);
    if device.supports_dtype(DType::F64) {
        let double = |x: Tensor<2>| x.transpose().cast(FloatDType::F64);
        assert_near("f64", layers::linear(&layer(double(weight)), double(turned)), &expected, 4);
    }
}

#[test]
fn transposed_factors_and_gradients_have_their_gradients() {
    let device = Device::default().autodiff();
    let (x, w, dy) = (wave([4, 3], 0.37), wave([5, 4], 0.53), wave([5, 3], 0.71));
    let turned = |values: &[f32], shape| tensor(values, shape, &device).transpose();
    let input = turned(&x, [4, 3]).require_grad();
    let weight = turned(&w, [5, 4]).require_grad();
    let y = layers::linear(&layer(weight.clone()), input.clone());
    let gradients = (y * turned(&dy, [5, 3])).sum().backward();
    let expected = product([3, 5, 4], |row, k| dy[k * 3 + row], |k, column| w[k * 4 + column]);
    assert_near("input", input.grad(&gradients).unwrap(), &expected, 5);
    let expected = product([4, 3, 5], |row, k| x[row * 3 + k], |k, column| dy[column * 3 + k]);
    assert_near("weight", weight.grad(&gradients).unwrap(), &expected, 3);
}

/// With an empty batch, the result is empty and the weight's gradient is 0.
#[test]
fn an_empty_batch_stays_empty_in_any_rank() {
    let device = Device::default().autodiff();
    let weight = tensor(&wave([4, 6], 0.3), [4, 6], &device).require_grad();
    for shape in [[2, 0, 4], [0, 3, 4]] {
        // Burn's `reshape` reads a 0 as "keep this dimension".
        let input = Tensor::<3>::ones(shape, &device).require_grad();
        let y = layers::linear(&layer(weight.clone()), input.clone());
        assert_eq!(y.dims(), [shape[0], shape[1], 6]);
        let gradients = y.sum().backward();
        assert_eq!(input.grad(&gradients).unwrap().dims(), shape);
        assert_eq!(weight.grad(&gradients).unwrap().abs().sum().into_scalar::<f32>(), 0.0);
    }
}

#[test]
fn constants_have_no_gradient() {
    let device = Device::default().autodiff();
    let (x, w) = (wave([4, 3], 0.37), wave([3, 2], 0.53));
    let weight = tensor(&w, [3, 2], &device).require_grad();
    let input = tensor(&x, [4, 3], &device);
    let gradients = layers::linear(&layer(weight.clone()), input.clone()).sum().backward();
    let expected = product([3, 4, 2], |row, k| x[k * 3 + row], |_, _| 1.0);
    assert_near("weight", weight.grad(&gradients).unwrap(), &expected, 4);
    assert!(input.grad(&gradients).is_none());
}

#[test]
#[should_panic(expected = "a linear layer of 4 inputs got 3")]
fn other_inputs_are_refused() {
    let device = Device::default();
    layers::linear(&layer(Tensor::zeros([4, 2], &device)), Tensor::<2>::zeros([2, 3], &device));
}
