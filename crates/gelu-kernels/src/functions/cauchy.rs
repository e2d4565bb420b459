//! The unit with a Cauchy CDF, `x·P(C ≤ x) = x·(1/2 + atan(x)/π)`, C standard Cauchy (Hendrycks &
//! Gimpel, §4): tends to −1/π for x → −∞, as an ELU with α = 1/π does.
//!
//! With `t = |x|`, `z = min(t, 1/t)` and `atan z = z/(1 + z²) + z³·Q(z²)`, the tail's probability
//! and the tail of the derivative, `P(C ≤ −t) − t/(π·(1 + t²))`, are for t > 1 sums of positive
//! terms, so that nothing cancels far out:
//!
//! ```text
//! t·P(C ≤ −t) = (1/(1 + z²) + z²·Q(z²))/π        derivative's tail: z³·Q(z²)/π
//! ```
//!
//! On 0 ≤ z ≤ 1 the relative error of Q is 2^-36.4, and 2^-55.8 in f64;
//! `tests/accuracy/fit.py` prints it.

use super::Function;
use crate::arithmetic::{Arithmetic, Digits};
use core::f64::consts::FRAC_1_PI;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cauchy;

impl Function for Cauchy {
    const NAME: &str = "cauchy";
    const LABEL: &str = "Cauchy";

    /// Keeps the sign of a zero; −1/π for −∞, +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs();
        let z = folded(t.clone());
        let y = z.clone() * z.clone();
        let arc = x.constant(1.0) / (y.clone() + 1.0) + y.clone() * q(y);
        let near = t.clone().at_most(1.0) * (-(z * arc.clone() * FRAC_1_PI) + 0.5);
        x.positive_part() - A::choose(t.above(1.0), arc * FRAC_1_PI, near)
    }

    /// 0 for −∞, 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs();
        let z = folded(t.clone());
        let y = z.clone() * z.clone();
        let rest = z.clone() * y.clone() * q(y.clone());
        let near = -((z * 2.0 / (y + 1.0) + rest.clone()) * FRAC_1_PI) + 0.5;
        A::on_its_side(&x, A::choose(t.above(1.0), rest * FRAC_1_PI, near))
    }

    /// `2/(π·(1 + x²)²)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let inverse = x.constant(1.0) / (x.clone() * x + 1.0);
        inverse.clone() * inverse * (2.0 * FRAC_1_PI)
    }
}

/// `min(t, 1/t)`.
#[inline(always)]
fn folded<A: Arithmetic>(t: A) -> A {
    let far = t.above(1.0);
    // Without dividing by a zero.
    let inverse = t.constant(1.0) / t.clone().at_least(1.0);
    A::choose(far, inverse, t)
}

/// `Q(y)`.
#[inline(always)]
fn q<A: Arithmetic>(y: A) -> A {
    match y.digits() {
        Digits::Double => (y - 0.5).polynomial(&DOUBLE),
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

const DOUBLE: [f64; 24] = [
    0.4075061694008731,
    -0.3336296193137303,
    0.2414814556917338,
    -0.16839500155231604,
    0.11551426789588197,
    -0.07854839897331957,
    0.05313287085278296,
    -0.03581926719293431,
    0.024091352681367046,
    -0.01617646299149663,
    0.010848540628239313,
    -0.007268607927673018,
    0.004866349653076456,
    -0.0032562149853430696,
    0.00217888652010014,
    -0.0014567083402499761,
    0.0009667233918621441,
    -0.000645934917230294,
    0.0004601777929318327,
    -0.0003073302159429367,
    0.0001291334080872492,
    -8.6240590488184e-05,
    0.00017352377764779091,
    -0.00011581498205693095,
];
