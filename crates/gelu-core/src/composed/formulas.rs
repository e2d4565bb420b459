//! The units on tensors, free of cancellation. The formulation is that of `math::normal` and
//! `math::logistic`, with polynomials short enough for f32: relative error 2^-24 for S (degree 10)
//! and 2^-26 for P (degree 9).

use super::term::Term;
use crate::math::cauchy::Q as ARC;
use crate::math::logistic::{TANH_CUBIC, TANH_SLOPE};
use crate::math::normal::DERIVATIVE_ZERO;
use burn_core::backend::{Backend, tensor::BoolTensor};
use core::f64::consts::FRAC_1_PI;

/// Where the normal tail is 0 in f32.
const T_MAX: f64 = 14.5;
/// Where the logistic tail is as good as 0 in f32, and `exp(−u)` still normal.
const U_MAX: f64 = 87.0;
/// Where the tanh form's gate is as good as 0 or 1.
const TANH_X_MAX: f64 = 10.0;

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

pub(super) fn gelu<B: Backend>(x: Term<B>) -> Term<B> {
    let t = x.clone().abs().at_most(T_MAX);
    let w = (t.clone() + 2.0).reciprocal();
    let tail = normal_exponential(t.clone()) * horner(&S, t.clone() * w.clone()) * w;
    let negative = x.clone().below(0.0);
    x.filled(negative, -0.0) - t * tail
}

