//! The functions, one file per function or per family: formulas, derivatives, coefficients and names.
//!
//! The rest of the crate uses the functions only through the table below. The enum [`Unit`], parsing and names,
//! serde, the codes on the wire, the kernels of every backend, and the tests of accuracy and of backends follow
//! from it. To add a function, write its file, declare the file, and add a line to the table. `tests/accuracy/`
//! then asks for the function's bound, and for its formula in `generate.py`.

mod cauchy;
mod clipped_gelu;
mod elu;
mod gelu;
mod gelu2;
mod gelu_sigmoid;
mod gelu_tanh;
mod hard;
mod identity;
mod laplace;
mod mish;
mod normal_cdf;
mod on_double;
mod relu;
mod shrink;
mod sigmoid;
mod silu;
#[cfg(feature = "loops")]
mod silu_gate;
mod smooth_relu2;
mod softplus;
mod softsign;
mod sqrt_softplus;
mod tanh;
mod unit;

use crate::arithmetic::{Arithmetic, Rounded};
pub use unit::{InvalidParameter, Names, ParseUnitError, compact, normalised};

/// A function, as its file defines it.
pub trait Function: Copy + Send + Sync + 'static {
    /// The canonical name.
    const NAME: &str;
    /// The name as people write it.
    const LABEL: &str;
    /// The names that other ecosystems use, in lower case with hyphens.
    const ALIASES: &[&str] = &[];
    /// The parameter that follows the name.
    const PARAMETER: Option<Parameter> = None;
    /// Whether the function takes no longer than a copy. Several threads then help only on long slices.
    const CHEAP: bool = false;

    /// Returns the function's value at `x`.
    fn value<A: Arithmetic>(x: A, parameter: A::Parameter) -> A;

    /// Returns the derivative at `x`.
    fn derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A;

    /// Returns the second derivative at `x`. At a kink or a jump, it is the second derivative of the piece that
    /// the derivative takes its value from.
    fn second_derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A;

    /// Returns the derivative of order `ORDER`, up to 2; order 0 is the function itself. The order is a constant,
    /// so that the compiler generates code for one order only.
    #[inline(always)]
    fn of_order<A: Arithmetic, const ORDER: u8>(x: A, parameter: A::Parameter) -> A {
        match ORDER {
            0 => Self::value(x, parameter),
            1 => Self::derivative(x, parameter),
            _ => Self::second_derivative(x, parameter),
        }
    }

    /// Returns the function's value at an f32, where a multiply-add is fused.
    #[inline(always)]
    fn fused(x: f32, parameter: f64) -> f32 {
        Self::value(Rounded(f64::from(x)), parameter).0 as f32
    }

    /// Returns the derivative at an f32, where a multiply-add is fused.
    #[inline(always)]
    fn fused_derivative(x: f32, parameter: f64) -> f32 {
        Self::derivative(Rounded(f64::from(x)), parameter).0 as f32
    }
}

/// A function's parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name of the parameter in the formula.
    pub name: &'static str,
    /// The value where none is given.
    pub default: f64,
    /// The smallest value that is allowed.
    pub least: f64,
    /// The largest value that is allowed.
    pub most: f64,
}

impl Parameter {
    /// The limit of all parameters. Squares, quotients and products of numbers up to this limit and of their
    /// reciprocals are normal numbers in f32, so that no formula makes NaN of them.
    const MOST: f64 = 1e18;

    /// Returns a parameter from −10¹⁸ to 10¹⁸.
    const fn any(name: &'static str, default: f64) -> Self {
        Self::within(name, default, -Self::MOST, Self::MOST)
    }

    /// Returns a parameter from 10⁻¹⁸ to 10¹⁸.
    const fn positive(name: &'static str, default: f64) -> Self {
        Self::within(name, default, 1.0 / Self::MOST, Self::MOST)
    }

    /// Returns a parameter from `least` to `most`.
    const fn within(name: &'static str, default: f64, least: f64, most: f64) -> Self {
        Self { name, default, least, most }
    }

    /// Returns whether `value` is allowed. The range is wider by 1/256 at each end, because bf16 may round an end
    /// by that much.
    fn allows(&self, value: f64) -> bool {
        let room = |end: f64| end.abs() / 256.0;
        (self.least - room(self.least)..=self.most + room(self.most)).contains(&value)
    }
}

