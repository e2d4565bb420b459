//! Compares gated units with PyTorch's, on the default device (`BURN_DEVICE` chooses among the compiled
//! backends).
//!
//! ```text
//! cargo test --release --test gated
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::tensor::{DType, Device, FloatDType, Int, Tensor, TensorData, Tolerance};
use gelu_core::functional::{self, Unit};
use gelu_core::{Activation, GateHalf};

/// `generate.py` writes this file and documents its rows.
const REFERENCES: &str = include_str!("references.csv");

struct Reference {
    unit: Unit,
    gate: GateHalf,
    x: Vec<f64>,
    dy: Vec<f64>,
    y: Vec<f64>,
    dx: Vec<f64>,
}

fn references() -> Vec<Reference> {
    REFERENCES
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let unit = cells[0].parse::<Activation>().unwrap().unit().unwrap();
            let gate = if cells[1] == "first" { GateHalf::First } else { GateHalf::Last };
            let mut numbers = cells[2..].iter().map(|cell| cell.parse().unwrap());
            let mut take = |count| numbers.by_ref().take(count).collect();
            let (x, dy, y, dx) = (take(12), take(6), take(6), take(12));
            Reference { unit, gate, x, dy, y, dx }
        })
        .collect()
}

/// Asserts that the errors are within `relative`. An expected number smaller than `least` counts as
/// `least`, because next to a derivative's zero the error of a difference counts.
fn assert_near(got: &TensorData, expected: &[f64], relative: f64, least: f64, what: &str) {
    let got: Vec<f64> = got.iter::<f64>().collect();
    assert_eq!(got.len(), expected.len(), "{what}");
    for (got, expected) in got.iter().zip(expected) {
        let error = (got - expected).abs();
        assert!(error <= relative * expected.abs().max(least), "{what}: {got}, not {expected}");
    }
}

#[test]
fn values_and_gradients_are_pytorchs() {
    let device = Device::default().autodiff();
    assert_eq!(references().len(), 8);
    let name = format!("{device:?}");
    let on_gpu = ["Vulkan", "Cuda"].iter().any(|backend| name.contains(backend));
    let least = if on_gpu { 0.1 } else { 1e-3 };
    for (dtype, relative) in [
        (FloatDType::F32, 5e-7),
        (FloatDType::F64, 1e-12),
        (FloatDType::F16, 2e-3),
        (FloatDType::BF16, 1.6e-2),
    ] {
        if !device.supports_dtype(DType::from(dtype)) {
            eprintln!("skipped: the device has no {dtype:?}");
            continue;
        }
        for Reference { unit, gate, x, dy, y: expected, dx: slopes } in references() {
            let options = (&device, DType::from(dtype));
            let x = Tensor::<2>::from_data(TensorData::new(x, [2, 6]), options).require_grad();
            let dy = Tensor::<2>::from_data(TensorData::new(dy, [2, 3]), options);
            let y = functional::gated(x.clone(), unit, gate);
            let gradients = (y.clone() * dy.clone()).sum().backward();
            let dx = x.grad(&gradients).unwrap();
            let what = format!("{unit:?} {gate:?} {dtype:?}");
            assert_eq!((y.dtype(), dx.dtype()), (dtype.into(), dtype.into()), "{what}");
            let by_hand =
                functional::gated_backward(x.clone().inner(), dy.clone().inner(), unit, gate);
            if matches!(dtype, FloatDType::F32 | FloatDType::F64) {
                assert_near(&y.clone().into_data(), &expected, relative, least, &what);
                assert_near(&dx.clone().into_data(), &slopes, relative, least, &what);
            } else {
                // For these types, the inputs are rounded, too.
                let absolute = |got: TensorData, expected: &[f64]| {
                    for (got, expected) in got.iter::<f64>().zip(expected) {
                        let allowed = 4.0 * relative * (1.0 + expected.abs());
                        assert!((got - expected).abs() <= allowed, "{what}: {got} {expected}");
                    }
                };
                absolute(y.clone().into_data(), &expected);
                absolute(dx.clone().into_data(), &slopes);
            }
            assert_same(&device, by_hand.into_data(), dx.clone().into_data());
            assert_pair_is(&x.inner(), &dy.inner(), unit, gate, [y.inner(), dx]);
        }
    }
}

