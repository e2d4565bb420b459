//! Tests of losses that contain a gradient, such as a gradient penalty: a backward pass written by
//! hand, differentiated once more. They run on the default device (`BURN_DEVICE` chooses among the
//! compiled backends).
//!
//! ```text
//! cargo test --release --test second_derivatives
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};
use gelu_core::GateHalf;
use gelu_core::functional::{self, Unit};

/// Returns every function with its default parameter, and some functions with another one.
fn units() -> impl Iterator<Item = Unit> {
    let others = [
        Unit::Elu { alpha: 0.3 },
        Unit::Celu { alpha: 2.5 },
        Unit::LeakyRelu { slope: 0.2 },
        Unit::Softplus { beta: 3.0 },
        Unit::ClippedGelu { limit: 0.5 },
        Unit::Hardtanh { limit: 2.5 },
        Unit::Softshrink { lambda: 1.5 },
        Unit::ThresholdedRelu { theta: -0.5 },
        Unit::LeakyRelu2 { slope: 0.2 },
        Unit::SmoothRelu2 { a: 1.5 },
    ];
    Unit::ALL.into_iter().chain(others)
}

fn wave(count: usize, frequency: f64, shift: f64) -> Vec<f64> {
    (0..count).map(|i| (frequency * i as f64 + shift).sin()).collect()
}

fn tensor<const D: usize>(
    values: &[f64],
    shape: [usize; D],
    dtype: DType,
    device: &Device,
) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (device, dtype))
}

