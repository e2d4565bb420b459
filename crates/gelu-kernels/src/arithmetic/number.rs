//! f64 arithmetics: one for results in f64, one for results that are rounded to less.

use super::series::{MAGIC, polynomial, power_of_two, series};
use super::{Arithmetic, Digits, Exponential};
use core::ops::{Add, Div, Mul, Neg, Sub};

/// An f64 in a computation whose result is an f64.
#[derive(Clone, Copy, Debug)]
pub struct Double(pub f64);

/// An f64 in a computation whose result is rounded to f32 or to 16 bits. Its last 29 digits need
/// not be right, and no f32 is subnormal in it.
#[derive(Clone, Copy, Debug)]
pub struct Rounded(pub f64);

/// Implements what both types have in common.
macro_rules! number {
    ($name:ident, $digits:ident) => {
        impl Neg for $name {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        number!($name, Add add, Sub sub, Mul mul, Div div);

        impl $name {
            /// Returns an integer `k` and a remainder `r` with `self + low = k·ln 2 + r`.
            #[inline(always)]
            fn reduced(self, low: f64) -> (f64, f64) {
                const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
                const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
                let k = (self.0 * core::f64::consts::LOG2_E + MAGIC) - MAGIC;
                (k, ((self.0 - k * LN_2_HIGH) - k * LN_2_LOW) + low)
            }
        }
    };
    ($name:ident, $($operator:ident $method:ident),*) => {$(
        impl $operator for $name {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0))
            }
        }

        impl $operator<f64> for $name {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                Self(self.0.$method(other))
            }
        }
    )*};
}

number!(Double, Double);
number!(Rounded, Rounded);

/// The methods of [`Arithmetic`] with the same code for both types.
macro_rules! choices {
    () => {
        type Mask = bool;
        type Parameter = f64;

        #[inline(always)]
        fn constant(&self, value: f64) -> Self {
            Self(value)
        }

        #[inline(always)]
        fn parameter(&self, value: f64) -> Self {
            Self(value)
        }

        #[inline(always)]
        fn abs(self) -> Self {
            Self(self.0.abs())
        }

        #[inline(always)]
        fn sqrt(self) -> Self {
            #[cfg(feature = "std")]
            return Self(self.0.sqrt());
            #[cfg(not(feature = "std"))]
            return Self(libm::sqrt(self.0));
        }

        #[inline(always)]
        fn below(&self, limit: f64) -> bool {
            self.0 < limit
        }

        #[inline(always)]
        fn at_or_below(&self, limit: f64) -> bool {
            self.0 <= limit
        }

        #[inline(always)]
        fn above(&self, limit: f64) -> bool {
            self.0 > limit
        }

        #[inline(always)]
        fn choose(condition: bool, then: Self, otherwise: Self) -> Self {
            if condition { then } else { otherwise }
        }

        #[inline(always)]
        fn polynomial(self, coefficients: &[f64]) -> Self {
            Self(polynomial(self.0, coefficients))
        }
    };
}

/// `(1 + s)·2^k`. The power is stored as two factors, so that no product with it is subnormal
/// before its last rounding.
#[derive(Clone, Copy, Debug)]
pub struct DoubleExponential {
    s: f64,
    first: f64,
    second: f64,
}

impl Exponential<Double> for DoubleExponential {
    #[inline(always)]
    fn value(self) -> Double {
        Double((self.first + self.first * self.s) * self.second)
    }

    #[inline(always)]
    fn times(self, factor: Double) -> Double {
        Double((factor.0 + factor.0 * self.s) * self.first * self.second)
    }

    #[inline(always)]
    fn times_parts(self, high: Double, low: Double) -> Double {
        let sum = high.0 + (low.0 + (high.0 + low.0) * self.s);
        Double(sum * self.first * self.second)
    }
}

impl Arithmetic for Double {
    type Exponential = DoubleExponential;

    choices!();

    #[inline(always)]
    fn digits(&self) -> Digits {
        Digits::Double
    }

    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let top = leading(self.0);
        (Self(top), Self(self.0 - top))
    }

    #[inline(always)]
    fn leading(&self, constant: f64) -> f64 {
        leading(constant)
    }

    #[inline(always)]
    fn exponential(self, low: Self) -> DoubleExponential {
        let (k, r) = self.reduced(low.0);
        // The same addition and subtraction rounds half of k.
        let half = (0.5 * k + MAGIC) - MAGIC;
        DoubleExponential {
            s: series::<12>(r),
            first: power_of_two(half),
            second: power_of_two(k - half),
        }
    }

    #[inline(always)]
    fn exp_m1(self) -> Self {
        // Below −40 the result is −1.
        let (k, r) = self.at_least(-100.0).reduced(0.0);
        let scale = power_of_two(k);
        Self((scale - 1.0) + scale * series::<12>(r))
    }
}

