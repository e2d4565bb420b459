//! One file a function, or one a family: its formula and derivative, coefficients and names.
//!
//! The table below is all that the rest of the crate knows of them: the enum [`Unit`], parsing and
//! names, serde, the code on the wire, the kernels of every backend, the tests of accuracy and of
//! backends follow from it. To add a function, write its file, declare it, and add its line (and
//! what `tests/accuracy/` then asks for: its bound, and its formula in `generate.py`).

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

/// What a function's file has to say.
pub trait Function: Copy + Send + Sync + 'static {
    /// Its canonical name.
    const NAME: &str;
    /// Its name as people write it.
    const LABEL: &str;
    /// Other ecosystems' names, in lower case with hyphens.
    const ALIASES: &[&str] = &[];
    /// The parameter that follows its name.
    const PARAMETER: Option<Parameter> = None;
    /// Whether it takes no longer than a copy: several threads then pay for long slices alone.
    const CHEAP: bool = false;

    /// The function.
    fn value<A: Arithmetic>(x: A, parameter: A::Parameter) -> A;

    /// Its derivative.
    fn derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A;

    /// The derivative of that; at a kink or a jump, that of the piece that the derivative takes its
    /// value from.
    fn second_derivative<A: Arithmetic>(x: A, parameter: A::Parameter) -> A;

    /// The derivative of an order up to 2, the function itself being that of order 0. The order is a constant, so
    /// that code is compiled for one alone.
    #[inline(always)]
    fn of_order<A: Arithmetic, const ORDER: u8>(x: A, parameter: A::Parameter) -> A {
        match ORDER {
            0 => Self::value(x, parameter),
            1 => Self::derivative(x, parameter),
            _ => Self::second_derivative(x, parameter),
        }
    }

    /// The function on an f32, where a multiply-add is fused.
    #[inline(always)]
    fn fused(x: f32, parameter: f64) -> f32 {
        Self::value(Rounded(f64::from(x)), parameter).0 as f32
    }

    /// Its derivative on an f32, where a multiply-add is fused.
    #[inline(always)]
    fn fused_derivative(x: f32, parameter: f64) -> f32 {
        Self::derivative(Rounded(f64::from(x)), parameter).0 as f32
    }
}

/// A function's parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// What its formula calls it.
    pub name: &'static str,
    /// What it is where none is given.
    pub default: f64,
    /// The smallest value that it may have.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Parameter {
    /// Squares, quotients and products of numbers up to it, and of their reciprocals, are normal
    /// numbers in f32, so that no formula makes NaN of them.
    const MOST: f64 = 1e18;

    /// A number from −10¹⁸ to 10¹⁸.
    const fn any(name: &'static str, default: f64) -> Self {
        Self::within(name, default, -Self::MOST, Self::MOST)
    }

    /// A number from 10⁻¹⁸ to 10¹⁸.
    const fn positive(name: &'static str, default: f64) -> Self {
        Self::within(name, default, 1.0 / Self::MOST, Self::MOST)
    }

    /// A number from `least` to `most`.
    const fn within(name: &'static str, default: f64, least: f64, most: f64) -> Self {
        Self { name, default, least, most }
    }

    /// Whether it may have this value. An end of the range is one also as bf16 rounds it, by up to a 256th.
    fn allows(&self, value: f64) -> bool {
        let room = |end: f64| end.abs() / 256.0;
        (self.least - room(self.least)..=self.most + room(self.most)).contains(&value)
    }
}

/// Something to do with a function. A trait rather than a function pointer, so that the loop around
/// the formula is compiled for each one and vectorises.
pub trait Job {
    /// What comes out.
    type Output;

    /// Does it.
    fn run<F: Function>(self) -> Self::Output;
}

/// The functions. A line is
///
/// ```text
/// code => Variant(file::Type), "what the documentation says";
/// ```
///
/// with `{ name }` behind the variant if there is a parameter. The code is the function's on the
/// wire and never changes; a new function takes the next one, wherever its line stands.
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

/// What all functions have in common, made of the table.
macro_rules! units {
    ($($code:literal => $variant:ident $({ $parameter:ident })? ($file:ident :: $type:ident), $doc:literal;)*) => {
        /// An elementwise function that the kernels know, with its derivative.
        ///
        /// In gelu-core it is `functional::Unit`, what a Burn backend is told to compute;
        /// `gelu_core::Activation` is what people pick from there, which may also be drawn, learned or
        /// their own.
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

        /// Which function, whatever its parameter. The number is its code on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[doc(hidden)]
        pub enum Kind {
            $(#[doc = $doc] $variant = $code,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$variant),*];

            /// Runs `job` with the function.
            pub fn with<J: Job>(self, job: J) -> J::Output {
                match self {
                    $(Self::$variant => job.run::<$file::$type>(),)*
                }
            }
        }

        impl Unit {
            /// All of them, with their usual parameters.
            pub const ALL: [Self; [$($code),*].len()] = [
                $(Self::$variant $({
                    $parameter: match <$file::$type as Function>::PARAMETER {
                        Some(parameter) => parameter.default,
                        None => panic!("a function has the parameter that its line says"),
                    },
                })?,)*
            ];

            /// Which function.
            #[doc(hidden)]
            pub fn kind(self) -> Kind {
                match self {
                    $(Self::$variant $({ $parameter: _ })? => Kind::$variant,)*
                }
            }

            /// The parameter, 0 if there is none.
            pub fn parameter(self) -> f64 {
                match self {
                    $(Self::$variant $({ $parameter })? => {
                        let _none = 0.0;
                        $(let _none = $parameter;)?
                        _none
                    })*
                }
            }

            /// The function with this parameter, which is left out if it has none.
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
    /// Whether it takes no longer than a copy.
    pub(crate) fn is_cheap(self) -> bool {
        self.with(IsCheap)
    }

    /// Runs `job` with the function as a gated unit computes it.
    pub(crate) fn with_gate<J: Job>(self, job: J) -> J::Output {
        match self {
            Self::Silu => job.run::<silu_gate::SiluGate>(),
            kind => kind.with(job),
        }
    }

    /// Runs `job` with the function as a gated unit computes it, if it is the gate of SwiGLU or GEGLU, whose
    /// value and derivative have an exponential in common.
    pub(crate) fn with_common_gate<J: Job>(self, job: J) -> Option<J::Output> {
        match self {
            Self::Silu => Some(job.run::<silu_gate::SiluGate>()),
            Self::Gelu => Some(job.run::<gelu::Gelu>()),
            Self::GeluTanh => Some(job.run::<gelu_tanh::GeluTanh>()),
            _ => None,
        }
    }
}
