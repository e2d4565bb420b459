//! One suite for every backend. It runs on the default device, which `BURN_DEVICE` chooses among the backends that
//! are compiled in:
//!
//! ```text
//! BURN_DEVICE=vulkan cargo test --release -p gelu-core --features vulkan --test backend
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod measure;

use burn::tensor::{DType, Device, FloatDType, Int, Tensor, TensorData, Tolerance};
use gelu_core::functional::{self, Unit};
use gelu_core::random::{Draw, DropoutMask, Key};
use gelu_core::{Activation, GateHalf, HiddenLayerConfig};
use measure::{Of, compute, spacing};

/// Returns numbers from −13 to 13, the neighbourhood of the derivatives' zeros, and small numbers.
fn inputs() -> Vec<f32> {
    let sweep = (-26_000..=26_000).map(|step| step as f32 * 5e-4 + 1.7e-5);
    let zeros = [0.751_791_5f32, 0.752_461_4, 1.192_431_2, 1.278_464_5]
        .map(|zero| (0..400).map(move |step| -f32::from_bits(zero.to_bits() - 200 + step)));
    let small = (0..80).flat_map(|power| [1.0, -1.0].map(|sign| sign * 0.7f32.powi(power)));
    sweep.chain(zeros.into_iter().flatten()).chain(small).collect()
}

