//! Mish, `x·tanh(ln(1 + e^x))` (Misra, arXiv 1908.08681).
//!
//! `tanh ln(1 + w) = n/(n + 2)` with `n = w·(w + 2)`, so with `e = e^−|x|`
//!
//! ```text
//! x < 0:  x·e·(e + 2)/(n + 2)                       n = e·(e + 2)
//!         e·((e + 2)·(n + 2) + 4x·(1 + e))/(n + 2)²
//! x ≥ 0:  x·(1 + 2e)/d                              d = 1 + 2e + 2e²
//!         (1 + 4e + 6e² + 4e³ + 4x·e²·(1 + e))/d²
//! ```

use super::Function;
use crate::arithmetic::{Arithmetic, Digits, Exponential, Zero};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Mish;

impl Function for Mish {
    const NAME: &str = "mish";
    const LABEL: &str = "Mish";

    /// Returns −0 for −0 and −∞, and +∞ for +∞.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let reach = super::sigmoid::reach(&x);
        let small = (-x.clone().abs().at_most(reach)).exp();
        let (e, x) = (small.clone().value(), x.at_least(-reach));
        let n = e.clone() * (e.clone() + 2.0);
        let below = small.times(x.clone() * (e.clone() + 2.0) / (n + 2.0));
        let twice = e.clone() * 2.0 + 1.0;
        let above = x.clone() * (twice.clone() / (twice + e.clone() * e * 2.0));
        A::choose(x.below(0.0), below, above)
    }

    /// Returns 0 for −∞ and 1 for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(super::sigmoid::reach(&x));
        let small = (-t.clone()).exp();
        let e = small.clone().value();
        let n = e.clone() * (e.clone() + 2.0) + 2.0;
        let bracket = match x.digits() {
            // This form equals the one below and cancels less.
            Digits::Double => {
                let rest = e.clone() * ((e.clone() + 4.0) * e.clone() + 2.0);
                (-t.clone() + 1.0) * (e.clone() + 1.0) * 4.0 + rest
            }
            _ => (e.clone() + 2.0) * n.clone() - t.clone() * (e.clone() + 1.0) * 4.0,
        };
        let below = small.times(bracket / (n.clone() * n));
        let square = e.clone() * e.clone();
        let d = e.clone() * 2.0 + 1.0 + square.clone() * 2.0;
        let powers = ((e.clone() * 4.0 + 6.0) * e.clone() + 4.0) * e.clone() + 1.0;
        let above = (powers + t * square * (e + 1.0) * 4.0) / (d.clone() * d);
        let result = A::choose(x.below(0.0), below, above);
        let nothing = x.constant(0.0);
        DERIVATIVE_ZERO.or_elsewhere(x, nothing, result)
    }

    /// Returns `(1 − h²)·σ(x)·(2 + x·(σ(−x) − 2h·σ(x)))` with `h = tanh ln(1 + e^x)`; 0 for ±∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, _: A::Parameter) -> A {
        let t = x.clone().abs().at_most(super::sigmoid::reach(&x));
        let small = (-t.clone()).exp();
        let e = small.clone().value();
        let w = x.constant(1.0) / (e.clone() + 1.0);
        let (far, twice) = (e.clone() * w.clone(), e.clone() * 2.0);
        let square = e.clone() * e.clone();
        let (m, d) = (square.clone() + twice.clone() + 2.0, square * 2.0 + twice.clone() + 1.0);
        let below = {
            let h = e.clone() * (e.clone() + 2.0) / m.clone();
            let bracket = -(t.clone() * (w.clone() - h * far.clone() * 2.0)) + 2.0;
            small.clone().times(bracket * (e.clone() + 1.0) * 4.0 / (m.clone() * m))
        };
        let h = (twice + 1.0) / d.clone();
        let bracket = t * (far - h * w * 2.0) + 2.0;
        let above = small.times(e.clone() * bracket * (e + 1.0) * 4.0 / (d.clone() * d));
        A::choose(x.below(0.0), below, above)
    }
}

const DERIVATIVE_ZERO: Zero<25> = Zero {
    radius: 0.5,
    high: -1.1924312145154952,
    low: -4.8484829848031044e-17,
    coefficients: [
        0.2669479140495345,
        0.20473126408010586,
        0.04190782104360987,
        -0.020271822716684245,
        -0.01582112656173338,
        -0.0033606849270232685,
        0.0010924055409445854,
        0.0009898181021289196,
        0.00025412936386191073,
        -4.1961496031696126e-05,
        -5.582891567360688e-05,
        -1.72992708103044e-05,
        9.427361327376651e-07,
        2.9088199364912223e-06,
        1.071676702702074e-06,
        2.6879417855557728e-08,
        -1.4117255919499382e-07,
        -6.174424363104907e-08,
        -5.460186173028381e-09,
        6.3895954615089855e-09,
        3.3604012383661332e-09,
        4.817646300218697e-10,
        -2.6751871594311224e-10,
        -1.7442209713382678e-10,
        -3.3904729895707114e-11,
    ],
};
