//! The units composed of a backend's own tensor operations: what every backend without kernels of
//! its own computes, in f32 (f16 and bf16 are widened, f64 stays f64).
//!
//! Slower than a kernel by one pass over memory per operation, but free of cancellation, and of
//! NaN for finite input. The formulation is that of `math::normal` and `math::logistic`, with
//! polynomials short enough for f32: relative error 2^-24 for S (degree 10) and 2^-26 for P
//! (degree 9).

use crate::Unit;
use crate::math::logistic::{SIGMOID_SLOPE, TANH_CUBIC, TANH_SLOPE};
use crate::math::normal::DERIVATIVE_ZERO;
use burn_core::backend::{
    Backend, TensorMetadata, get_or_init_device_settings,
    tensor::{BoolTensor, FloatTensor},
};
use burn_core::tensor::{DType, FloatDType};
use core::ops::{Add, Div, Mul, Neg, Sub};

/// Where the normal tail is 0 in f32.
const T_MAX: f64 = 14.5;
/// Where the logistic tail is as good as 0 in f32, and `exp(−u)` still normal.
const U_MAX: f64 = 87.0;
/// Where the tanh form's gate is as good as 0 or 1; the cube of more would overflow.
const TANH_X_MAX: f64 = 15.0;

const S: [f64; 11] = [
    0.999999989,
    -0.595765996,
    -0.191677761,
    0.0873960084,
    0.0854085661,
    0.144633908,
    -0.31444656,
    0.536052047,
    -0.623706767,
    0.332849518,
    -0.0617778695,
];
const P: [f64; 10] = [
    0.665078,
    -0.353308061,
    0.0369851591,
    0.0497006654,
    0.0183716774,
    -0.0204190899,
    0.0281303025,
    -0.0488914458,
    0.0271965943,
    -0.003895602,
];

/// `unit(x)`.
pub(crate) fn forward<B: Backend>(x: FloatTensor<B>, unit: Unit) -> FloatTensor<B> {
    in_f32::<B>(x, |x| match unit {
        Unit::Gelu => gelu(x),
        Unit::GeluTanh => gated(x.clone(), tanh_argument(x)),
        Unit::GeluSigmoid => gated(x.clone(), x * SIGMOID_SLOPE),
        Unit::Silu => gated(x.clone(), x),
        Unit::Elu => elu(x),
        Unit::Relu => relu(x),
    })
}

/// `dy · unit′(x)`.
pub(crate) fn backward<B: Backend>(
    x: FloatTensor<B>,
    dy: FloatTensor<B>,
    unit: Unit,
) -> FloatTensor<B> {
    let slope = in_f32::<B>(x, |x| match unit {
        Unit::Gelu => gelu_derivative(x),
        Unit::GeluTanh => tanh_derivative(x),
        Unit::GeluSigmoid => {
            let du = x.clone().constant(SIGMOID_SLOPE);
            gated_derivative(x.clone(), x * SIGMOID_SLOPE, du)
        }
        Unit::Silu => gated_derivative(x.clone(), x.clone(), x.constant(1.0)),
        Unit::Elu => elu_derivative(x),
        Unit::Relu => relu_derivative(x),
    });
    B::float_mul(dy, slope)
}

fn gelu<B: Backend>(x: Term<B>) -> Term<B> {
    let t = x.clone().abs().at_most(T_MAX);
    let w = (t.clone() + 2.0).reciprocal();
    let tail = normal_exponential(t.clone()) * horner(&S, t.clone() * w.clone()) * w;
    let negative = x.clone().below(0.0);
    x.filled(negative, -0.0) - t * tail
}

fn gelu_derivative<B: Backend>(x: Term<B>) -> Term<B> {
    // The zero in two parts: what is left of it beside t must not be rounded away.
    let zero = f64::from(DERIVATIVE_ZERO as f32);
    let t = x.clone().abs().at_most(T_MAX);
    let v = t.clone() * (t.clone() + 2.0).reciprocal();
    let distance = (-(t.clone() - zero)) + (DERIVATIVE_ZERO - zero);
    let slope = normal_exponential(t) * distance * horner(&P, v);
    (-slope.clone() + 1.0).replaced(x.below(0.0), slope)
}

/// `exp(−t²/2)` for 0 ≤ t ≤ 15. The square is split where it is exact, since an exponent's
/// absolute error is the result's relative one.
fn normal_exponential<B: Backend>(t: Term<B>) -> Term<B> {
    let high = (t.clone() * 64.0).floor() * (1.0 / 64.0);
    let low = (t.clone() - high.clone()) * (t + high.clone());
    (high.clone() * high * -0.5).exp() * (low * -0.5).exp()
}