/// Code that runs with a function. This is a trait rather than a function pointer, so that the loop around the
/// formula is compiled for each function and vectorises.
pub trait Job {
    /// The type of the result.
    type Output;

    /// Runs the code with the function `F`.
    fn run<F: Function>(self) -> Self::Output;
}

/// The table of functions. A line is
///
/// ```text
/// code => Variant(file::Type), "documentation of the variant";
/// ```
///
/// with `{ name }` after the variant if the function has a parameter. The code identifies the function on the
/// wire and never changes; a new function takes the next code, wherever its line is.
#[doc(hidden)]
#[macro_export]
macro_rules! table {
    ($generate:path) => {
        $generate! {
            0 => Gelu(gelu::Gelu), "The exact GELU, `x·Φ(x)`.";
            1 => GeluTanh(gelu_tanh::GeluTanh), "The tanh form of GELU, `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))`.";
            2 => GeluSigmoid(gelu_sigmoid::GeluSigmoid), "The sigmoid form of GELU, `x·σ(1.702·x)`.";
            9 => ClippedGelu { limit } (clipped_gelu::ClippedGelu), "The exact GELU, cut off at ±limit.";
            30 => Gelu2(gelu2::Gelu2), "The exact GELU squared, `(x·Φ(x))²`.";
            3 => Silu(silu::Silu), "SiLU (swish), `x·σ(x)`.";
            10 => Mish(mish::Mish), "Mish, `x·tanh(ln(1 + e^x))`.";
            4 => Elu { alpha } (elu::Elu), "ELU: `x` for x > 0, else `α·(e^x − 1)`.";
            11 => Celu { alpha } (elu::Celu), "CELU: `x` for x > 0, else `α·(e^(x/α) − 1)`.";
            12 => Selu(elu::Selu), "SELU: λ times the ELU of a certain α.";
            5 => Relu(relu::Relu), "ReLU, `max(x, 0)`.";
            13 => LeakyRelu { slope } (relu::LeakyRelu), "Leaky ReLU: `x` for x > 0, else `slope·x`.";
            14 => Relu6(relu::Relu6), "ReLU6, `min(max(x, 0), 6)`.";
            15 => SquaredRelu(relu::SquaredRelu), "Squared ReLU, `max(x, 0)²`.";
            31 => LeakyRelu2 { slope } (relu::LeakyRelu2), "Squared leaky ReLU: `x²` for x > 0, else `(slope·x)²`.";
            32 => SmoothRelu2 { a } (smooth_relu2::SmoothRelu2), "A smooth squared ReLU, `x·(x + √(x² + a²))/2`.";
            29 => ThresholdedRelu { theta } (relu::ThresholdedRelu), "Thresholded ReLU: `x` for x > θ, else 0.";
            16 => Softplus { beta } (softplus::Softplus), "Softplus, `ln(1 + e^(β·x))/β`.";
            33 => SqrtSoftplus(sqrt_softplus::SqrtSoftplus), "The square root of softplus, `√ln(1 + e^x)`.";
            17 => Sigmoid(sigmoid::Sigmoid), "The logistic function, `σ(x) = 1/(1 + e^−x)`.";
            23 => LogSigmoid(softplus::LogSigmoid), "The logarithm of the logistic function, `−ln(1 + e^−x)`.";
            18 => Tanh(tanh::Tanh), "The hyperbolic tangent.";
            24 => Softsign(softsign::Softsign), "Softsign, `x/(1 + |x|)`.";
            25 => Hardtanh { limit } (hard::Hardtanh), "Hard tanh, `min(max(x, −limit), limit)`.";
            26 => Tanhshrink(shrink::Tanhshrink), "Tanh shrinkage, `x − tanh x`.";
            27 => Softshrink { lambda } (shrink::Softshrink), "Soft shrinkage: `x` moved towards 0 by λ.";
            28 => Hardshrink { lambda } (shrink::Hardshrink), "Hard shrinkage: `x` for |x| > λ, else 0.";
            19 => HardSigmoid(hard::HardSigmoid), "Hard sigmoid, `min(max((x + 3)/6, 0), 1)`.";
            20 => HardSwish(hard::HardSwish), "Hard swish, `x·min(max((x + 3)/6, 0), 1)`.";
            21 => HardMish(hard::HardMish), "Hard Mish, `x·min(max((x + 2)/2, 0), 1)`.";
            6 => Cauchy(cauchy::Cauchy), "The unit with a Cauchy CDF, `x·(1/2 + atan(x)/π)`.";
            22 => Laplace(laplace::Laplace), "`Φ((x − 0.707107)/0.282095)`, as transformers' `laplace`.";
            7 => Identity(identity::Identity), "`x` itself: a linear layer, or dropout alone.";
            8 => NormalCdf(normal_cdf::NormalCdf), "`Φ(x)`, the CDF of the standard normal distribution.";
        }
    };
}

