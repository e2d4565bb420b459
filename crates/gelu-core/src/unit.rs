use crate::math::formula::{self, Formula};
use crate::math::wide;
use serde::{Deserialize, Serialize};

/// An elementwise function that the kernels know, with its derivative.
///
/// This is what the backend extension [`ActivationOps`](crate::ActivationOps) is told to compute;
/// [`Activation`](crate::Activation) is what people pick from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// `x·Φ(x)`, exact.
    Gelu,
    /// `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))`.
    GeluTanh,
    /// `x·σ(1.702·x)`.
    GeluSigmoid,
    /// `x·σ(x)`.
    Silu,
    /// `x` for x > 0, else `e^x − 1`.
    Elu,
    /// `max(x, 0)`.
    Relu,
    /// `x·(1/2 + atan(x)/π)`, the unit with a Cauchy CDF.
    Cauchy,
    /// `x` itself: for dropout alone.
    Identity,
    /// `Φ(x)`, the CDF of the standard normal distribution: not an activation itself, but what
    /// `x·Φ((x − μ)/σ)` is made of.
    NormalCdf,
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Gelu,
        Self::GeluTanh,
        Self::GeluSigmoid,
        Self::Silu,
        Self::Elu,
        Self::Relu,
        Self::Cauchy,
        Self::Identity,
        Self::NormalCdf,
    ];

    /// The function on one number, in double precision throughout.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Gelu => wide::gelu(x),
            Self::GeluTanh => wide::gelu_tanh(x),
            Self::GeluSigmoid => wide::gelu_sigmoid(x),
            Self::Silu => wide::silu(x),
            Self::Elu => wide::elu(x),
            Self::Relu => formula::Relu.wide(x),
            Self::Cauchy => wide::cauchy(x),
            Self::Identity => x,
            Self::NormalCdf => wide::cdf(x),
        }
    }

    /// Its derivative on one number; 0 for ReLU at 0, 1 for ELU at 0.
    pub fn derivative(self, x: f64) -> f64 {
        match self {
            Self::Gelu => wide::gelu_derivative(x),
            Self::GeluTanh => wide::gelu_tanh_derivative(x),
            Self::GeluSigmoid => wide::gelu_sigmoid_derivative(x),
            Self::Silu => wide::silu_derivative(x),
            Self::Elu => wide::elu_derivative(x),
            Self::Relu => formula::ReluDerivative.wide(x),
            Self::Cauchy => wide::cauchy_derivative(x),
            Self::Identity => formula::One.wide(x),
            Self::NormalCdf => wide::pdf(x),
        }
    }

    /// Runs `job` with the function.
    pub(crate) fn with_value<J: Job>(self, job: J) -> J::Output {
        match self {
            Self::Gelu => job.run(formula::Gelu),
            Self::GeluTanh => job.run(formula::GeluTanh),
            Self::GeluSigmoid => job.run(formula::GeluSigmoid),
            Self::Silu => job.run(formula::Silu),
            Self::Cauchy => job.run(formula::Cauchy),
            Self::Elu => job.run(formula::Elu),
            Self::Relu => job.run(formula::Relu),
            Self::Identity => job.run(formula::Identity),
            Self::NormalCdf => job.run(formula::NormalCdf),
        }
    }

    /// Runs `job` with the derivative.
    pub(crate) fn with_derivative<J: Job>(self, job: J) -> J::Output {
        match self {
            Self::Gelu => job.run(formula::GeluDerivative),
            Self::GeluTanh => job.run(formula::GeluTanhDerivative),
            Self::GeluSigmoid => job.run(formula::GeluSigmoidDerivative),
            Self::Silu => job.run(formula::SiluDerivative),
            Self::Cauchy => job.run(formula::CauchyDerivative),
            Self::Elu => job.run(formula::EluDerivative),
            Self::Relu => job.run(formula::ReluDerivative),
            Self::Identity => job.run(formula::One),
            Self::NormalCdf => job.run(formula::NormalPdf),
        }
    }
}

/// Something to do with a formula. A trait rather than a function pointer, so that the loop around
/// the formula is compiled for each one and vectorises.
pub(crate) trait Job {
    /// What comes out.
    type Output;

    /// Does it.
    fn run<F: Formula>(self, formula: F) -> Self::Output;
}
