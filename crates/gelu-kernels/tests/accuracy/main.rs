//! Compares values and derivatives with arbitrary precision, and checks them on a sample of all inputs.
//!
//! The bounds are in one table, `examples/verify/bounds.rs`. A bound that is far above the measured error fails,
//! too, so that bounds cannot become stale. `generate.py` in this directory writes `reference.csv`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "../../examples/verify/bounds.rs"]
mod bounds;
#[path = "../../examples/verify/errors.rs"]
mod errors;
#[path = "../../examples/verify/measure.rs"]
mod measure;

use bounds::least;
use errors::Errors;
use gelu_kernels::{Storage, Unit};
use half::{bf16, f16};
use measure::{Of, spacing};

/// Returns the unit with the name and the parameter that it has in the file of references.
fn in_references(unit: Unit) -> Unit {
    match unit {
        Unit::Elu { .. } => Unit::Elu { alpha: 1.0 },
        other => other,
    }
}

/// Returns the arbitrary-precision references of a unit: input, value and derivative. The inputs are f64, and most
/// of them are also f32.
fn references(unit: Unit) -> Vec<(f64, f64, f64)> {
    let name = in_references(unit).name();
    let bits = |text: &str| f64::from_bits(u64::from_str_radix(text, 16).unwrap());
    let lines = include_str!("reference.csv").lines().skip(1);
    let fields = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let mine = fields.filter(|fields| fields[0] == name);
    let mine: Vec<_> =
        mine.map(|fields| (bits(fields[1]), bits(fields[2]), bits(fields[3]))).collect();
    assert!(mine.len() > 400, "{unit} has references");
    mine
}

/// Returns a dense sample of every region in which something could go wrong, and a sparse sample of all other
/// inputs.
fn inputs() -> Vec<f32> {
    const NEAR: i32 = 20_000;
    let special = [
        0.0,
        1e-40,
        1.2e-38,
        1e-30,
        1e-19,
        1e-12,
        3e-8,
        0.35,
        0.5,
        0.751_791_5,
        0.752_461_4,
        0.832_55,
        1.0,
        1.278_464_5,
        2.0,
        4.0,
        5.5,
        8.3,
        8.6,
        10.0,
        11.0,
        13.2,
        13.9,
        14.6,
        14.625,
        15.0,
        87.5,
        103.9,
        150.0,
        1e13,
        3.4e38,
    ];
    let near = special
        .into_iter()
        .flat_map(|x: f32| (-NEAR..=NEAR).map(move |step| x.to_bits().saturating_add_signed(step)))
        .flat_map(|bits| [bits, bits | 1 << 31]);
    let all = near.chain((0..=u32::MAX).step_by(1_009));
    all.map(f32::from_bits).filter(|x| x.is_finite()).collect()
}

#[test]
fn f32_is_within_its_bounds_and_the_bounds_are_tight() {
    let x = inputs();
    for bound in bounds::all() {
        let results = bound.of.compute(bound.unit, &x, 1.0);
        let least = least(bound.unit, bound.of);
        let exact: Vec<f64> = x.iter().map(|&x| bound.of.exact(bound.unit, x)).collect();
        let Errors { worst, at, .. } = Errors::of(&x, &results, &exact, least);
        let name = format!("{:?} {:?}", bound.unit, bound.of);
        assert!(worst <= bound.ulps, "{name}: {worst} ULP at {at:e}, bound {}", bound.ulps);
        let reached = bound.reached * bound.ulps;
        assert!(worst >= reached, "{name}: {worst} ULP; a bound of {} is stale", bound.ulps);
    }
}

#[test]
fn f64_is_close_to_arbitrary_precision() {
    for unit in Unit::ALL {
        // Bounds for values and for derivatives: a little more than the largest error that a search over f64
        // found. The worst inputs of the search are among the references.
        let bounds = match unit {
            Unit::Cauchy | Unit::Mish => [5.5, 7.0],
            // These are squares and products of numbers with errors of their own.
            Unit::Gelu2 => [9.0, 7.0],
            Unit::Tanhshrink => [5.5, 8.0],
            _ => [5.5, 5.5],
        };
        let references = references(unit);
        let x: Vec<f64> = references.iter().map(|r| r.0).collect();
        let exact_in_f32 = x.iter().filter(|x| f64::from(**x as f32) == **x).count();
        assert!(x.len() > exact_in_f32 + 400, "{unit} has inputs that only f64 holds");
        let [values, slopes] = [Of::Value, Of::Derivative].map(|of| of.compute(unit, &x, 1.0));
        let results = values.into_iter().zip(slopes);
        let mut worst = [(0.0, 0.0); 2];
        for ((x, value, derivative), results) in references.into_iter().zip(results) {
            let pairs = [(results.0, value), (results.1, derivative)];
            for (worst, (got, exact)) in worst.iter_mut().zip(pairs) {
                let spacing = exact.abs().next_up() - exact.abs();
                let ulps = if got == exact { 0.0 } else { (got - exact).abs() / spacing };
                if ulps > worst.0 || ulps.is_nan() {
                    *worst = (ulps, x);
                }
            }
        }
        for ((of, bound), (ulps, at)) in ["value", "derivative"].into_iter().zip(bounds).zip(worst)
        {
            println!("{unit} {of}: {ulps:.2} ULP at {at:e}");
            assert!(ulps <= bound, "{unit} {of}: {ulps} ULP at {at:e}, bound {bound}");
        }
    }
}

