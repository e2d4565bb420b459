//! Functions of one number in f64.

use super::{Function, Job, Unit};
use crate::arithmetic::Double;

/// Evaluates a function in f64, or its first or second derivative. This is the reference, and the
/// code that f64 tensors use.
struct OnDouble<const ORDER: u8> {
    x: f64,
    parameter: f64,
}

impl<const ORDER: u8> Job for OnDouble<ORDER> {
    type Output = f64;

    fn run<F: Function>(self) -> f64 {
        F::of_order::<_, ORDER>(Double(self.x), self.parameter).0
    }
}

impl Unit {
    fn on_double<const ORDER: u8>(self, x: f64) -> f64 {
        let parameter = self.checked().parameter();
        self.kind().with(OnDouble::<ORDER> { x, parameter })
    }

    /// Returns the function's value at `x`, in double precision.
    ///
    /// # Panics
    ///
    /// If the parameter is out of range ([`validated`](Self::validated)).
    pub fn value(self, x: f64) -> f64 {
        self.on_double::<0>(x)
    }

    /// Returns the derivative at `x`; at a kink, the value that the function's documentation gives.
    ///
    /// # Panics
    ///
    /// If the parameter is out of range ([`validated`](Self::validated)).
    pub fn derivative(self, x: f64) -> f64 {
        self.on_double::<1>(x)
    }

    /// Returns the second derivative at `x`. At a kink or a jump, it is the second derivative of
    /// the piece that the derivative takes its value from.
    ///
    /// ```
    /// use gelu_kernels::Unit;
    /// // 2·φ(0)
    /// assert!((Unit::Gelu.second_derivative(0.0) - 0.797_884_560_802_865_4).abs() < 1e-15);
    /// assert_eq!(Unit::Relu.second_derivative(1.0), 0.0);
    /// ```
    ///
    /// # Panics
    ///
    /// If the parameter is out of range ([`validated`](Self::validated)).
    pub fn second_derivative(self, x: f64) -> f64 {
        self.on_double::<2>(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_derivatives_are_the_difference_quotients_of_the_first() {
        let others = [
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
        ];
        let h = 1e-5;
        for unit in Unit::ALL.into_iter().chain(others) {
            let mut compared = 0;
            for x in (-4_000..=4_000).map(|step| f64::from(step) * 3.1e-3 + 7e-5) {
                let [below, above] = [x - h, x + h].map(|x| unit.second_derivative(x));
                if (below - above).abs() > 1e-2 {
                    // The second derivative jumps between the two.
                    continue;
                }
                let quotient = (unit.derivative(x + h) - unit.derivative(x - h)) / (2.0 * h);
                let got = unit.second_derivative(x);
                assert!((got - quotient).abs() <= 2e-9, "{unit}″({x}): {got}, {quotient}");
                compared += 1;
            }
            assert!(compared > 7_990, "{unit}: {compared}");
        }
    }

    #[test]
    fn second_derivatives_end_at_their_limits_and_are_never_nan() {
        for unit in Unit::ALL {
            let far = [f64::NEG_INFINITY, f64::MIN, -1e9, 1e9, f64::MAX, f64::INFINITY];
            for x in far {
                let exact = match unit {
                    Unit::SquaredRelu | Unit::Gelu2 | Unit::SmoothRelu2 { .. } if x > 0.0 => 2.0,
                    Unit::LeakyRelu2 { slope } if x < 0.0 => 2.0 * slope * slope,
                    Unit::LeakyRelu2 { .. } => 2.0,
                    // The function is √x there, whose second derivative vanishes more slowly.
                    Unit::SqrtSoftplus if x > 0.0 => -0.25 / (x * x.sqrt()),
                    _ => 0.0,
                };
                let got = unit.second_derivative(x);
                assert!((got - exact).abs() <= 1e-15, "{unit}″({x}): {got}");
            }
            for power in 0..330 {
                for x in [0.0, 1.0, -1.0].map(|sign| sign * 0.1f64.powi(power)) {
                    assert!(unit.second_derivative(x).is_finite(), "{unit}″({x})");
                }
            }
            assert!(unit.second_derivative(f64::NAN).is_nan(), "{unit}");
        }
    }
}