/// Asserts that both are bit-identical, except on CUDA, whose compiler may fuse other products with sums
/// in another kernel.
#[track_caller]
fn assert_same(device: &Device, got: TensorData, expected: TensorData) {
    if !format!("{device:?}").contains("Cuda") {
        return got.assert_eq(&expected, true);
    }
    let digits = match got.dtype() {
        DType::F16 => 1e-3,
        DType::BF16 => 8e-3,
        _ => 5e-7,
    };
    assert_eq!(got.dtype(), expected.dtype());
    got.assert_approx_eq::<f32>(&expected, Tolerance::relative(digits).set_absolute(1e-7));
}

/// Asserts that a gated unit of two tensors gives bit-identical results and gradients.
#[track_caller]
fn assert_pair_is(
    x: &Tensor<2>,
    dy: &Tensor<2>,
    unit: Unit,
    half: GateHalf,
    [y, dx]: [Tensor<2>; 2],
) {
    let device = x.device().autodiff();
    let columns = dy.dims()[1];
    let halves = |x: &Tensor<2>| {
        let [first, last] = [0, columns].map(|start| x.clone().narrow(1, start, columns));
        match half {
            GateHalf::First => [first, last],
            GateHalf::Last => [last, first],
        }
    };
    let leaf = |x: Tensor<2>| Tensor::from_inner(x).to_device(&device).require_grad();
    let [gate, value] = halves(x).map(leaf);
    let found = functional::gated_pair(gate.clone(), value.clone(), unit);
    assert_same(&device, found.clone().into_data(), y.into_data());
    let gradients = (found * Tensor::from_inner(dy.clone())).sum().backward();
    for (input, expected) in [gate, value].into_iter().zip(halves(&dx)) {
        let gradient = input.grad(&gradients).unwrap().into_data();
        assert_same(&device, gradient, expected.into_data());
    }
}

#[test]
#[should_panic(expected = "a gate and its value have one shape")]
fn a_value_of_another_shape_is_refused() {
    let device = Device::default();
    functional::gated_pair(
        Tensor::<2>::ones([2, 3], &device),
        Tensor::ones([2, 4], &device),
        Unit::Silu,
    );
}

/// Tests sizes on both sides of every vector width, block and chunk of the kernels.
#[test]
fn any_size_is_the_product_of_activation_and_value() {
    let device = Device::default();
    for [rows, columns] in
        [[1, 1], [3, 2], [5, 7], [2, 31], [4, 33], [1, 1025], [3, 2048], [1, 70_001], [70_000, 1]]
    {
        // The numbers come from the host, because a device that emulates a GPU on the processor would
        // take a minute for each tensor.
        let waves = |columns: usize, frequency: f32| {
            let numbers = (0..rows * columns).map(|i| (i as f32 * frequency).sin());
            let data = TensorData::new(numbers.collect::<Vec<f32>>(), [rows, columns]);
            Tensor::<2>::from_data(data, &device)
        };
        let (x, dy) = (waves(2 * columns, 0.37) * 4.0, waves(columns, 0.73));
        for (unit, gate) in [(Unit::Gelu, GateHalf::First), (Unit::Silu, GateHalf::Last)] {
            let first = x.clone().slice([0..rows, 0..columns]);
            let last = x.clone().slice([0..rows, columns..2 * columns]);
            let (g, v) = match gate {
                GateHalf::First => (first, last),
                GateHalf::Last => (last, first),
            };
            let tolerance = Tolerance::relative(1e-6).set_absolute(1e-6);
            let y = functional::gated(x.clone(), unit, gate).into_data();
            let pair = functional::gated_pair(g.clone(), v.clone(), unit).into_data();
            assert_same(&device, pair, y.clone());
            let expected = functional::unit(g.clone(), unit) * v.clone();
            y.assert_approx_eq::<f32>(&expected.into_data(), tolerance);
            let dgate = functional::unit_backward(g.clone(), dy.clone() * v, unit);
            let dvalue = functional::unit(g, unit) * dy.clone();
            let expected = match gate {
                GateHalf::First => Tensor::cat(vec![dgate, dvalue], 1),
                GateHalf::Last => Tensor::cat(vec![dvalue, dgate], 1),
            };
            let dx = functional::gated_backward(x.clone(), dy.clone(), unit, gate);
            dx.into_data().assert_approx_eq::<f32>(&expected.into_data(), tolerance);
        }
    }
}

