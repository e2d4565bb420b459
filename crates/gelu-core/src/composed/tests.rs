use super::*;
use alloc::vec::Vec;
use burn_core::backend::Flex;

type Primitive = FloatTensor<Flex>;

fn tensor(values: &[f32]) -> Primitive {
    Primitive::from_data(TensorData::new(values.to_vec(), [values.len()]))
}

fn values(unit: Unit, x: &[f32]) -> Vec<f32> {
    forward::<Flex>(tensor(x), unit).into_data().iter::<f32>().collect()
}

fn derivatives(unit: Unit, x: &[f32]) -> Vec<f32> {
    let ones = tensor(&alloc::vec![1.0; x.len()]);
    backward::<Flex>(tensor(x), ones, unit).into_data().iter::<f32>().collect()
}

/// Returns the largest errors: for x ≥ −5 in ULP (or in units of `least`, where that is larger),
/// and below −5 as an absolute error.
fn worst(x: &[f32], got: Vec<f32>, exact: impl Fn(f64) -> f64, least: f64) -> (f64, f64) {
    let (mut ulps, mut absolute) = (0.0f64, 0.0f64);
    for (&x, got) in x.iter().zip(got) {
        let exact = exact(f64::from(x));
        let error = (f64::from(got) - exact).abs();
        let rounded = (exact as f32).abs();
        let spacing = f64::from(f32::from_bits(rounded.to_bits() + 1)) - f64::from(rounded);
        match x >= -5.0 {
            true => ulps = ulps.max(error / spacing.max(least)),
            false => absolute = absolute.max(error),
        }
    }
    (ulps, absolute)
}

/// Returns numbers from −40 to 40, the neighbourhood of the GELU derivative's zero, and very small
/// numbers.
fn inputs() -> Vec<f32> {
    let sweep = (-40_000..=40_000).map(|step| step as f32 * 1e-3 + 1.7e-4);
    let zero = (-200..=200)
        .map(|step| f32::from_bits((-0.751_791_5f32).to_bits() + 200 - (step + 200) as u32));
    let small = (0..80).flat_map(|power| [1.0, -1.0].map(|sign| sign * 0.7f32.powi(power)));
    sweep.chain(zero).chain(small).collect()
}

/// Returns the bounds in ULP for x ≥ −5, of value and derivative. A bound that is twice the
/// measured error fails, too.
fn bounds(unit: Unit) -> (f64, f64) {
    match unit {
        Unit::Gelu => (4.0, 4.0),
        Unit::ClippedGelu { .. } => (4.0, 3.0),
        Unit::GeluTanh => (3.5, 3.0),
        Unit::GeluSigmoid => (4.0, 3.0),
        Unit::Silu => (4.0, 3.0),
        Unit::Mish => (4.0, 4.0),
        Unit::Elu { .. } | Unit::Celu { .. } => (2.0, 1.0),
        Unit::Selu => (3.0, 2.0),
        Unit::LeakyRelu { .. } => (1.0, 0.1),
        Unit::Softplus { .. } => (4.0, 2.0),
        Unit::Sigmoid => (4.0, 1.0),
        Unit::Tanh => (4.0, 4.0),
        Unit::HardSigmoid => (1.0, 0.1),
        Unit::HardSwish => (2.0, 1.0),
        Unit::HardMish => (2.0, 1.0),
        Unit::Cauchy => (4.0, 3.0),
        Unit::Laplace => (5.0, 4.0),
        Unit::NormalCdf => (4.0, 2.0),
        Unit::SquaredRelu | Unit::Softshrink { .. } => (0.5, 0.0),
        Unit::Gelu2 => (8.0, 3.0),
        Unit::LeakyRelu2 { .. } => (0.5, 0.0),
        Unit::SmoothRelu2 { .. } => (4.0, 4.0),
        Unit::SqrtSoftplus => (3.0, 2.0),
        Unit::LogSigmoid => (4.0, 2.0),
        Unit::Softsign => (2.0, 3.0),
        Unit::Tanhshrink => (4.0, 3.0),
        Unit::Relu
        | Unit::Relu6
        | Unit::Identity
        | Unit::Hardtanh { .. }
        | Unit::Hardshrink { .. }
        | Unit::ThresholdedRelu { .. } => (0.0, 0.0),
        other => panic!("{other} has no bound"),
    }
}