pub(super) fn gelu_derivative<B: Backend>(x: Term<B>) -> Term<B> {
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
pub(super) fn normal_exponential<B: Backend>(t: Term<B>) -> Term<B> {
    let high = (t.clone() * 64.0).floor() * (1.0 / 64.0);
    let low = (t.clone() - high.clone()) * (t + high.clone());
    (high.clone() * high * -0.5).exp() * (low * -0.5).exp()
}

/// The logistic gate σ(u) of an input.
pub(super) struct Gate<B: Backend> {
    /// `e^−|u|`.
    e: Term<B>,
    negative: BoolTensor<B>,
    /// Where the gate is as good as 0.
    closed: BoolTensor<B>,
    /// Where it is as good as 1.
    open: BoolTensor<B>,
}

impl<B: Backend> Gate<B> {
    /// σ(u).
    pub(super) fn of(u: Term<B>) -> Self {
        Self {
            e: (-u.clone().abs().at_most(U_MAX)).exp(),
            negative: u.clone().below(0.0),
            closed: u.clone().below(-U_MAX),
            open: u.above(U_MAX),
        }
    }

    /// σ(2√(2/π)·(x + 0.044715·x³)). The argument is summed in three parts, of which the large
    /// ones are exact: an exponent's absolute error is the result's relative one.
    pub(super) fn of_tanh(x: Term<B>) -> Self {
        /// The first 12 bits of 2√(2/π), times which an h of 8 bits is exact.
        const SLOPE_HIGH: f64 = 1634.0 / 1024.0;
        /// The first bits of 2√(2/π)·0.044715, times which h³ is exact.
        const CUBIC_HIGH: f64 = 9.0 / 128.0;
        const CUBIC: f64 = TANH_SLOPE * TANH_CUBIC;
        let t = x.clone().abs().at_most(TANH_X_MAX);
        let h = (t.clone() * 16.0).floor() * (1.0 / 16.0);
        let cube = h.clone() * h.clone() * h.clone();
        let powers = h.clone() * h.clone() + t.clone() * (h.clone() + t.clone());
        let rest = h.clone() * (TANH_SLOPE - SLOPE_HIGH)
            + cube.clone() * (CUBIC - CUBIC_HIGH)
            + (t - h.clone()) * (powers * CUBIC + TANH_SLOPE);
        Self {
            e: (h * -SLOPE_HIGH).exp() * (cube * -CUBIC_HIGH).exp() * (-rest).exp(),
            negative: x.clone().below(0.0),
            closed: x.clone().below(-TANH_X_MAX),
            open: x.above(TANH_X_MAX),
        }
    }

    /// `x·σ(u)`.
    pub(super) fn value(self, x: Term<B>) -> Term<B> {
        let numerator = x.clone().constant(1.0).replaced(self.negative, self.e.clone());
        (x * numerator / (self.e + 1.0)).filled(self.closed, -0.0)
    }

    /// `σ(u)·(1 + x·u′·σ(−u))`.
    pub(super) fn derivative(self, x: Term<B>, du: Term<B>) -> Term<B> {
        let large = (self.e.clone() + 1.0).reciprocal();
        let small = self.e * large.clone();
        let sigma = large.clone().replaced(self.negative.clone(), small.clone());
        let other = small.replaced(self.negative, large);
        (sigma * (x * du * other + 1.0)).filled(self.closed, 0.0).filled(self.open, 1.0)
    }
}

pub(super) fn tanh_derivative<B: Backend>(x: Term<B>) -> Term<B> {
    let near = x.clone().between(-TANH_X_MAX, TANH_X_MAX);
    let square = near.clone() * near.clone();
    let du = (square * (3.0 * TANH_CUBIC) + 1.0) * TANH_SLOPE;
    Gate::of_tanh(x).derivative(near, du)
}

/// `Φ(x)`.
pub(super) fn cdf<B: Backend>(x: Term<B>) -> Term<B> {
    let t = x.clone().abs().at_most(T_MAX);
    let w = (t.clone() + 2.0).reciprocal();
    let tail = normal_exponential(t.clone()) * horner(&S, t * w.clone()) * w;
    (-tail.clone() + 1.0).replaced(x.below(0.0), tail)
}

/// `φ(x)`.
pub(super) fn pdf<B: Backend>(x: Term<B>) -> Term<B> {
    const FRAC_1_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;
    normal_exponential(x.abs().at_most(T_MAX)) * FRAC_1_SQRT_2_PI
}

/// `z = min(t, 1/t)` for the Cauchy unit, and where `t > 1`.
fn folded<B: Backend>(t: Term<B>) -> (Term<B>, BoolTensor<B>) {
    let far = t.clone().above(1.0);
    let inverse = t.clone().replaced(t.clone().at_or_below(1.0), t.clone().constant(1.0));
    (t.replaced(far.clone(), inverse.reciprocal()), far)
}

/// `x·(1/2 + atan(x)/π)`.
pub(super) fn cauchy<B: Backend>(x: Term<B>) -> Term<B> {
    let t = x.clone().abs();
    let (z, far) = folded(t.clone());
    let y = z.clone() * z.clone();
    let arc = (y.clone() + 1.0).reciprocal() + y.clone() * horner(&ARC, y);
    let near = t.at_most(1.0) * (z * arc.clone() * -FRAC_1_PI + 0.5);
    let negative = x.clone().below(0.0);
    x.filled(negative, -0.0) - near.replaced(far, arc * FRAC_1_PI)
}

/// `1/2 + atan(x)/π + x/(π·(1 + x²))`.
pub(super) fn cauchy_derivative<B: Backend>(x: Term<B>) -> Term<B> {
    let (z, far) = folded(x.clone().abs());
    let y = z.clone() * z.clone();
    let rest = z.clone() * y.clone() * horner(&ARC, y.clone());
    let near = (z * 2.0 / (y + 1.0) + rest.clone()) * -FRAC_1_PI + 0.5;
    let slope = near.replaced(far, rest * FRAC_1_PI);
    (-slope.clone() + 1.0).replaced(x.below(0.0), slope)
}

pub(super) fn elu<B: Backend>(x: Term<B>) -> Term<B> {
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

pub(super) fn elu_derivative<B: Backend>(x: Term<B>) -> Term<B> {
    let gone = x.clone().below(-U_MAX);
    x.between(-U_MAX, 0.0).exp().filled(gone, 0.0)
}

pub(super) fn relu<B: Backend>(x: Term<B>) -> Term<B> {
    let negative = x.clone().at_or_below(0.0);
    x.filled(negative, 0.0)
}

pub(super) fn relu_derivative<B: Backend>(x: Term<B>) -> Term<B> {
    let (negative, positive) = (x.clone().at_or_below(0.0), x.clone().above(0.0));
    x.filled(negative, 0.0).filled(positive, 1.0)
}

pub(super) fn horner<B: Backend>(coefficients: &[f64], v: Term<B>) -> Term<B> {
    let (last, rest) = coefficients.split_last().expect("a polynomial has a coefficient");
    let start = v.clone().constant(*last);
    rest.iter().rev().fold(start, |sum, &c| sum * v.clone() + c)
}