/// Generates what all functions have in common from the table.
macro_rules! units {
    ($($code:literal => $variant:ident $({ $parameter:ident })? ($file:ident :: $type:ident), $doc:literal;)*) => {
        /// An elementwise function of this crate, with its derivative.
        ///
        /// gelu-core calls this type `functional::Unit`: the function that a Burn backend computes. Users pick a
        /// `gelu_core::Activation`, which may also be stochastic, learnable or custom.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Unit {
            $(
                #[doc = $doc]
                $variant $({
                    #[doc = concat!("The ", stringify!($parameter), " of the formula.")]
                    $parameter: f64,
                })?,
            )*
        }

        /// A function without the value of its parameter. The number is the function's code on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[doc(hidden)]
        pub enum Kind {
            $(#[doc = $doc] $variant = $code,)*
        }

        impl Kind {
            /// All functions.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$variant),*];

            /// Runs `job` with the function.
            pub fn with<J: Job>(self, job: J) -> J::Output {
                match self {
                    $(Self::$variant => job.run::<$file::$type>(),)*
                }
            }
        }

        impl Unit {
            /// All functions, with their default parameters.
            pub const ALL: [Self; [$($code),*].len()] = [
                $(Self::$variant $({
                    $parameter: match <$file::$type as Function>::PARAMETER {
                        Some(parameter) => parameter.default,
                        None => panic!("a function has the parameter that its line says"),
                    },
                })?,)*
            ];

            /// Returns the function without its parameter.
            #[doc(hidden)]
            pub fn kind(self) -> Kind {
                match self {
                    $(Self::$variant $({ $parameter: _ })? => Kind::$variant,)*
                }
            }

            /// Returns the parameter, or 0 if there is none.
            pub fn parameter(self) -> f64 {
                match self {
                    $(Self::$variant $({ $parameter })? => {
                        let _none = 0.0;
                        $(let _none = $parameter;)?
                        _none
                    })*
                }
            }

            /// Returns the function with this parameter, which is ignored if the function has none.
            #[doc(hidden)]
            pub fn from_parts(kind: Kind, parameter: f64) -> Self {
                let _ = parameter;
                match kind {
                    $(Kind::$variant => Self::$variant $({ $parameter: parameter })?,)*
                }
            }
        }
    };
}

table!(units);

#[cfg(feature = "loops")]
struct IsCheap;

#[cfg(feature = "loops")]
impl Job for IsCheap {
    type Output = bool;

    fn run<F: Function>(self) -> bool {
        F::CHEAP
    }
}

#[cfg(feature = "loops")]
impl Kind {
    /// Returns whether the function takes no longer than a copy.
    pub(crate) fn is_cheap(self) -> bool {
        self.with(IsCheap)
    }

    /// Runs `job` with the form of the function that gated units use.
    pub(crate) fn with_gate<J: Job>(self, job: J) -> J::Output {
        match self {
            Self::Silu => job.run::<silu_gate::SiluGate>(),
            kind => kind.with(job),
        }
    }

    /// Runs `job` if the function is the gate of SwiGLU or GEGLU, and returns `None` otherwise. The value and the
    /// derivative of these gates share an exponential.
    pub(crate) fn with_common_gate<J: Job>(self, job: J) -> Option<J::Output> {
        match self {
            Self::Silu => Some(job.run::<silu_gate::SiluGate>()),
            Self::Gelu => Some(job.run::<gelu::Gelu>()),
            Self::GeluTanh => Some(job.run::<gelu_tanh::GeluTanh>()),
            _ => None,
        }
    }
}
