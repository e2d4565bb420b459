//! Values and derivatives against references of 60 digits, through the public functions.
//!
//! `reference.csv` is written by `generate.py` beside it. The bounds stand in one table; one that
//! is far above what is measured fails too, so that it cannot go stale.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};
use gelu_core::{Activation, Unit};

struct Reference {
    x: f32,
    value: f64,
    derivative: f64,
}

/// The references of one activation.
fn references(activation: &Activation) -> Vec<Reference> {
    let bits = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let lines = include_str!("reference.csv").lines().skip(1);
    let fields = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let mine = fields.filter(|fields| fields[0] == activation.name());
    mine.map(|fields| Reference {
        x: f32::from_bits(bits(fields[1]) as u32),
        value: f64::from_bits(bits(fields[2])),
        derivative: f64::from_bits(bits(fields[3])),
    })
    .collect()
}

/// Distance in units of the last place of the exact result rounded to f32.
fn ulps(got: f32, exact: f64) -> f64 {
    let rounded = (exact as f32).abs();
    let spacing = f64::from(f32::from_bits(rounded.to_bits() + 1)) - f64::from(rounded);
    (f64::from(got) - exact).abs() / spacing
}

fn values(activation: &Activation, x: &[f32], device: &Device) -> Vec<f32> {
    activation.forward(Tensor::<1>::from_floats(x, device)).into_data().try_to_vec().unwrap()
}

fn derivatives(activation: &Activation, x: &[f32], device: &Device) -> Vec<f32> {
    let x = Tensor::<1>::from_floats(x, &device.clone().autodiff()).require_grad();
    let gradients = activation.forward(x.clone()).sum().backward();
    x.grad(&gradients).unwrap().into_data().try_to_vec().unwrap()
}

#[test]
fn flex_is_within_its_bounds_at_every_reference() {
    // What is measured (largest error in ULP, value and derivative) and must stay so.
    const BOUND: f64 = 0.51;
    let device = Device::default();
    for activation in Activation::built_in() {
        let references = references(&activation);
        assert!(references.len() > 300, "{activation} has references");
        let x: Vec<f32> = references.iter().map(|r| r.x).collect();
        let got =
            values(&activation, &x, &device).into_iter().zip(derivatives(&activation, &x, &device));
        for (reference, (value, derivative)) in references.iter().zip(got) {
            let Reference { x, value: v, derivative: d } = reference;
            assert!(ulps(value, *v) <= BOUND, "{activation}({x:e}) = {value:e}, not {v:e}");
            assert!(
                ulps(derivative, *d) <= BOUND,
                "{activation}′({x:e}) = {derivative:e}, not {d:e}"
            );
        }
    }
}

#[test]
fn bounds_are_not_loose() {
    // Some result has to be almost half a ULP off, or `ulps` does not measure.
    let device = Device::default();
    let references = references(&Activation::Gelu);
    let x: Vec<f32> = references.iter().map(|r| r.x).collect();
    let got = values(&Activation::Gelu, &x, &device);
    let worst = references.iter().zip(got).map(|(r, y)| ulps(y, r.value)).fold(0.0, f64::max);
    assert!((0.45..=0.51).contains(&worst), "{worst}");
}

#[test]
fn derivative_is_that_of_the_forward_function() {
    // Central differences of the f64 functions, whose step error is about 1e-10.
    for unit in Unit::ALL {
        for step in -80..=80 {
            let x = f64::from(step) * 0.1 + 0.013;
            let h = 1e-5;
            let difference = (unit.value(x + h) - unit.value(x - h)) / (2.0 * h);
            let error = (unit.derivative(x) - difference).abs();
            assert!(error < 1e-9, "{unit:?}′({x}): {error:e} from the difference quotient");
        }
    }
}

