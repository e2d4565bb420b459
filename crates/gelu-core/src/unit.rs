use crate::math::{elu, logistic, normal, wide};

/// An elementwise function that the kernels know, with its derivative.
///
/// This is what the backend extension [`ActivationOps`](crate::ActivationOps) is told to compute;
/// [`Activation`](crate::Activation) is what people pick from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Gelu, Self::GeluTanh, Self::GeluSigmoid, Self::Silu, Self::Elu, Self::Relu];

    /// The function on one number, in double precision throughout.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Gelu => wide::gelu(x),
            Self::GeluTanh => wide::gelu_tanh(x),
            Self::GeluSigmoid => wide::gelu_sigmoid(x),
            Self::Silu => wide::silu(x),
            Self::Elu => wide::elu(x),
            Self::Relu => relu(x),
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
            Self::Relu => relu_derivative(x),
        }
    }

    /// Runs `job` with the function for narrow types: f64 inside, rounded once by the caller.
    pub(crate) fn with_value<J: Job>(self, job: J) -> J::Output {
        match self {
            Self::Gelu => job.run(normal::gelu),
            Self::GeluTanh => job.run(logistic::gelu_tanh),
            Self::GeluSigmoid => job.run(logistic::gelu_sigmoid),
            Self::Silu => job.run(logistic::silu),
            Self::Elu => job.run(elu::elu),
            Self::Relu => job.run(relu),
        }
    }

    /// Runs `job` with the derivative for narrow types.
    pub(crate) fn with_derivative<J: Job>(self, job: J) -> J::Output {
        match self {
            Self::Gelu => job.run(normal::gelu_derivative),
            Self::GeluTanh => job.run(logistic::gelu_tanh_derivative),
            Self::GeluSigmoid => job.run(logistic::gelu_sigmoid_derivative),
            Self::Silu => job.run(logistic::silu_derivative),
            Self::Elu => job.run(elu::elu_derivative),
            Self::Relu => job.run(relu_derivative),
        }
    }
}

/// Something to do with a formula. A trait rather than a function pointer, so that the loop around
/// the formula is compiled for each one and vectorises.
pub(crate) trait Job {
    /// What comes out.
    type Output;

    /// Does it.
    fn run(self, f: impl Fn(f64) -> f64 + Copy) -> Self::Output;
}

#[inline(always)]
fn relu(x: f64) -> f64 {
    // Lets NaN through, as `max` would not; −0 and negative numbers become +0.
    if x <= 0.0 { 0.0 } else { x }
}

#[inline(always)]
fn relu_derivative(x: f64) -> f64 {
    let step = if x > 0.0 { 1.0 } else { 0.0 };
    if x.is_nan() { x } else { step }
}