#[test]
fn values_and_derivatives_are_within_their_bounds() {
    let (x, device) = (inputs(), Device::default());
    let through_vulkan = format!("{device:?}").contains("Vulkan");
    let mut outside = Vec::new();
    for unit in Unit::ALL {
        // Bounds in units of the last place. Backends with kernels satisfy them everywhere, backends without kernels
        // from −5 on.
        for of in [Of::Value, Of::Derivative] {
            let bound = match (unit, of) {
                (Unit::Gelu | Unit::ClippedGelu { .. }, _) => 4.0,
                // The formula has a difference around |x| = 1.
                (Unit::Cauchy, Of::Derivative) => 10.0,
                // The formula has three quotients, and Vulkan allows an error of 2.5 ULP for each.
                (Unit::SmoothRelu2 { .. }, Of::Derivative) if through_vulkan => 10.0,
                _ if has_kernel(&device) => 8.0,
                _ => 16.0,
            };
            // Next to a derivative's zero that the formula does not factor out, the error of a difference counts.
            let zero = match (unit, of) {
                (Unit::GeluTanh, Of::Derivative) => -0.752_461_4,
                (Unit::GeluSigmoid, Of::Derivative) => -0.751_154,
                (Unit::Silu, Of::Derivative) => -1.278_464_5,
                (Unit::Mish, Of::Derivative) => -1.192_431_2,
                _ => f32::INFINITY,
            };
            let least = |x: f32| if (x - zero).abs() < 0.5 { 2f64.powi(-24) } else { 0.0 };
            let (mut worst, mut above) = ((0.0, 0.0), [0; 3]);
            for (&x, result) in x.iter().zip(compute(of, unit, &x, &device)) {
                let exact = of.exact(unit, x);
                let error = (f64::from(result) - exact).abs();
                let small = exact.abs() < f64::from(f32::MIN_POSITIVE);
                let allowed = (small && result.abs() < f32::MIN_POSITIVE)
                    || (x < -5.0 && !has_kernel(&device) && error < 1e-7);
                let ulps = if allowed { 0.0 } else { error / spacing(exact).max(least(x)) };
                for (count, limit) in above.iter_mut().zip([0.5, 1.0, 2.0]) {
                    *count += usize::from(ulps > limit);
                }
                if ulps > worst.0 || ulps.is_nan() {
                    worst = (ulps, x);
                }
            }
            let (ulps, at) = worst;
            let ([half, one, two], count) = (above, x.len());
            println!(
                "{unit:?} {of:?}: {ulps:.2} ULP at {at:e}; of {count} above 0.5, 1 and 2: {half}, {one}, {two}"
            );
            if ulps > bound || ulps.is_nan() {
                outside.push(format!("{unit:?} {of:?} at {at:e}: {ulps} ULP, not {bound}"));
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
}

/// Returns whether the device's backend has kernels from this crate.
fn has_kernel(device: &Device) -> bool {
    let name = format!("{device:?}");
    !["NdArray", "LibTorch"].iter().any(|composed| name.contains(composed))
}

#[test]
fn special_values_are_the_limits_and_nan_stays_nan() {
    let mut others = Vec::new();
    let x = [f32::NEG_INFINITY, -1e30, -0.0, 0.0, 1e30, f32::INFINITY, f32::NAN];
    for unit in Unit::ALL {
        for of in [Of::Value, Of::Derivative] {
            let got = compute(of, unit, &x, &Device::default());
            for (&x, &got) in x.iter().zip(&got).take(6) {
                let exact = of.exact(unit, x) as f32;
                let near = (got - exact).abs() <= 2e-7 * exact.abs().max(1.0);
                if !near && got != exact {
                    others.push(format!("{unit:?} {of:?} {x}: {got}, not {exact}"));
                }
            }
            if !got[6].is_nan() {
                others.push(format!("{unit:?} {of:?} of NaN is {}", got[6]));
            }
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn derivatives_are_the_difference_quotients_with_and_without_gradient_checkpointing() {
    let plain = Device::default().autodiff();
    for device in [plain.clone(), plain.gradient_checkpointing()] {
        for unit in Unit::ALL {
            let x: Vec<f32> = (-60..=60).map(|step| step as f32 * 0.13 + 0.011).collect();
            let input = Tensor::<1>::from_floats(x.as_slice(), &device).require_grad();
            let output = functional::unit(input.clone() * 1.0, unit) * 2.0;
            let slopes = input.grad(&output.sum_dim(0).backward()).unwrap().into_data();
            for (x, slope) in x.iter().zip(slopes.iter::<f64>()) {
                let (x, h) = (f64::from(*x), 1e-5);
                let quotient = (unit.value(x + h) - unit.value(x - h)) / h;
                let slope_near = |x: f64| unit.derivative(x);
                if (slope_near(x + h) - slope_near(x - h)).abs() > 1e-3 {
                    // There is a kink in between.
                    continue;
                }
                let room = 1e-6 * quotient.abs().max(1.0);
                assert!((slope - quotient).abs() < room, "{unit:?}′({x}): {slope}, {quotient}");
            }
        }
    }
}

/// A name, and an operation that a network applies to a tensor of `[2, 6]`.
type Operation = (&'static str, Box<dyn Fn(Tensor<2>) -> Tensor<2>>);

/// Returns every differentiable operation on a tensor, with its constants on `device`.
fn operations(device: &Device) -> Vec<Operation> {
    let draw = Draw { seed: 3, step: 9 };
    let key = {
        let device = device.clone();
        move || Key::known(draw, &device)
    };
    let mask = move |key: &dyn Fn() -> Key| DropoutMask::new(0.4, key());
    let bias = Tensor::<1>::from_floats([0.3, -0.2, 0.1, 0.0, -0.4, 0.5], device).require_grad();
    let dy = Tensor::<1, Int>::arange(0..12, device).float().reshape([2, 6]) * 0.2 - 1.0;
    let half = dy.clone().slice([0..2, 0..3]);
    let (first, second, third) = (key.clone(), key.clone(), bias.clone());
    vec![
        ("unit", Box::new(|x| functional::unit(x, Unit::GeluTanh))),
        ("unit_backward", Box::new(move |x| functional::unit_backward(x, dy.clone(), Unit::Silu))),
        ("gated", Box::new(|x| functional::gated(x, Unit::Gelu, GateHalf::Last))),
        (
            "gated_backward",
            Box::new(move |x| {
                functional::gated_backward(x, half.clone(), Unit::Gelu, GateHalf::First)
            }),
        ),
        ("gated_pair", Box::new(|x| functional::gated_pair(x.clone(), x * 0.5, Unit::Gelu))),
        ("dropout", Box::new(move |x| functional::dropout(x, mask(&first)))),
        ("stochastic", Box::new(move |x| functional::stochastic_gelu(x, second()))),
        (
            "bias",
            Box::new(move |x| {
                functional::bias_activation_dropout(x, third.clone(), Unit::Gelu, None)
            }),
        ),
        (
            "bias and dropout",
            Box::new(move |x| {
                let mask = Some(mask(&key));
                functional::bias_activation_dropout(x, bias.clone(), Unit::Gelu, mask)
            }),
        ),
    ]
}

#[test]
fn every_operation_has_the_same_gradients_where_its_output_is_computed_again() {
    let plain = Device::default().autodiff();
    let gradients = |device: &Device| -> Vec<(&'static str, TensorData)> {
        let of = |(name, operation): Operation| {
            let values = Tensor::<1, Int>::arange(0..12, device).float() * 0.4 - 2.1;
            let x = values.reshape([2, 6]).detach().require_grad();
            // The square needs the operation's output, which checkpointing has dropped.
            let y = operation(x.clone() * 1.0);
            let gradients = (y.clone() * y).sum().backward();
            (name, x.grad(&gradients).unwrap().into_data())
        };
        operations(device).into_iter().map(of).collect()
    };
    let recomputed = gradients(&plain.clone().gradient_checkpointing());
    for ((name, kept), (_, again)) in gradients(&plain).iter().zip(&recomputed) {
        assert!(kept.iter::<f32>().any(|slope| slope != 0.0), "{name}");
        assert_eq!(again, kept, "{name}");
    }
}

#[test]
fn dropout_asks_for_nothing_but_the_gradient() {
    let device = Device::default().autodiff();
    let draw = Draw { seed: 5, step: 2 };
    let x = Tensor::<2>::from_floats([[f32::NAN, f32::INFINITY, -0.0, 1.0]; 8], &device);
    let x = x.require_grad();
    let y = functional::dropout(x.clone(), DropoutMask::new(0.5, Key::known(draw, &device)));
    let mask = draw.dropout_mask(0.5, 32);
    for ((y, x), kept) in y.clone().into_data().iter::<f32>().zip(0..).zip(&mask) {
        let expected = match (x % 4, *kept) {
            (_, 0.0) => 0.0f32,
            (0, _) => f32::NAN,
            (1, _) => f32::INFINITY,
            (2, _) => -0.0,
            (_, kept) => kept,
        };
        assert!(y.to_bits() == expected.to_bits() || y.is_nan() && expected.is_nan(), "{x}: {y}");
    }
    let slopes = x.grad(&y.sum().backward()).unwrap().into_data();
    assert_eq!(slopes.iter::<f32>().collect::<Vec<_>>(), mask);
}

#[test]
fn dropout_drops_the_same_elements_on_every_backend() {
    let device = Device::default();
    for (rows, columns) in [(1, 1), (3, 5), (7, 4), (16, 64), (129, 66)] {
        let draw = Draw { seed: 0x1234_5678_9abc_def0, step: 0xfeed_0000_0007 };
        let key = || Key::known(draw, &device);
        let ones = Tensor::<2>::ones([rows, columns], &device);
        let dropped = functional::dropout(ones, DropoutMask::new(0.3, key()));
        let expected = TensorData::new(draw.dropout_mask(0.3, rows * columns), [rows, columns]);
        dropped.into_data().assert_eq(&expected, true);
        let x = Tensor::<2>::ones([rows, columns], &device) * 1e30;
        let open = functional::stochastic_gelu(x, key()).into_data();
        assert!(open.iter::<f32>().all(|y| y > 0.0), "Φ(1e30) is 1");
        let x = Tensor::<2>::zeros([rows, columns], &device) + 1e-30;
        let gates = functional::stochastic_gelu(x, key()).into_data();
        let uniforms = draw.uniforms(rows * columns);
        let expected = uniforms.iter().map(|&uniform| uniform < 0.5);
        assert!(gates.iter::<f32>().map(|y| y > 0.0).eq(expected), "Φ(0) is 1/2");
    }
}

#[test]
fn fused_step_is_the_separate_steps() {
    let device = Device::default();
    let arange = |count: i64| Tensor::<1, Int>::arange(0..count, &device).float();
    let draw = Draw { seed: 1, step: 1 };
    for [batch, rows, columns] in [[1, 2, 3], [2, 3, 4], [3, 5, 16]] {
        let count = (batch * rows * columns) as i64;
        let x = (arange(count) * 0.37).sin().reshape([batch, rows, columns]) * 4.0;
        let dy = (arange(count) * 0.73).cos().reshape([batch, rows, columns]);
        let bias = arange(columns as i64) * 0.1 - 0.2;
        let mask = TensorData::new(draw.dropout_mask(0.5, count as usize), [batch, rows, columns]);
        let mask = Tensor::<3>::from_data(mask, &device);
        for unit in Unit::ALL {
            let tolerance = Tolerance::relative(1e-5).set_absolute(1e-6);
            let ad = device.clone().autodiff();
            let inputs = || {
                let x = Tensor::<3>::from_data(x.to_data(), &ad).require_grad();
                let bias = Tensor::<1>::from_data(bias.to_data(), &ad).require_grad();
                (x, bias, Tensor::<3>::from_data(dy.to_data(), &ad))
            };
            let (x, bias, dy) = inputs();
            let dropout = DropoutMask::new(0.5, Key::known(draw, &ad));
            let fused =
                functional::bias_activation_dropout(x.clone(), bias.clone(), unit, Some(dropout));
            let got = (fused.clone() * dy).flatten::<1>(0, 2).sum_dim(0).backward();
            let (x2, bias2, dy) = inputs();
            let separate = functional::unit(x2.clone() + bias2.clone().reshape([1, 1, -1]), unit)
                * Tensor::<3>::from_data(mask.to_data(), &ad);
            let expected = (separate.clone() * dy).flatten::<1>(0, 2).sum_dim(0).backward();
            fused.into_data().assert_approx_eq::<f32>(&separate.into_data(), tolerance);
            let (dx, dx2) = (x.grad(&got).unwrap(), x2.grad(&expected).unwrap());
            dx.into_data().assert_approx_eq::<f32>(&dx2.into_data(), tolerance);
            let (db, db2) = (bias.grad(&got).unwrap(), bias2.grad(&expected).unwrap());
            db.into_data().assert_approx_eq::<f32>(&db2.into_data(), tolerance);
        }
    }
}

#[test]
fn any_layout_and_rank_gives_the_same_as_a_plain_tensor() {
    let device = Device::default();
    let plain: Vec<f32> = (0..24).map(|i| i as f32 * 0.5 - 6.0).collect();
    let x = Tensor::<3>::from_data(TensorData::new(plain, [2, 3, 4]), &device);
    for activation in Activation::built_in() {
        let whole = activation.forward(x.clone()).into_data();
        let transposed = activation.forward(x.clone().swap_dims(0, 2)).swap_dims(0, 2);
        transposed.into_data().assert_eq(&whole, true);
        let expanded = activation.forward(x.clone().reshape([2, 1, 3, 4]).expand([2, 5, 3, 4]));
        let one = expanded.slice([0..2, 3..4, 0..3, 0..4]).reshape([2, 3, 4]);
        one.into_data().assert_eq(&whole, true);
        let second = activation.forward(x.clone().slice([1..2, 0..3, 1..3])).into_data();
        let expected = activation.forward(x.clone()).slice([1..2, 0..3, 1..3]).into_data();
        second.assert_eq(&expected, true);
        assert_eq!(activation.forward(Tensor::<3>::zeros([0, 3, 4], &device)).dims(), [0, 3, 4]);
    }
}

#[test]
fn shared_tensors_are_not_overwritten() {
    let x = Tensor::<1>::from_floats([-1.0, 2.0], &Device::default());
    let ones = x.ones_like();
    let _ = functional::unit(x.clone(), Unit::Gelu);
    let _ = functional::unit_backward(x.clone(), ones.clone(), Unit::Gelu);
    assert_eq!(x.into_data().try_to_vec::<f32>().unwrap(), [-1.0, 2.0]);
    assert_eq!(ones.into_data().try_to_vec::<f32>().unwrap(), [1.0, 1.0]);
}

/// Tests every number of both types. Results are within 0.6 units in the last place, where 0.5 would be the nearest
/// number. Next to a derivative's zero, four times the rounding error of an f32 at 1 is allowed.
#[test]
fn half_precision_is_within_a_place() {
    let device = Device::default();
    let mut outside = Vec::new();
    for (dtype, digits, smallest) in [(FloatDType::F16, 10, -24), (FloatDType::BF16, 7, -133)] {
        if !device.supports_dtype(DType::from(dtype)) {
            eprintln!("skipped: the device has no {dtype:?}");
            continue;
        }
        let number = |bits: u16| match dtype {
            FloatDType::F16 => burn::tensor::f16::from_bits(bits).to_f32(),
            _ => burn::tensor::bf16::from_bits(bits).to_f32(),
        };
        let x: Vec<f32> = (0..=u16::MAX).map(number).filter(|x| x.is_finite()).collect();
        let input = || Tensor::<1>::from_floats(x.as_slice(), &device).cast(dtype);
        // `most` is the largest number, and `place` the distance between numbers of the type.
        let most = if dtype == FloatDType::F16 { 65_504.0 } else { f64::from(f32::MAX) };
        let place = |y: f64| {
            let exponent = y.abs().log2().floor().max(-1000.0) as i32;
            2f64.powi((exponent - digits).max(smallest))
        };
        for unit in Unit::ALL {
            let y = functional::unit(input(), unit);
            assert_eq!(y.dtype(), DType::from(dtype));
            let slopes = functional::unit_backward(input(), input().ones_like(), unit);
            // The unit's parameter is rounded to the type.
            let unit = functional::in_type(unit, DType::from(dtype));
            for (of, got) in [(Of::Value, y), (Of::Derivative, slopes)] {
                let (mut worst, mut beside) = ((0.0, 0.0), 0);
                for (&x, got) in x.iter().zip(got.into_data().iter::<f64>()) {
                    let exact = of.exact(unit, x);
                    let error = (got - exact).abs();
                    // Overflow does not count, and neither do results that are subnormal in f32, which some devices
                    // flush.
                    let tiny = f64::from(f32::MIN_POSITIVE);
                    let gone = exact.abs() < tiny && got.abs() <= tiny;
                    let next_to_zero = matches!(of, Of::Derivative) && error <= 2f64.powi(-22);
                    if exact.abs() > most || gone || next_to_zero {
                        continue;
                    }
                    let places = error / place(exact);
                    beside += usize::from(places > 0.5);
                    if places > worst.0 || places.is_nan() {
                        worst = (places, x);
                    }
                }
                println!(
                    "{unit} {of:?} {dtype:?}: {:.4} places at {:e}, {beside} above 0.5",
                    worst.0, worst.1
                );
                if worst.0 > 0.6 || worst.0.is_nan() {
                    outside.push(format!("{unit} {of:?} {dtype:?}: {worst:?}"));
                }
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
}

/// Returns the largest errors of f64 results: for x ≥ −5 in units of the last place, and below −5 as an absolute
/// error.
fn worst_f64(x: &[f64], got: &[f64], exact: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut ulps, mut absolute) = (0.0f64, 0.0f64);
    for (&x, &got) in x.iter().zip(got) {
        let exact = exact(x);
        let error = if got == exact { 0.0 } else { (got - exact).abs() };
        match x >= -5.0 {
            true => ulps = ulps.max(error / (exact.abs().next_up() - exact.abs())),
            false => absolute = absolute.max(error),
        }
        assert!(!error.is_nan(), "{x}: {got}, {exact}");
    }
    (ulps, absolute)
}

#[test]
fn f64_keeps_its_digits() {
    let device = Device::default();
    if !device.supports_dtype(DType::F64) {
        eprintln!("skipped: the device has no f64");
        return;
    }
    // The inputs are not exact in f32: a sweep, and numbers just below the derivatives' zeros.
    let sweep = (-30_000..=30_000).map(|step| f64::from(step) * 1e-3 / 3.0);
    let zeros =
        [0.751_791_524_693_564_5f64, 0.752_461_422_071, 1.192_431_214_515, 1.278_464_542_761];
    let near = zeros.into_iter().flat_map(|zero| (1..60).map(move |k| -zero - 0.7f64.powi(k)));
    let x: Vec<f64> = sweep.chain(near).collect();
    let input = || Tensor::<1>::from_data(TensorData::from(x.as_slice()), (&device, DType::F64));
    let mut outside = Vec::new();
    for unit in Unit::ALL {
        let values = functional::unit(input(), unit).into_data();
        let slopes = functional::unit_backward(input(), input().ones_like(), unit).into_data();
        let exact: [(TensorData, &dyn Fn(f64) -> f64); 2] =
            [(values, &|x| unit.value(x)), (slopes, &|x| unit.derivative(x))];
        for (got, exact) in exact {
            let got: Vec<f64> = got.iter::<f64>().collect();
            let (ulps, absolute) = worst_f64(&x, &got, exact);
            println!("{unit}: {ulps:.2} ULP from −5 on, {absolute:e} below");
            if !(ulps <= 16.0 && absolute <= 1e-15) {
                outside.push(format!("{unit}: {ulps} ULP, {absolute:e}"));
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
}

#[test]
fn dropout_in_16_bits_scales_in_f32_and_keeps_what_is_certain() {
    let device = Device::default();
    for dtype in [FloatDType::F16, FloatDType::BF16] {
        if !device.supports_dtype(DType::from(dtype)) {
            eprintln!("skipped: the device has no {dtype:?}");
            continue;
        }
        let draw = Draw { seed: 5, step: 1 };
        let key = || Key::known(draw, &device);
        let x = Tensor::<1, Int>::arange(1..2001, &device).float().cast(dtype);
        let rounded = |x: f32| match dtype {
            FloatDType::F16 => burn::tensor::f16::from_f32(x).to_f32(),
            _ => burn::tensor::bf16::from_f32(x).to_f32(),
        };
        let inputs: Vec<f32> = x.clone().into_data().iter::<f32>().collect();
        let got = functional::dropout(x.clone(), DropoutMask::new(0.1, key())).into_data();
        let mask = draw.dropout_mask(0.1, 2000);
        for ((x, kept), got) in inputs.iter().zip(mask).zip(got.iter::<f32>()) {
            assert_eq!(got, rounded(x * kept), "{dtype:?} {x}");
        }
        // Φ is 1 in f32 from 5.6 on, so nothing is dropped there.
        let open = functional::stochastic_gelu(x + 7.0, key()).into_data();
        assert!(open.iter::<f32>().all(|y| y > 0.0), "{dtype:?}");
    }
}

#[test]
fn a_threshold_has_the_type_of_what_is_compared_with_it() {
    let device = Device::default();
    for dtype in [FloatDType::F32, FloatDType::F64, FloatDType::F16, FloatDType::BF16] {
        if !device.supports_dtype(DType::from(dtype)) {
            eprintln!("skipped: the device has no {dtype:?}");
            continue;
        }
        // No type of this test holds these numbers exactly. Each is used as input and as threshold, with both signs.
        for threshold in [0.1, 0.3, 0.7, 1.1] {
            let input = |sign: f64| {
                let data = TensorData::from([threshold * sign]);
                Tensor::<1>::from_data(data, (&device, DType::from(dtype)))
            };
            let one = |unit, sign| {
                let slope = functional::unit_backward(input(sign), input(sign).ones_like(), unit);
                let y = functional::unit(input(sign), unit);
                (y.into_scalar::<f64>(), slope.into_scalar::<f64>())
            };
            for sign in [1.0, -1.0] {
                // |x| > λ is false where both are equal, and so is x > θ.
                let (hard, soft) = (
                    Unit::Hardshrink { lambda: threshold },
                    Unit::Softshrink { lambda: threshold },
                );
                let over = Unit::ThresholdedRelu { theta: threshold * sign };
                for unit in [hard, soft, over] {
                    assert_eq!(one(unit, sign), (0.0, 0.0), "{unit} {dtype:?} {sign}");
                }
                // The result is the end itself, where the slope is 0.
                let end = Unit::Hardtanh { limit: threshold };
                let expected = (input(sign).into_scalar::<f64>(), 0.0);
                assert_eq!(one(end, sign), expected, "{end} {dtype:?} {sign}");
            }
        }
    }
}

#[test]
fn parameters_reach_the_kernels() {
    let (device, x) = (Device::default(), inputs());
    for unit in [
        Unit::Elu { alpha: 0.3 },
        Unit::Celu { alpha: 2.5 },
        Unit::LeakyRelu { slope: 0.2 },
        Unit::Softplus { beta: 3.0 },
        Unit::ClippedGelu { limit: 0.5 },
        Unit::Hardtanh { limit: 2.5 },
        Unit::Softshrink { lambda: 1.5 },
        Unit::Hardshrink { lambda: 1.5 },
        Unit::ThresholdedRelu { theta: -0.5 },
        Unit::LeakyRelu2 { slope: 0.2 },
        Unit::SmoothRelu2 { a: 1.5 },
    ] {
        for of in [Of::Value, Of::Derivative] {
            for (&x, got) in x.iter().zip(compute(of, unit, &x, &device)) {
                let exact = of.exact(unit, x);
                let error = (f64::from(got) - exact).abs();
                // Where the GELU crosses the limit, one unit in the last place decides which side applies.
                let edge = matches!(unit, Unit::ClippedGelu { .. }) && (x - 0.831_8).abs() < 0.01;
                assert!(edge || error <= 1e-6 * exact.abs() + 1e-7, "{unit} {of:?}({x}): {got}");
            }
        }
    }
}

#[test]
fn a_network_of_hidden_layers_trains() {
    let device = Device::default().autodiff();
    device.seed(1);
    let layer = HiddenLayerConfig::new(4, 8).with_dropout(0.5).init(&device);
    let loss = layer.forward(Tensor::<2>::ones([16, 4], &device)).powf_scalar(2.0).mean();
    let gradients = loss.backward();
    for gradient in [
        layer.linear.weight.val().grad(&gradients).unwrap().abs().sum(),
        layer.linear.bias.as_ref().unwrap().val().grad(&gradients).unwrap().abs().sum().unsqueeze(),
    ] {
        assert!(gradient.into_scalar::<f32>() > 0.0);
    }
}