/// `x·σ(u)`.
fn gated<B: Backend>(x: Term<B>, u: Term<B>) -> Term<B> {
    let gone = u.clone().below(-U_MAX);
    let e = (-u.clone().abs().at_most(U_MAX)).exp();
    let numerator = e.clone().constant(1.0).replaced(u.below(0.0), e.clone());
    (x * numerator / (e + 1.0)).filled(gone, -0.0)
}

/// `σ(u)·(1 + x·u′·σ(−u))`.
fn gated_derivative<B: Backend>(x: Term<B>, u: Term<B>, du: Term<B>) -> Term<B> {
    let (gone, full) = (u.clone().below(-U_MAX), u.clone().above(U_MAX));
    let e = (-u.clone().abs().at_most(U_MAX)).exp();
    let large = (e.clone() + 1.0).reciprocal();
    let small = e * large.clone();
    let negative = u.below(0.0);
    let sigma = large.clone().replaced(negative.clone(), small.clone());
    let other = small.replaced(negative, large);
    (sigma * (x * du * other + 1.0)).filled(gone, 0.0).filled(full, 1.0)
}

fn tanh_argument<B: Backend>(x: Term<B>) -> Term<B> {
    let x = x.between(-TANH_X_MAX, TANH_X_MAX);
    x.clone() * TANH_SLOPE * (x.clone() * x * TANH_CUBIC + 1.0)
}

fn tanh_derivative<B: Backend>(x: Term<B>) -> Term<B> {
    let near = x.clone().between(-TANH_X_MAX, TANH_X_MAX);
    let square = near.clone() * near.clone();
    let du = (square * (3.0 * TANH_CUBIC) + 1.0) * TANH_SLOPE;
    gated_derivative(near.clone(), tanh_argument(near), du)
}

fn elu<B: Backend>(x: Term<B>) -> Term<B> {
    // Near 0 the difference cancels; Taylor's series to x⁷ is exact enough there.
    const SERIES: [f64; 7] =
        [1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0];
    let below = x.clone().between(-U_MAX, 0.0);
    let near = below.clone().above(-0.25);
    let series = below.clone() * horner(&SERIES, below.clone());
    let value = (below.exp() + -1.0).replaced(near, series);
    let negative = x.clone().below(0.0);
    x.replaced(negative, value)
}

fn elu_derivative<B: Backend>(x: Term<B>) -> Term<B> {
    let gone = x.clone().below(-U_MAX);
    x.between(-U_MAX, 0.0).exp().filled(gone, 0.0)
}

fn relu<B: Backend>(x: Term<B>) -> Term<B> {
    let negative = x.clone().at_or_below(0.0);
    x.filled(negative, 0.0)
}

fn relu_derivative<B: Backend>(x: Term<B>) -> Term<B> {
    let (negative, positive) = (x.clone().at_or_below(0.0), x.clone().above(0.0));
    x.filled(negative, 0.0).filled(positive, 1.0)
}

fn horner<B: Backend>(coefficients: &[f64], v: Term<B>) -> Term<B> {
    let (last, rest) = coefficients.split_last().expect("a polynomial has a coefficient");
    let start = v.clone().constant(*last);
    rest.iter().rev().fold(start, |sum, &c| sum * v.clone() + c)
}

/// Runs `formula` in f32 where the tensor is narrower, and gives the tensor's type back.
fn in_f32<B: Backend>(
    x: FloatTensor<B>,
    formula: impl FnOnce(Term<B>) -> Term<B>,
) -> FloatTensor<B> {
    match x.dtype() {
        dtype @ (DType::F16 | DType::BF16) => {
            let wide = B::float_cast(x, FloatDType::F32);
            B::float_cast(formula(Term(wide)).0, dtype.into())
        }
        _ => formula(Term(x)).0,
    }
}

/// A tensor in a formula. NaN passes through every operation here: conditions are false for it.
struct Term<B: Backend>(FloatTensor<B>);

impl<B: Backend> Clone for Term<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Backend> Term<B> {
    fn abs(self) -> Self {
        Self(B::float_abs(self.0))
    }

    fn exp(self) -> Self {
        Self(B::float_exp(self.0))
    }

    fn floor(self) -> Self {
        Self(B::float_floor(self.0))
    }

    fn reciprocal(self) -> Self {
        Self(B::float_recip(self.0))
    }

    fn at_most(self, limit: f64) -> Self {
        let over = self.clone().above(limit);
        self.filled(over, limit)
    }

    fn between(self, low: f64, high: f64) -> Self {
        let under = self.clone().below(low);
        self.filled(under, low).at_most(high)
    }

    /// `value` everywhere, NaN where there is NaN.
    fn constant(self, value: f64) -> Self {
        self.between(0.0, 0.0) + value
    }

