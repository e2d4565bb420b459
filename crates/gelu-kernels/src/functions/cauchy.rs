//! The unit with a Cauchy CDF, `x·P(C ≤ x) = x·(1/2 + atan(x)/π)`, C standard Cauchy (Hendrycks & Gimpel, §4). It
//! tends to −1/π for x → −∞, as an ELU with α = 1/π does.
//!
//! Let `t = |x|`, `z = t` for t ≤ 1 and `z = 1/t` above, and `atan z = z/(1 + z²) + z³·Q(z²)`. For t > 1 the
//! probability of the tail and the tail of the derivative, `P(C ≤ −t) − t/(π·(1 + t²))`, are sums of positive
//! terms, so nothing cancels far out:
//!
//! ```text
//! t·P(C ≤ −t) = (1/(1 + z²) + z²·Q(z²))/π        derivative's tail: z³·Q(z²)/π
//! ```
//!
//! In f64 these formulas are used from t = 0.8 on. Below 0.8 the tail of the derivative is computed by a formula
//! that cancels less: `((1 − t)² + (2 − 4/π)·t)/(2·(1 + t²)) − z³·Q(z²)/π`.
//!
//! The relative error of Q is 2^-36.4 on 0 ≤ z ≤ 1, and in f64 2^-54.8 on 0 ≤ z ≤ 1.25; `tests/accuracy/fit.py`
//! prints both.

use super::Function;
use crate::arithmetic::{Arithmetic, Digits};
use core::f64::consts::FRAC_1_PI;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cauchy;

impl Function for Cauchy {
    const NAME: &str = "cauchy";
    const LABEL: &str = "Cauchy";

    /// Keeps the sign of a zero; returns −1/π for −∞ and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs();
        let z = folded(t.clone());
        let y = z.clone() * z.clone();
        let arc = x.constant(1.0) / (y.clone() + 1.0) + y.clone() * q(y);
        let near = t.clone().at_most(1.0) * (-(z * arc.clone() * FRAC_1_PI) + 0.5);
        x.positive_part() - A::choose(t.above(edge(&t)), arc * FRAC_1_PI, near)
    }

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs();
        let z = folded(t.clone());
        let y = z.clone() * z.clone();
        let (far, near) = match x.digits() {
            Digits::Double => {
                let part = q(y.clone()) * FRAC_1_PI;
                // Dividing by t is more accurate than multiplying by its inverse, which is rounded.
                let large = t.clone().at_least(edge(&t));
                let far = part.clone() / large.clone() / (large.clone() * large);
                let below = -z.clone() + 1.0;
                let sum = below.clone() * below + z.clone() * (2.0 - 4.0 * FRAC_1_PI);
                (far, sum / ((y.clone() + 1.0) * 2.0) - z * y * part)
            }
            _ => {
                let rest = z.clone() * y.clone() * q(y.clone());
                let near = -((z * 2.0 / (y + 1.0) + rest.clone()) * FRAC_1_PI) + 0.5;
                (rest * FRAC_1_PI, near)
            }
        };
        A::on_its_side(&x, A::choose(t.above(edge(&t)), far, near))
    }

    /// Returns `2/(π·(1 + x²)²)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inverse = x.constant(1.0) / (x.clone() * x + 1.0);
        inverse.clone() * inverse * (2.0 * FRAC_1_PI)
    }
}

/// Returns the largest t for which the formulas for small t are used.
#[inline(always)]
fn edge<A: Arithmetic>(t: &A) -> f64 {
    t.by_digits(1.0, 1.0, 0.8)
}

/// Returns `t` up to the edge and `1/t` above it.
#[inline(always)]
fn folded<A: Arithmetic>(t: A) -> A {
    let far = t.above(edge(&t));
    // The limit keeps the divisor away from zero.
    let inverse = t.constant(1.0) / t.clone().at_least(edge(&t));
    A::choose(far, inverse, t)
}

/// Returns `Q(y)`.
#[inline(always)]
fn q<A: Arithmetic>(y: A) -> A {
    match y.digits() {
        Digits::Double => (y - 0.781_25).polynomial(&DOUBLE),
        Digits::Single | Digits::Half | Digits::Rounded => y.polynomial(&ROUNDED),
    }
}

const ROUNDED: [f64; 15] = [
    0.6666666666603607,
    -0.7999999971559527,
    0.8571426424066884,
    -0.8888824299888105,
    0.9089881018732707,
    -0.92207901482021,
    0.9269094246636671,
    -0.91220692381714,
    0.852235052285756,
    -0.7179022557357773,
    0.510572642675494,
    -0.28467217164958125,
    0.11390995212481413,
    -0.02865662891006685,
    0.003373102788083732,
];

const DOUBLE: [f64; 28] = [
    0.3296347179398842,
    -0.2294760668779418,
    0.14067884858133342,
    -0.08293214248587824,
    0.04804079948378723,
    -0.027567629142313196,
    0.01572953120512459,
    -0.008941707475683734,
    0.005070071657655388,
    -0.0028695142160725592,
    0.001621840577804498,
    -0.0009156987485869314,
    0.0005165726693506722,
    -0.000291230074960603,
    0.00016416769159878343,
    -9.246407981133578e-05,
    5.179164613073484e-05,
    -2.9151415993590326e-05,
    1.7161533918307987e-05,
    -9.654316468893427e-06,
    3.927426397024207e-06,
    -2.209398087655276e-06,
    3.2889872780471204e-06,
    -1.84856046382802e-06,
    -7.832030246221075e-07,
    4.3992723311553494e-07,
    7.08199224414082e-07,
    -3.979431911605606e-07,
];