/// Returns the types that a device can compute in, and a tolerance for each.
fn types(device: &Device) -> Vec<(DType, f64)> {
    let types = [(DType::F64, 1e-13), (DType::F32, 4e-6)];
    types.into_iter().filter(|(dtype, _)| device.supports_dtype(*dtype)).collect()
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

#[test]
fn gradients_of_the_backward_pass_are_those_of_its_formula() {
    let device = Device::default().autodiff();
    let mut x = wave(401, 0.61, 0.2);
    x.iter_mut().enumerate().for_each(|(i, x)| *x *= 0.03 * i as f64);
    x.extend([0.0, -30.0, 30.0, -1e4, 1e4]);
    let (count, dy) = (x.len(), wave(x.len(), 0.37, 1.0));
    let upstream = wave(count, 0.73, 2.0);
    for (dtype, digits) in types(&device) {
        for unit in units() {
            let of = |values: &[f64]| tensor(values, [count], dtype, &device);
            let (x, dy) = (of(&x).require_grad(), of(&dy).require_grad());
            let slopes = functional::unit_backward(x.clone(), dy.clone(), unit);
            let gradients = (slopes * of(&upstream)).sum().backward();
            let got = [x.grad(&gradients).unwrap(), dy.grad(&gradients).unwrap()].map(numbers);
            // These are the inputs as the device rounds them.
            let [x, dy] = [x, dy].map(numbers);
            for i in 0..count {
                let near = |got: f64, factor: f64, of: f64, what: &str| {
                    let allowed = digits * factor.abs() * (1.0 + of.abs());
                    let off = (got - factor * of).abs();
                    assert!(off <= allowed, "{unit}{what}({}) {dtype:?}: {got}, {of}", x[i]);
                };
                let (g, curvature) = (upstream[i], unit.second_derivative(x[i]));
                near(got[0][i], g * dy[i], curvature, "″");
                near(got[1][i], g, unit.derivative(x[i]), "′");
            }
        }
    }
}

#[test]
fn second_derivative_of_the_gelu_at_0_is_that_of_the_formula() {
    let device = Device::default().autodiff();
    let x = Tensor::<1>::from_floats([0.0], &device).require_grad();
    let slope = functional::unit_backward(x.clone(), x.ones_like(), Unit::Gelu);
    let curvature = x.grad(&slope.sum().backward()).unwrap().into_scalar::<f32>();
    // The expected value is 2/√(2π).
    assert!((curvature - 0.797_884_6).abs() < 1e-6, "{curvature}");
}

const BATCH: usize = 5;
const INPUTS: usize = 3;
const NEURONS: usize = 4;

/// W, b and v of `f(x) = Σ v·u(x·W + b)`, one after the other.
type Parameters = [f64; INPUTS * NEURONS + 2 * NEURONS];

/// Returns the mean of `(‖∇f(x)‖² − 1)²`, from the formula.
fn penalty(parameters: &Parameters, x: &[f64], unit: Unit) -> f64 {
    let (weight, rest) = parameters.split_at(INPUTS * NEURONS);
    let (bias, outer) = rest.split_at(NEURONS);
    let of_one = |x: &[f64]| {
        let slopes: Vec<f64> = (0..NEURONS)
            .map(|j| {
                let sum: f64 = (0..INPUTS).map(|i| x[i] * weight[i * NEURONS + j]).sum();
                outer[j] * unit.derivative(sum + bias[j])
            })
            .collect();
        let gradient = (0..INPUTS)
            .map(|i| (0..NEURONS).map(|j| weight[i * NEURONS + j] * slopes[j]).sum::<f64>());
        (gradient.map(|slope| slope * slope).sum::<f64>() - 1.0).powi(2)
    };
    x.chunks(INPUTS).map(of_one).sum::<f64>() / BATCH as f64
}

/// Returns the gradient of [`penalty`], computed with tensors.
fn penalty_gradient(parameters: &Parameters, x: &[f64], unit: Unit, device: &Device) -> Vec<f64> {
    let (weight, rest) = parameters.split_at(INPUTS * NEURONS);
    let (bias, outer) = rest.split_at(NEURONS);
    let dtype = DType::F64;
    let weight = tensor(weight, [INPUTS, NEURONS], dtype, device).require_grad();
    let [bias, outer] =
        [bias, outer].map(|values| tensor(values, [1, NEURONS], dtype, device).require_grad());
    let hidden = tensor(x, [BATCH, INPUTS], dtype, device).matmul(weight.clone()) + bias.clone();
    let outgoing = outer.clone().expand([BATCH, NEURONS]);
    let slopes = functional::unit_backward(hidden, outgoing, unit);
    let gradient = slopes.matmul(weight.clone().transpose());
    let square = gradient.powf_scalar(2.0).sum_dim(1);
    let gradients = (square - 1.0).powf_scalar(2.0).mean().backward();
    let weight = numbers(weight.grad(&gradients).unwrap());
    let rest = [bias, outer].map(|parameter| numbers(parameter.grad(&gradients).unwrap()));
    weight.into_iter().chain(rest.concat()).collect()
}

#[test]
fn a_gradient_penalty_has_the_gradient_of_its_difference_quotients() {
    let plain = Device::default().autodiff();
    if !plain.supports_dtype(DType::F64) {
        eprintln!("skipped: the device has no f64");
        return;
    }
    let x = wave(BATCH * INPUTS, 1.3, 0.4);
    let start: Parameters = wave(20, 0.9, 0.1).try_into().unwrap();
    for device in [plain.clone(), plain.gradient_checkpointing()] {
        for unit in units() {
            let found = penalty_gradient(&start, &x, unit, &device);
            for (place, found) in found.into_iter().enumerate() {
                let at = |step: f64| {
                    let mut parameters = start;
                    parameters[place] += step;
                    penalty(&parameters, &x, unit)
                };
                let h = 1e-5;
                let quotient = (at(h) - at(-h)) / (2.0 * h);
                let off = (found - quotient).abs();
                assert!(off <= 1e-8 * (1.0 + quotient.abs()), "{unit} {place}: {found} {quotient}");
            }
        }
    }
}

#[test]
fn the_backward_pass_of_a_gated_unit_is_differentiable() {
    let device = Device::default();
    if !device.supports_dtype(DType::F64) {
        eprintln!("skipped: the device has no f64");
        return;
    }
    let (x, dy) = (wave(12, 0.9, 0.3), wave(6, 1.7, 0.1));
    let weights = wave(12, 0.6, 0.7);
    let loss = |x: Tensor<2>, dy: Tensor<2>, unit, gate| {
        let weights = tensor(&weights, [2, 6], DType::F64, &x.device());
        (functional::gated_backward(x, dy, unit, gate) * weights).sum()
    };
    for unit in [Unit::Gelu, Unit::Silu, Unit::Tanh] {
        for gate in [GateHalf::First, GateHalf::Last] {
            let found = |device: &Device| {
                let tracked = tensor(&x, [2, 6], DType::F64, device).require_grad();
                let factor = tensor(&dy, [2, 3], DType::F64, device).require_grad();
                // Checkpointing drops these products and recomputes them.
                let [x, dy] = [tracked.clone() * 1.0, factor.clone() * 1.0];
                let gradients = loss(x, dy, unit, gate).backward();
                [tracked, factor].map(|leaf| numbers(leaf.grad(&gradients).unwrap()))
            };
            let autodiff = device.clone().autodiff();
            assert_eq!(found(&autodiff), found(&autodiff.clone().gradient_checkpointing()));
            let found = found(&autodiff);
            let at = |x: &[f64], dy: &[f64]| {
                let x = tensor(x, [2, 6], DType::F64, &device);
                let dy = tensor(dy, [2, 3], DType::F64, &device);
                loss(x, dy, unit, gate).into_scalar::<f64>()
            };
            let h = 1e-5;
            let shifted = |values: &[f64], place: usize, by: f64| {
                let mut values = values.to_vec();
                values[place] += by;
                values
            };
            let quotient = |of: &dyn Fn(f64) -> f64| (of(h) - of(-h)) / (2.0 * h);
            for (place, found) in found[0].iter().enumerate() {
                let expected = quotient(&|by| at(&shifted(&x, place, by), &dy));
                assert!((found - expected).abs() < 1e-8, "{unit} x {place}: {found} {expected}");
            }
            for (place, found) in found[1].iter().enumerate() {
                let expected = quotient(&|by| at(&x, &shifted(&dy, place, by)));
                assert!((found - expected).abs() < 1e-8, "{unit} dy {place}: {found} {expected}");
            }
        }
    }
}

#[test]
fn sixteen_bits_are_differentiated_in_f32() {
    let device = Device::default().autodiff();
    for dtype in [FloatDType::F16, FloatDType::BF16] {
        if !device.supports_dtype(DType::from(dtype)) {
            eprintln!("skipped: the device has no {dtype:?}");
            continue;
        }
        let values = Tensor::<1>::from_floats([-1.5, -0.25, 0.0, 0.5, 2.0], &device);
        let x = values.cast(dtype).detach().require_grad();
        let slopes = functional::unit_backward(x.clone(), x.ones_like(), Unit::Gelu);
        let got = x.grad(&slopes.sum().backward()).unwrap();
        assert_eq!(got.dtype(), DType::from(dtype));
        for (x, got) in numbers(x).into_iter().zip(numbers(got)) {
            let exact = Unit::Gelu.second_derivative(x);
            assert!((got - exact).abs() <= 5e-3 * exact.abs() + 1e-6, "{dtype:?} {x}: {got}");
        }
    }
}
