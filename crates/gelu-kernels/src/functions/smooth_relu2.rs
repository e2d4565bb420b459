//! A smooth squared ReLU, `x·(x + √(x² + a²))/2` (nanochat, pull request 828, "Smooth the squared-ReLU
//! activation"). It tends to the squared ReLU for a → 0, and to `−a²/4` for x → −∞. No derivative has a kink,
//! and the function rises everywhere.
//!
//! With `s = √(x² + a²)`,
//!
//! ```text
//! f  = x·(x + s)/2        f′ = (x + s)²/(2s)        f″ = ((x + s)/s)²·(2 − x/s)/2
//! ```
//!
//! For x < 0 the sum `x + s` would cancel; the code computes it as `a²/(s + |x|)` there.

use super::{Function, Parameter};
use crate::arithmetic::{Arithmetic, Digits};

#[derive(Clone, Copy, Debug)]
pub(crate) struct SmoothRelu2;

impl Function for SmoothRelu2 {
    const NAME: &str = "smooth-relu2";
    const LABEL: &str = "smooth squared ReLU";
    const ALIASES: &[&str] = &["smooth-squared-relu"];
    const PARAMETER: Option<Parameter> = Some(Parameter::within("a", 0.2, 1e-9, 1e9));

    /// Keeps the sign of a zero; returns `−a²/4` for −∞ and overflows to +∞ where x² does.
    #[inline(always)]
    fn value<A: Arithmetic>(x: A, a: A::Parameter) -> A {
        let a = x.parameter(a);
        let t = x.clone().abs();
        // Beyond this limit t/(s + t) is 1/2, and s would be infinite.
        let far = t.clone().at_most(reach(&x));
        let share = far.clone() / (root(far.clone(), &a) + far);
        let below = a.clone() * a.clone() * share * -0.5;
        let above = x.clone() * 0.5 * (x.clone() + root(t, &a));
        A::choose(x.below(0.0), below, above)
    }

    /// Returns 0 for −∞ and +∞ for +∞.
    #[inline(always)]
    fn derivative<A: Arithmetic>(x: A, a: A::Parameter) -> A {
        let a = x.parameter(a);
        let t = x.clone().abs();
        let s = root(t.clone(), &a);
        let sum = a.clone() * a.clone() / (s.clone() + t.clone());
        let below = sum.clone() * (sum / (s.clone() * 2.0));
        let below = match x.digits() {
            Digits::Double => below * (lost(&t, &s, &a) + 1.0),
            _ => below,
        };
        let above = (t + s) * (cosine(&x, &a) + 1.0) * 0.5;
        A::choose(x.below(0.0), below, above)
    }

    /// Returns 0 for −∞ and 2 for +∞.
    #[inline(always)]
    fn second_derivative<A: Arithmetic>(x: A, a: A::Parameter) -> A {
        let a = x.parameter(a);
        let t = x.clone().abs();
        let s = root(t.clone(), &a);
        let g = cosine(&x, &a);
        let below = a.clone() * a.clone() / (s.clone() + t) / s;
        let share = A::choose(x.below(0.0), below, g.clone() + 1.0);
        let g = A::choose(x.below(0.0), -g.clone(), g);
        share.clone() * share * (-g + 2.0) * 0.5
    }
}

/// Returns a limit up to which t² is finite. Beyond it `s = t` in all digits, for every a up to its maximum of
/// 10⁹.
#[inline(always)]
fn reach<A: Arithmetic>(x: &A) -> f64 {
    x.by_digits(1e18, 1e100, 1e100)
}

/// Returns `√(t² + a²)`; +∞ for +∞.
#[inline(always)]
fn root<A: Arithmetic>(t: A, a: &A) -> A {
    let far = t.above(reach(&t));
    let near = t.clone().at_most(reach(&t));
    let s = (near.clone() * near + a.clone() * a.clone()).sqrt();
    A::choose(far, t, s)
}

/// Returns the relative rounding error of `(a²)²/((s + t)²·2s)`: the sum of the errors of the five factors a²,
/// s and s + t. Where t² would be infinite, the result does not matter.
#[inline(always)]
fn lost<A: Arithmetic>(t: &A, s: &A, a: &A) -> A {
    let (t, s) = (t.clone().at_most(reach(t)), s.clone().at_most(reach(t)));
    let (square, square_low) = a.clone().product(a.clone());
    let (of_t, of_t_low) = t.clone().product(t.clone());
    let (of_s, of_s_low) = s.clone().product(s.clone());
    // The rounding error of s is (t² + a² − s²)/(2s).
    let larger = (of_t - of_s).walled() + square.clone();
    let root_low = (larger + (of_t_low + square_low.clone() - of_s_low)) / (s.clone() * 2.0);
    let sum = (s.clone() + t.clone()).walled();
    let sum_low = (t - (sum.clone() - s.clone()).walled()) + root_low.clone();
    (square_low / square - sum_low / sum) * 2.0 - root_low / s
}

/// Returns `|x|/s`; 1 for ±∞.
#[inline(always)]
fn cosine<A: Arithmetic>(x: &A, a: &A) -> A {
    let t = x.clone().abs().at_most(reach(x));
    t.clone() / root(t, a)
}

#[cfg(test)]
mod tests {
    use crate::Unit;

    #[test]
    fn squares_past_what_f64_holds_of_x_are_those_of_squared_relu() {
        // a² is negligible compared with x², so f = x², f′ = 2x and f″ = 2.
        let unit = Unit::SmoothRelu2 { a: 0.2 };
        for (got, exact) in [
            (unit.value(1e120), 1e240),
            (unit.derivative(1e120), 2e120),
            (unit.second_derivative(1e120), 2.0),
            (unit.value(-1e120), -0.01),
        ] {
            assert!((got / exact - 1.0).abs() < 1e-15, "{got:e}, {exact:e}");
        }
    }
}
