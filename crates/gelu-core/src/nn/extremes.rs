//! Tests of learnable activations at the limits of their parameters and inputs.

use crate::{LearnableGeluConfig, LearnableSwishConfig, XieluConfig};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use burn_core::module::Param;
use burn_core::tensor::{DType, Device, FloatDType, Tensor};

/// Inputs and parameters: usual numbers, and numbers up to the limits of f32.
const SIZES: [f32; 10] = [0.0, 1e-45, 1e-38, 1e-20, 0.5, 3.0, 85.0, 200.0, 1e20, f32::MAX];

fn signed() -> Vec<f32> {
    SIZES.into_iter().flat_map(|size| [size, -size]).collect()
}

fn learned(value: f32, dtype: FloatDType, device: &Device) -> Param<Tensor<1>> {
    let value = Tensor::<1>::from_floats([value], device).cast(dtype).detach();
    Param::from_tensor(value.require_grad())
}

/// Returns the value at x, the gradient for x, and the gradients for the parameters.
fn numbers(
    x: f32,
    parameters: &[&Param<Tensor<1>>],
    dtype: FloatDType,
    device: &Device,
    forward: impl Fn(Tensor<1>) -> Tensor<1>,
) -> Vec<f64> {
    let x = Tensor::<1>::from_floats([x], device).cast(dtype).detach().require_grad();
    let y = forward(x.clone());
    let gradients = y.clone().sum().backward();
    let one = |tensor: Option<Tensor<1>>| tensor.expect("all depends on it").into_scalar::<f64>();
    let learned = parameters.iter().map(|parameter| one(parameter.val().grad(&gradients)));
    [y.into_scalar::<f64>(), one(x.grad(&gradients))].into_iter().chain(learned).collect()
}

#[test]
fn neither_values_nor_gradients_are_nan_whatever_was_learned() {
    let mut wrong: Vec<String> = Vec::new();
    let device = Device::default().autodiff();
    let infinite = [f32::INFINITY, f32::NEG_INFINITY];
    for dtype in [FloatDType::F32, FloatDType::F64] {
        if !device.supports_dtype(DType::from(dtype)) {
            std::eprintln!("skipped: the device has no {dtype:?}");
            continue;
        }
        for a in signed() {
            for x in signed().into_iter().chain(infinite) {
                let mut check = |layer: String, numbers: Vec<f64>| {
                    if numbers.iter().any(|number| number.is_nan()) {
                        wrong.push(format!("{layer} in {dtype:?} at {x:e}: {numbers:?}"));
                    }
                };
                let mut swish = LearnableSwishConfig::new().init(&device);
                swish.beta = learned(a, dtype, &device);
                let of = |x| swish.forward(x);
                let got = numbers(x, &[&swish.beta], dtype, &device, of);
                check(format!("swish of {a:e}"), got);
                for b in [-200.0, -85.0, 0.0, 1.0, 200.0, f32::MAX] {
                    let mut gelu = LearnableGeluConfig::new().init(&device);
                    gelu.mean = learned(a, dtype, &device);
                    gelu.log_standard_deviation = learned(b, dtype, &device);
                    let parameters = [&gelu.mean, &gelu.log_standard_deviation];
                    let got = numbers(x, &parameters, dtype, &device, |x| gelu.forward(x));
                    check(format!("GELU of {a:e} and {b:e}"), got);
                    let mut xielu = XieluConfig::new().init(&device);
                    xielu.alpha_p = learned(a, dtype, &device);
                    xielu.alpha_n = learned(b, dtype, &device);
                    let parameters = [&xielu.alpha_p, &xielu.alpha_n];
                    let got = numbers(x, &parameters, dtype, &device, |x| xielu.forward(x));
                    check(format!("xIELU of {a:e} and {b:e}"), got);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are NaN, {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}

#[test]
fn a_distance_that_f32_does_not_hold_is_far_on_its_side() {
    let device = Device::default();
    let x = || Tensor::<1>::from_floats([f32::MAX, f32::MIN, 2.0], &device);
    let value = |mean: f64| {
        let layer = LearnableGeluConfig::new().with_mean(mean).init(&device);
        layer.forward(x()).into_data().iter::<f32>().collect::<Vec<_>>()
    };
    // Φ is 1 far above μ and 0 far below.
    assert_eq!(value(-3e38), [f32::MAX, 0.0, 2.0]);
    assert_eq!(value(3e38), [f32::MAX, 0.0, 0.0]);
}

#[test]
fn xielu_grows_without_bound_on_both_sides_however_small_its_curvatures() {
    let device = Device::default().autodiff();
    let mut layer = XieluConfig::new().init(&device);
    layer.alpha_p = learned(-200.0, FloatDType::F32, &device);
    layer.alpha_n = learned(-1e30, FloatDType::F32, &device);
    let x = [f32::INFINITY, f32::NEG_INFINITY, 1e20, -1e20, 4.0];
    let y = layer.forward(Tensor::<1>::from_floats(x, &device)).into_data();
    // αₚ is negligible compared with β, and αₙ is β: the result is x/2 above 0 and (e^x − 1)/2
    // below.
    let expected = [f32::INFINITY, f32::INFINITY, 5e19, -0.5, 2.0];
    assert_eq!(y.iter::<f32>().collect::<Vec<_>>(), expected);
}

#[test]
#[should_panic(
    expected = "starts from a μ from -3.4e38 to 3.4e38 and a finite positive σ, got 1e39"
)]
fn a_mean_that_f32_does_not_hold_is_refused() {
    LearnableGeluConfig::new().with_mean(1e39).init(&Device::default());
}

#[test]
#[should_panic(expected = "the constants of `own` start from -3.4e38 to 3.4e38, got [1.0, 1e39]")]
fn constants_that_f32_does_not_hold_are_refused() {
    crate::Activation::custom_learned("own", &[1.0, 1e39], |x, c| x * c[1].clone());
}