#[test]
fn any_layout_gives_the_same() {
    let device = Device::default();
    let x = Tensor::<1, Int>::arange(0..48, &device).float() * 0.25 - 6.0;
    let x: Tensor<3> = x.reshape([2, 4, 6]);
    let expected = functional::geglu(x.clone()).into_data();
    // This tensor has the same numbers in another memory order.
    let transposed = x.clone().permute([2, 0, 1]) * 1.0;
    functional::geglu(transposed.permute([1, 2, 0])).into_data().assert_eq(&expected, true);
    let rows = functional::geglu(x.clone().slice([1..2, 1..3, 0..6])).into_data();
    let whole = Tensor::<3>::from_data(expected, &device).slice([1..2, 1..3, 0..3]);
    rows.assert_eq(&whole.into_data(), true);
    let expanded = x.slice([0..1, 0..1, 0..6]).expand([3, 2, 6]);
    assert_eq!(functional::geglu(expanded).dims(), [3, 2, 3]);
}

#[test]
fn empty_tensors_stay_empty() {
    let device = Device::default().autodiff();
    for shape in [[0, 4], [3, 0]] {
        let x = Tensor::<2>::zeros(shape, &device).require_grad();
        let y = functional::swiglu(x.clone());
        assert_eq!(y.dims(), [shape[0], shape[1] / 2]);
        let dx = functional::gated_backward(
            x.inner(),
            Tensor::zeros([shape[0], shape[1] / 2], &Device::default()),
            Unit::Silu,
            GateHalf::First,
        );
        assert_eq!(dx.dims(), shape);
    }
}

#[test]
fn names_are_the_functions() {
    let x = Tensor::<1>::from_floats([1.0, -2.0, 3.0, 5.0], &Device::default());
    let values = |y: Tensor<1>| y.into_data().try_to_vec::<f32>().unwrap();
    // The expected values are 3 Φ(1), −10 Φ(−2), 3 σ(1), −10 σ(−2) in 30 digits (mpmath), rounded.
    for (got, expected) in [
        (values(functional::geglu(x.clone())), [2.524_034_24, -0.227_501_319]),
        (values(functional::swiglu(x.clone())), [2.193_175_74, -1.192_029_22]),
        (values(functional::reglu(x)), [3.0, 0.0]),
    ] {
        for (got, expected) in got.iter().zip(expected) {
            assert!((f64::from(*got) - expected).abs() <= 6e-7, "{got} {expected}");
        }
    }
}

#[test]
#[should_panic(expected = "halves the last dimension of its input, which has to be even; got a \
                           tensor of [2, 3]")]
fn an_odd_last_dimension_is_refused() {
    functional::geglu(Tensor::<2>::ones([2, 3], &Device::default()));
}

#[test]
#[should_panic(expected = "half as long as its input in the last dimension, got [2, 4] for an \
                           input of [2, 4]")]
fn a_gradient_of_another_shape_is_refused() {
    let x = Tensor::<2>::ones([2, 4], &Device::default());
    functional::gated_backward(x.clone(), x, Unit::Gelu, GateHalf::First);
}