/// Returns the leading 26 bits of `x`.
#[inline(always)]
fn leading(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 27) - 1))
}

/// `(1 + s)·2^k`, with the power as one number.
#[derive(Clone, Copy, Debug)]
pub struct RoundedExponential {
    s: f64,
    scale: f64,
}

impl Exponential<Rounded> for RoundedExponential {
    #[inline(always)]
    fn value(self) -> Rounded {
        Rounded(self.scale + self.scale * self.s)
    }

    #[inline(always)]
    fn times(self, factor: Rounded) -> Rounded {
        factor * self.value()
    }

    #[inline(always)]
    fn times_parts(self, high: Rounded, _: Rounded) -> Rounded {
        self.times(high)
    }
}

impl Arithmetic for Rounded {
    type Exponential = RoundedExponential;

    choices!();

    #[inline(always)]
    fn digits(&self) -> Digits {
        Digits::Rounded
    }

    #[inline(always)]
    fn split(self) -> (Self, Self) {
        (self, Self(0.0))
    }

    #[inline(always)]
    fn leading(&self, constant: f64) -> f64 {
        constant
    }

    #[inline(always)]
    fn exponential(self, _: Self) -> RoundedExponential {
        let (k, r) = self.reduced(0.0);
        RoundedExponential { s: series::<9>(r), scale: power_of_two(k) }
    }

    #[inline(always)]
    fn exp_m1(self) -> Self {
        let (k, r) = self.at_least(-100.0).reduced(0.0);
        let scale = power_of_two(k);
        Self((scale - 1.0) + scale * series::<9>(r))
    }

    #[inline(always)]
    fn product(self, other: Self) -> (Self, Self) {
        (self * other, Self(0.0))
    }

    #[inline(always)]
    fn sum_in_parts(product: Self, constant: f64) -> (Self, Self) {
        (product + constant, Self(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^-38, which is 2^-13 of an f32's last place.
    const ROUNDED: f64 = 3.7e-12;
    /// Two units of an f64's last place.
    const DOUBLE: f64 = 4.5e-16;

    #[test]
    fn exponentials_agree_with_libm() {
        for step in 0..=7_000 {
            let x = -f64::from(step) * 0.0999;
            let exact = libm::exp(x);
            let double = Double(x).exponential(Double(0.0)).value().0;
            assert!((double - exact).abs() <= DOUBLE * exact, "e^{x}: {double:e}, {exact:e}");
            let rounded = Rounded(x).exponential(Rounded(0.0)).value().0;
            assert!((rounded - exact).abs() <= ROUNDED * exact, "e^{x}: {rounded:e}, {exact:e}");
            let small = x * 1e-3;
            let exact = libm::expm1(small);
            let (double, rounded) = (Double(small).exp_m1().0, Rounded(small).exp_m1().0);
            assert!((double - exact).abs() <= DOUBLE * exact.abs(), "e^{small} − 1: {double:e}");
            assert!((rounded - exact).abs() <= ROUNDED * exact.abs(), "e^{small} − 1");
        }
    }

    #[test]
    fn product_with_an_exponential_is_rounded_into_the_subnormals_once() {
        // e^−745 alone is the smallest subnormal number.
        let product = Double(-745.0).exponential(Double(0.0)).times(Double(1e10)).0;
        let exact = libm::exp(-745.0 + 1e10f64.ln());
        assert!((product / exact - 1.0).abs() < 1e-12, "{product:e} {exact:e}");
    }

    #[test]
    fn product_and_its_remainder_are_exact() {
        for (a, b) in [(1.0 / 3.0, 7.0 / 11.0), (1e10 / 7.0, -3.3), (0.1, 0.1)] {
            let (high, low) = Double(a).product(Double(b));
            assert_eq!(high.0, a * b);
            assert!((low.0 - libm::fma(a, b, -high.0)).abs() <= 1e-32 * (a * b).abs());
        }
    }

    #[test]
    fn nan_stays_nan() {
        let nan = f64::NAN;
        assert!(Double(nan).exponential(Double(0.0)).value().0.is_nan());
        assert!(Rounded(nan).exp_m1().0.is_nan() && Double(nan).exp_m1().0.is_nan());
    }
}