    fn below(self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_lower_elem(self.0, limit.into(), dtype)
    }

    fn at_or_below(self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_lower_equal_elem(self.0, limit.into(), dtype)
    }

    fn above(self, limit: f64) -> BoolTensor<B> {
        let dtype = get_or_init_device_settings::<B>(&self.0.device()).bool_dtype;
        B::float_greater_elem(self.0, limit.into(), dtype)
    }

    fn filled(self, mask: BoolTensor<B>, value: f64) -> Self {
        Self(B::float_mask_fill(self.0, mask, value.into()))
    }

    fn replaced(self, mask: BoolTensor<B>, by: Self) -> Self {
        Self(B::float_mask_where(self.0, mask, by.0))
    }
}

impl<B: Backend> Add for Term<B> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(B::float_add(self.0, other.0))
    }
}

impl<B: Backend> Sub for Term<B> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(B::float_sub(self.0, other.0))
    }
}

impl<B: Backend> Mul for Term<B> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(B::float_mul(self.0, other.0))
    }
}

impl<B: Backend> Div for Term<B> {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Self(B::float_div(self.0, other.0))
    }
}

impl<B: Backend> Neg for Term<B> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(B::float_neg(self.0))
    }
}

impl<B: Backend> Add<f64> for Term<B> {
    type Output = Self;

    fn add(self, other: f64) -> Self {
        Self(B::float_add_scalar(self.0, other.into()))
    }
}

impl<B: Backend> Sub<f64> for Term<B> {
    type Output = Self;

    fn sub(self, other: f64) -> Self {
        Self(B::float_sub_scalar(self.0, other.into()))
    }
}

impl<B: Backend> Mul<f64> for Term<B> {
    type Output = Self;

    fn mul(self, other: f64) -> Self {
        Self(B::float_mul_scalar(self.0, other.into()))
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use burn_core::backend::Flex;
    use burn_core::tensor::TensorData;

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
    const BOUNDS: [(Unit, f64, f64); 6] = [
        (Unit::Gelu, 4.0, 4.0),
        (Unit::GeluTanh, 32.0, 3.0),
        (Unit::GeluSigmoid, 8.0, 3.5),
        (Unit::Silu, 4.0, 3.0),
        (Unit::Elu, 2.0, 1.0),
        (Unit::Relu, 0.0, 0.0),
    ];
    /// Absolute bound below −5, where SiLU and ELU are still large.
    const BELOW: f64 = 1e-9;
    const BELOW_LARGE: f64 = 1e-7;

    #[test]
    fn values_and_derivatives_are_within_their_bounds() {
        let x = inputs();
        for (unit, value_bound, derivative_bound) in BOUNDS {
            let below = if matches!(unit, Unit::Silu | Unit::Elu) { BELOW_LARGE } else { BELOW };
            let (ulps, absolute) = worst(&x, values(unit, &x), |x| unit.value(x), 0.0);
            assert!(absolute <= below, "{unit:?}: {absolute:e} below −5");
            let tight = value_bound / 2.0 - 0.5..=value_bound;
            assert!(tight.contains(&ulps), "{unit:?}: {ulps} ULP, bound {value_bound}");
            // Only the exact GELU has the zero of its derivative factored out.
            let least = if unit == Unit::Gelu { 0.0 } else { 2f64.powi(-24) };
            let got = derivatives(unit, &x);
            let (ulps, absolute) = worst(&x, got, |x| unit.derivative(x), least);
            assert!(absolute <= below, "{unit:?}′: {absolute:e} below −5");
            let tight = derivative_bound / 2.0 - 0.5..=derivative_bound;
            assert!(tight.contains(&ulps), "{unit:?}′: {ulps} ULP, bound {derivative_bound}");
        }
    }

    #[test]
    fn special_values_are_the_limits_and_nan_stays_nan() {
        let x = [f32::NEG_INFINITY, f32::MIN, -0.0, 0.0, f32::MAX, f32::INFINITY, f32::NAN];
        for unit in Unit::ALL {
            let (y, slope) = (values(unit, &x), derivatives(unit, &x));
            let floor = if unit == Unit::Elu { -1.0 } else { 0.0 };
            assert_eq!((y[0], y[1], y[5]), (floor, floor, f32::INFINITY), "{unit:?}");
            assert_eq!((y[3].to_bits(), y[4]), (0, f32::MAX), "{unit:?}");
            assert_eq!((slope[0], slope[1], slope[4], slope[5]), (0.0, 0.0, 1.0, 1.0), "{unit:?}′");
            assert!(y[6].is_nan() && slope[6].is_nan(), "{unit:?}(NaN)");
        }
    }
}