/// Returns the absolute bound below −5. The listed functions are still large there.
fn bound_below(unit: Unit) -> f64 {
    match unit {
        Unit::Elu { .. }
        | Unit::Celu { .. }
        | Unit::Selu
        | Unit::LeakyRelu { .. }
        | Unit::Silu
        | Unit::Mish
        | Unit::Tanh
        | Unit::Softsign
        | Unit::Cauchy => 2e-7,
        Unit::LogSigmoid | Unit::Tanhshrink => 1e-6,
        // This is half the spacing of f32 numbers at 400.
        Unit::LeakyRelu2 { .. } => 1.6e-5,
        Unit::Softplus { .. } | Unit::Sigmoid | Unit::SmoothRelu2 { .. } => 3e-9,
        Unit::SqrtSoftplus => 2e-8,
        _ => 1e-9,
    }
}

#[test]
fn values_and_derivatives_are_within_their_bounds() {
    let x = inputs();
    let mut wrong = Vec::new();
    for unit in Unit::ALL {
        let (value_bound, derivative_bound) = bounds(unit);
        // Only the exact GELU has a factor for the zero of its derivative.
        let least = if unit == Unit::Gelu { 0.0 } else { 2f64.powi(-24) };
        for (of, bound, (ulps, absolute)) in [
            ("", value_bound, worst(&x, values(unit, &x), |x| unit.value(x), 0.0)),
            (
                "′",
                derivative_bound,
                worst(&x, derivatives(unit, &x), |x| unit.derivative(x), least),
            ),
        ] {
            let tight = bound / 2.0 - 0.5..=bound;
            if !tight.contains(&ulps) || absolute > bound_below(unit) {
                wrong.push(alloc::format!("{unit}{of}: {ulps} ULP, bound {bound}; {absolute:e}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn special_values_are_the_limits_and_nan_stays_nan() {
    let x = [f32::NEG_INFINITY, f32::MIN, -0.0, 0.0, f32::MAX, f32::INFINITY, f32::NAN];
    for unit in Unit::ALL {
        let (y, slope) = (values(unit, &x), derivatives(unit, &x));
        for (i, &x) in x.iter().enumerate().take(6) {
            // Other tests compare the f64 functions with arbitrary precision.
            let (value, derivative) = (unit.value(f64::from(x)), unit.derivative(f64::from(x)));
            // A number that f32 does not hold may differ by its rounding.
            let scaled = matches!(
                unit,
                Unit::LeakyRelu { .. }
                    | Unit::SmoothRelu2 { .. }
                    | Unit::SqrtSoftplus
                    | Unit::Selu
                    | Unit::Laplace
            );
            let near = |got: f32, exact: f64| {
                let off = (f64::from(got) - exact).abs();
                got == exact as f32 || scaled && off <= 1.2e-7 * exact.abs()
            };
            assert!(near(y[i], value), "{unit}({x}): {}, {value}", y[i]);
            assert!(near(slope[i], derivative), "{unit}′({x}): {}, {derivative}", slope[i]);
        }
        assert!(y[6].is_nan() && slope[6].is_nan(), "{unit:?}(NaN)");
    }
}

#[test]
fn bias_and_dropout_do_what_they_say() {
    let dropout = Mask::new(0.5, Draw { seed: 3, step: 4 });
    let x = Primitive::from_data(TensorData::from([[-1.0f32, 0.5, 2.0], [f32::INFINITY; 3]]));
    let bias = tensor(&[0.5, -0.5, 0.0]);
    let y = bias_activation_dropout::<Flex>(x, bias, Unit::Relu, Some(dropout));
    let mask = dropout.factors(6);
    let active = [0.0, 0.0, 2.0, f32::INFINITY, f32::INFINITY, f32::INFINITY];
    let expected = active.iter().zip(mask).map(|(y, m)| if m == 0.0 { 0.0 } else { y * m });
    assert_eq!(y.into_data().iter::<f32>().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn gradients_are_dropped_where_outputs_are() {
    let dropout = Mask::new(0.5, Draw { seed: 3, step: 4 });
    let x = || Primitive::from_data(TensorData::from([[-1.0f32, 0.5, 2.0], [3.0, -4.0, 5.0]]));
    let dy = Primitive::from_data(TensorData::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    let zero = tensor(&[0.0; 3]);
    let mask = Some(dropout);
    let (dx, sums) = bias_activation_dropout_backward::<Flex>(x(), zero, dy, Unit::Relu, mask);
    // The derivative of the ReLU is 0 for the two negative inputs.
    let through = [0.0, 2.0, 3.0, 4.0, 0.0, 6.0];
    let expected: Vec<f32> =
        through.iter().zip(dropout.factors(6)).map(|(dy, factor)| dy * factor).collect();
    let sum = |column: usize| expected[column] + expected[column + 3];
    assert_eq!(dx.into_data().iter::<f32>().collect::<Vec<_>>(), expected);
    assert_eq!(sums.into_data().iter::<f32>().collect::<Vec<_>>(), [0, 1, 2].map(sum));
    assert!(expected.iter().any(|&dx| dx != 0.0) && dropout.factors(6).contains(&0.0));
}

/// Returns the numbers of a tensor in row-major order.
fn numbers(x: Primitive) -> Vec<f64> {
    x.to_contiguous().into_data().iter::<f64>().collect()
}

/// Panics unless both tensors have the same numbers up to `room`, which is relative above 1 and
/// absolute below.
fn same(name: &str, kernel: Primitive, composed: Primitive, room: f64) {
    assert_eq!((kernel.dtype(), kernel.shape()), (composed.dtype(), composed.shape()), "{name}");
    for (kernel, composed) in numbers(kernel).into_iter().zip(numbers(composed)) {
        let off = (kernel - composed).abs();
        assert!(off <= room * composed.abs().max(1.0), "{name}: {kernel}, composed {composed}");
    }
}

#[test]
fn every_operation_is_that_of_the_kernels_in_any_type_and_layout() {
    use crate::GateHalf;
    use burn_core::backend::ops::{FloatTensorOps, IntTensorOps};
    let device = Primitive::from_data(TensorData::from([0.0f32])).device();
    let tensor = |k: f32, dtype: DType| {
        let values: Vec<f32> = (0..72).map(|i| (i as f32 * 0.37 + k).sin() * 3.0).collect();
        Primitive::from_data(TensorData::new(values, [3, 4, 6]).convert_dtype(dtype))
    };
    // The layouts are contiguous, with other strides, and with gaps; the last dimension is even in
    // all of them.
    type View = (&'static str, fn(Primitive) -> Primitive);
    let views: [View; 4] = [
        ("plain", |x| x),
        ("transposed", |x| x.permute(&[2, 0, 1])),
        ("narrowed", |x| x.narrow(2, 1, 4)),
        ("flipped", |x| Flex::float_flip(x, &[0, 2])),
    ];
    let unit = Unit::Silu;
    for (dtype, room) in
        [(DType::F32, 1e-6), (DType::F64, 1e-12), (DType::F16, 2e-3), (DType::BF16, 1.6e-2)]
    {
        for (view, seen) in views {
            let name = |operation: &str| alloc::format!("{operation} {view} {dtype:?}");
            let [x, dy, other] = [0.1, 1.7, 2.9].map(|k| seen(tensor(k, dtype)));
            let columns = x.shape()[2];
            let bias = || tensor(0.6, dtype).narrow(0, 0, 1).narrow(1, 0, 1).narrow(2, 0, columns);
            let bias = || Flex::float_reshape(bias(), Shape::from([columns]));
            let half = || dy.clone().narrow(2, 0, columns / 2);
            same(
                &name("value"),
                Flex::activation(x.clone(), unit),
                forward::<Flex>(x.clone(), unit),
                room,
            );
            same(
                &name("derivative"),
                Flex::activation_backward(x.clone(), dy.clone(), unit),
                backward::<Flex>(x.clone(), dy.clone(), unit),
                room,
            );
            same(
                &name("bias"),
                Flex::bias_activation(x.clone(), bias(), unit),
                bias_activation_dropout::<Flex>(x.clone(), bias(), unit, None),
                room,
            );
            let kernel = Flex::bias_activation_backward(x.clone(), bias(), dy.clone(), unit);
            let composed =
                bias_activation_dropout_backward::<Flex>(x.clone(), bias(), dy.clone(), unit, None);
            same(&name("bias′"), kernel.0, composed.0, room);
            // The sums have twelve or more terms, each of which is rounded.
            same(&name("bias′, sums"), kernel.1, composed.1, 4.0 * room);
            for gate in [GateHalf::First, GateHalf::Last] {
                same(
                    &name("gated"),
                    Flex::gated(x.clone(), unit, gate),
                    gated::<Flex>(x.clone(), unit, gate),
                    4.0 * room,
                );
                same(
                    &name("gated′"),
                    Flex::gated_backward(x.clone(), half(), unit, gate),
                    gated_backward::<Flex>(x.clone(), half(), unit, gate),
                    4.0 * room,
                );
            }
            same(
                &name("pair"),
                Flex::gated_pair(x.clone(), other.clone(), unit),
                gated_pair::<Flex>(x.clone(), other.clone(), unit),
                4.0 * room,
            );
            let kernel = Flex::gated_pair_backward(x.clone(), other.clone(), dy.clone(), unit);
            let composed = gated_pair_backward::<Flex>(x.clone(), other.clone(), dy.clone(), unit);
            same(&name("pair′, gate"), kernel.0, composed.0, 4.0 * room);
            same(&name("pair′, value"), kernel.1, composed.1, 4.0 * room);
            let draw = Draw { seed: 3, step: 4 };
            let key = || Flex::int_from_data(TensorData::from(crate::random::words(draw)), &device);
            same(
                &name("stochastic"),
                Flex::stochastic_map(x.clone(), key()),
                stochastic_map::<Flex>(x.clone(), x.clone(), draw),
                0.0,
            );
            same(
                &name("stochastic′"),
                Flex::stochastic_map_backward(x.clone(), dy.clone(), key()),
                stochastic_map::<Flex>(x.clone(), dy.clone(), draw),
                0.0,
            );
            let threshold = Mask::threshold_of(0.3);
            let mask = Mask::below(threshold, draw);
            same(
                &name("dropout"),
                Flex::dropout(x.clone(), key(), threshold),
                dropout::<Flex>(x.clone(), mask),
                room,
            );
            same(
                &name("bias, dropout"),
                Flex::bias_activation_dropout(x.clone(), bias(), key(), unit, threshold),
                bias_activation_dropout::<Flex>(x.clone(), bias(), unit, Some(mask)),
                2.0 * room,
            );
            let kernel = Flex::bias_activation_dropout_backward(
                x.clone(),
                bias(),
                dy.clone(),
                key(),
                unit,
                threshold,
            );
            let composed = bias_activation_dropout_backward::<Flex>(
                x.clone(),
                bias(),
                dy.clone(),
                unit,
                Some(mask),
            );
            same(&name("bias, dropout′"), kernel.0, composed.0, 2.0 * room);
            same(&name("bias, dropout′, sums"), kernel.1, composed.1, 6.0 * room);
        }
    }
}

#[test]
fn no_parameter_that_is_taken_makes_nan_of_a_number() {
    use crate::functional::in_type;
    let all = [DType::F32, DType::F64, DType::F16, DType::BF16];
    for dtype in all {
        // The inputs are the ends of the type and of f32's squares, subnormal numbers, and usual
        // numbers.
        let most = match dtype {
            DType::F16 => 65_504.0,
            DType::F64 => f64::MAX,
            _ => f64::from(f32::MAX) * 0.99,
        };
        let sizes = [0.0, 5e-324, 1e-45, 1e-40, 1e-20, 1e-7, 0.5, 3.0, 20.0, 200.0, 1e19, 1e150];
        let x: Vec<f64> = sizes
            .into_iter()
            .chain([most / 2.0, most])
            .filter(|x| *x <= most)
            .flat_map(|x| [x, -x])
            .collect();
        let data = || TensorData::new(x.clone(), [x.len()]).convert_dtype(dtype);
        let tensor = || Primitive::from_data(data());
        let ones = || {
            let ones = TensorData::new(alloc::vec![1.0f64; x.len()], [x.len()]);
            Primitive::from_data(ones.convert_dtype(dtype))
        };
        for unit in Unit::ALL {
            let Some(parameter) = unit.kind().names().parameter else { continue };
            let least = parameter.least;
            for given in [least, parameter.most, parameter.default, 1e-3, 1e3, 1e-12, 1e12] {
                let unit = Unit::from_parts(unit.kind(), given);
                if unit.validated().is_err() {
                    continue;
                }
                let unit = in_type(unit, dtype);
                for (of, y) in [
                    ("", forward::<Flex>(tensor(), unit)),
                    ("′", backward::<Flex>(tensor(), ones(), unit)),
                    ("″", curvature::<Flex>(tensor(), ones(), unit)),
                    (" by kernel", Flex::activation(tensor(), unit)),
                    ("′ by kernel", Flex::activation_backward(tensor(), ones(), unit)),
                ] {
                    for (x, y) in data().iter::<f64>().zip(numbers(y)) {
                        assert!(!y.is_nan(), "{unit}{of}({x:e}) in {dtype:?}");
                    }
                }
            }
            for outside in [parameter.most * 1.01, f64::INFINITY, f64::NAN] {
                let refused = Unit::from_parts(unit.kind(), outside).validated().unwrap_err();
                let range = alloc::format!("from {least:e} to {:e}", parameter.most);
                assert!(alloc::format!("{refused}").contains(&range), "{refused}");
            }
        }
    }
}