#[test]
fn all_16_bit_inputs_are_rounded_once() {
    rounded_once::<f16>(f16::from_bits, f16::ONE, 10, -24, 65_520.0);
    let overflow = 2f64.powi(128) - 2f64.powi(119);
    rounded_once::<bf16>(bf16::from_bits, bf16::ONE, 7, -133, overflow);
}

/// Checks that 16-bit results are rounded once. `digits` is the number of bits after the point, `smallest` is the
/// exponent of the smallest subnormal, and exact results of at least `overflow` round to infinity.
fn rounded_once<S: Storage<Float = f32>>(
    of_bits: fn(u16) -> S,
    one: S,
    digits: i32,
    smallest: i32,
    overflow: f64,
) {
    let x: Vec<S> = (0..=u16::MAX).map(of_bits).collect();
    let name = std::any::type_name::<S>();
    for unit in Unit::ALL {
        for of in [Of::Value, Of::Derivative] {
            let mut wrong = 0;
            for (x, got) in x.iter().zip(of.compute(unit, &x, one)) {
                let (x, got) = (x.widen(), f64::from(got.widen()));
                if !x.is_finite() {
                    continue;
                }
                let exact = of.exact(unit, x);
                if exact.abs() >= overflow {
                    assert_eq!(got, exact.signum() * f64::INFINITY, "{unit} {of:?} at {x:e}");
                    continue;
                }
                let exponent = exact.abs().log2().floor().max(f64::from(smallest + digits));
                let spacing = 2f64.powf(exponent - f64::from(digits));
                let ulps = (got - exact).abs() / spacing;
                assert!(ulps <= 1.0, "{unit:?} {of:?} {name} at {x:e}: {got:e}, {exact:e}");
                wrong += u32::from(ulps > 0.500_001);
            }
            // Results are rounded to f32 first. Where the f32 is a tie of 16 bits, the second rounding may go the
            // wrong way.
            let allowed = match unit {
                Unit::Gelu => 4,
                // The square of 8 digits is often such a tie, and the GELU is the f32 next to it.
                Unit::Gelu2 => 10,
                _ => 8,
            };
            println!("{unit} {of:?} {name}: {wrong} not correctly rounded");
            assert!(wrong <= allowed, "{unit} {of:?} {name}: {wrong}");
        }
    }
}

#[test]
fn reference_functions_agree_with_arbitrary_precision() {
    for unit in Unit::ALL {
        for (x, value, derivative) in references(unit) {
            for (got, exact) in [(unit.value(x), value), (unit.derivative(x), derivative)] {
                // Errors below the precision of f32 do not matter here.
                let spacing = spacing(exact).max(exact.abs() * 2f64.powi(-24));
                let ulps = if got == exact { 0.0 } else { (got - exact).abs() / spacing };
                assert!(
                    ulps <= 1e-6,
                    "{unit} at {x:e}: {got:e}, {exact:e}: {ulps} of an f32's last place"
                );
            }
        }
    }
}

#[test]
fn derivative_is_that_of_the_forward_function() {
    // Compares with central differences of the f64 functions, whose step error is about 1e-10. Where a square is
    // large, so is the error that its last place causes in the difference.
    for unit in Unit::ALL {
        for step in -80..=80 {
            let x = f64::from(step) * 0.1 + 0.013;
            let h = 1e-5;
            let difference = (unit.value(x + h) - unit.value(x - h)) / (2.0 * h);
            let slope = unit.derivative(x);
            let error = (slope - difference).abs() / slope.abs().max(1.0);
            assert!(error < 1e-9, "{unit:?}′({x}): {error:e} from the difference quotient");
        }
    }
}