#[test]
fn special_values_are_the_limits() {
    let device = Device::default();
    let special = [f32::NEG_INFINITY, -0.0, 0.0, f32::INFINITY, f32::NAN];
    for activation in Activation::built_in() {
        let got = values(&activation, &special, &device);
        let at_minus_infinity = if activation == Activation::Elu { -1.0 } else { 0.0 };
        assert_eq!(got[0], at_minus_infinity, "{activation}");
        assert_eq!(got[2].to_bits(), 0.0f32.to_bits(), "{activation}(0)");
        assert_eq!(got[3], f32::INFINITY, "{activation}");
        assert!(got[4].is_nan(), "{activation}(NaN)");
        if activation != Activation::Relu {
            assert_eq!(got[1].to_bits(), (-0.0f32).to_bits(), "{activation}(−0)");
        }
        let slopes = derivatives(&activation, &special, &device);
        assert_eq!((slopes[0], slopes[3]), (0.0, 1.0), "{activation}′(±∞)");
        assert!(slopes[4].is_nan(), "{activation}′(NaN)");
    }
}

#[test]
fn no_finite_input_gives_nan() {
    let device = Device::default();
    let x: Vec<f32> =
        (0..=u32::MAX).step_by(65_521).map(f32::from_bits).filter(|x| x.is_finite()).collect();
    for activation in Activation::built_in() {
        assert!(values(&activation, &x, &device).iter().all(|y| !y.is_nan()), "{activation}");
        assert!(
            derivatives(&activation, &x, &device).iter().all(|y| y.is_finite()),
            "{activation}′"
        );
    }
}

#[test]
fn half_types_are_rounded_once() {
    for (dtype, digits, smallest) in [
        // Digits behind the point, and the smallest subnormal's exponent.
        (FloatDType::F16, -10, -24),
        (FloatDType::BF16, -7, -133),
    ] {
        for activation in Activation::built_in() {
            let unit = activation.unit().unwrap();
            let x =
                Tensor::<1>::from_floats([-5.5, -3.0, -0.75, 0.1, 1.0, 7.0], &Device::default())
                    .cast(dtype);
            let exact: Vec<f64> =
                x.clone().into_data().iter::<f64>().map(|x| unit.value(x)).collect();
            let y = activation.forward(x);
            assert_eq!(y.dtype(), DType::from(dtype));
            for (y, exact) in y.into_data().iter::<f64>().zip(exact) {
                assert!(
                    (y - exact).abs()
                        <= 0.51 * (exact.abs() * 2f64.powi(digits)).max(2f64.powi(smallest)),
                    "{activation} {dtype:?}: {y} for {exact}"
                );
            }
        }
    }
}

#[test]
fn any_layout_and_rank_gives_the_same_as_a_plain_tensor() {
    let device = Device::default();
    let plain: Vec<f32> = (0..24).map(|i| i as f32 * 0.5 - 6.0).collect();
    let x = Tensor::<3>::from_data(TensorData::new(plain, [2, 3, 4]), &device);
    for activation in Activation::built_in() {
        let whole = activation.forward(x.clone());
        let transposed = activation.forward(x.clone().swap_dims(0, 2)).swap_dims(0, 2);
        transposed.into_data().assert_eq(&whole.clone().into_data(), true);
        let sliced = activation.forward(x.clone().slice([0..2, 1..3, 0..4]));
        sliced.into_data().assert_eq(&whole.clone().slice([0..2, 1..3, 0..4]).into_data(), true);
        let empty = activation.forward(Tensor::<3>::zeros([0, 3, 4], &device));
        assert_eq!(empty.dims(), [0, 3, 4]);
    }
}

#[test]
fn shared_tensors_are_not_overwritten() {
    let x = Tensor::<1>::from_floats([-1.0, 2.0], &Device::default());
    let _ = Activation::Gelu.forward(x.clone());
    assert_eq!(x.into_data().try_to_vec::<f32>().unwrap(), [-1.0, 2.0]);
}

#[test]
fn gradient_is_the_same_with_gradient_checkpointing() {
    let slope = |device: Device| {
        let x = Tensor::<1>::from_floats([-2.0, -0.5, 1.5], &device).require_grad();
        let y = Activation::Gelu.forward(Activation::GeluTanh.forward(x.clone()) * 2.0);
        x.grad(&y.sum().backward()).unwrap().into_data().try_to_vec::<f32>().unwrap()
    };
    let device = Device::default().autodiff();
    assert_eq!(slope(device.clone()), slope(device.gradient_checkpointing()));
}