/// Returns the limits of a unit for x → −∞, at 0, and for x → +∞, and then the derivative's limits for x → −∞ and
/// x → +∞.
fn limits(unit: Unit) -> ([f32; 3], [f32; 2]) {
    const SELU: [f64; 2] = [1.050_700_987_355_480_5, 1.673_263_242_354_377_2];
    let infinity = f32::INFINITY;
    match unit {
        Unit::Elu { .. } | Unit::Celu { .. } => ([-1.0, 0.0, infinity], [0.0, 1.0]),
        Unit::Selu => ([-(SELU[0] * SELU[1]) as f32, 0.0, infinity], [0.0, SELU[0] as f32]),
        Unit::Cauchy => ([-std::f32::consts::FRAC_1_PI, 0.0, infinity], [0.0, 1.0]),
        Unit::Identity => ([-infinity, 0.0, infinity], [1.0, 1.0]),
        Unit::LeakyRelu { .. } => ([-infinity, 0.0, infinity], [0.01, 1.0]),
        Unit::NormalCdf | Unit::Sigmoid | Unit::HardSigmoid => ([0.0, 0.5, 1.0], [0.0, 0.0]),
        // Φ(−0.707107/0.282095) in 30 digits (mpmath).
        Unit::Laplace => ([0.0, 0.006_094_459_6, 1.0], [0.0, 0.0]),
        Unit::Tanh | Unit::Softsign | Unit::Hardtanh { .. } => ([-1.0, 0.0, 1.0], [0.0, 0.0]),
        Unit::LogSigmoid => ([-infinity, -std::f32::consts::LN_2, 0.0], [1.0, 0.0]),
        Unit::Tanhshrink | Unit::Softshrink { .. } | Unit::Hardshrink { .. } => {
            ([-infinity, 0.0, infinity], [1.0, 1.0])
        }
        Unit::Softplus { .. } => ([0.0, std::f32::consts::LN_2, infinity], [0.0, 1.0]),
        Unit::Relu6 => ([0.0, 0.0, 6.0], [0.0, 0.0]),
        Unit::ClippedGelu { .. } => ([0.0, 0.0, 10.0], [0.0, 0.0]),
        Unit::SquaredRelu | Unit::Gelu2 => ([0.0, 0.0, infinity], [0.0, infinity]),
        Unit::LeakyRelu2 { .. } => ([infinity, 0.0, infinity], [-infinity, infinity]),
        // −a²/4 with a = 0.2.
        Unit::SmoothRelu2 { .. } => ([-0.01, 0.0, infinity], [0.0, infinity]),
        // √ln 2 (mpmath).
        Unit::SqrtSoftplus => ([0.0, 0.832_554_64, infinity], [0.0, 0.0]),
        _ => ([0.0, 0.0, infinity], [0.0, 1.0]),
    }
}

#[test]
fn special_values_are_the_limits() {
    let special = [f32::NEG_INFINITY, -0.0, 0.0, f32::INFINITY, f32::NAN];
    for unit in Unit::ALL {
        let (values, slopes) = limits(unit);
        let got = Of::Value.compute(unit, &special, 1.0);
        assert_eq!([got[0], got[2], got[3]], values, "{unit}");
        assert!(got[4].is_nan(), "{unit}(NaN)");
        let positive_zero = matches!(
            unit,
            Unit::Relu
                | Unit::Relu6
                | Unit::SquaredRelu
                | Unit::Gelu2
                | Unit::LeakyRelu2 { .. }
                | Unit::ThresholdedRelu { .. }
                | Unit::Softshrink { .. }
                | Unit::Hardshrink { .. }
        );
        if values[1] == 0.0 && !positive_zero {
            assert_eq!(got[1].to_bits(), (-0.0f32).to_bits(), "{unit}(−0)");
        }
        let got = Of::Derivative.compute(unit, &special, 1.0);
        assert_eq!([got[0], got[3]], slopes, "{unit}′(±∞)");
        assert!(got[4].is_nan(), "{unit}′(NaN)");
    }
}

#[test]
fn no_finite_input_gives_nan() {
    let x: Vec<f32> =
        (0..=u32::MAX).step_by(65_521).map(f32::from_bits).filter(|x| x.is_finite()).collect();
    for unit in Unit::ALL {
        assert!(Of::Value.compute(unit, &x, 1.0).iter().all(|y| !y.is_nan()), "{unit:?}");
        let slopes = Of::Derivative.compute(unit, &x, 1.0);
        for (&x, slope) in x.iter().zip(slopes) {
            // 2·x overflows only where x² has overflowed long before.
            let overflows = (unit.derivative(f64::from(x)) as f32).is_infinite();
            assert!(slope.is_finite() || overflows && !slope.is_nan(), "{unit}′({x:e})");
        }
    }
}

#[test]
fn far_out_the_cauchy_unit_is_an_elu_of_alpha_one_over_pi() {
    // §4: both have the same limit for x → −∞, and approach x up to a shift by 1/π for x → ∞.
    let alpha = std::f64::consts::FRAC_1_PI;
    for x in [30.0, 1e3, 1e6] {
        let below = Unit::Cauchy.value(-x) - alpha * Unit::Elu { alpha: 1.0 }.value(-x);
        let above = Unit::Cauchy.value(x) - (x - alpha);
        assert!(below.abs() < 0.2 / (x * x) && above.abs() < 0.2 / (x * x), "{below} {above}");
    }
}

#[test]
fn far_out_the_gelu_is_the_relu() {
    // §4: |x|·Φ(−|x|) vanishes faster than e^(−x²/2).
    for x in [-30.0f64, -6.0, 6.0, 30.0] {
        let difference = (Unit::Gelu.value(x) - Unit::Relu.value(x)).abs();
        assert!(difference < (-x * x / 2.0).exp(), "{difference:e} at {x}");
    }
}
