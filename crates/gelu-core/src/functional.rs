//! The activations as plain functions on tensors of any rank.
//!
//! | on | f32 values and derivatives |
//! |---|---|
//! | Flex (CPU) | within 0.51 ULP of the exact result, same bits on every CPU |
//! | any other backend | composed of tensor operations; for x ≥ −5 within 4 ULP for the exact GELU, 32 for its tanh form, 8 for the others; below that within 1e-9 (SiLU and ELU 1e-7) |
//!
//! All let NaN through, give no NaN for finite input, and differentiate to the derivative of
//! their own formula, keeping one tensor (the input) for the backward pass.

use crate::{ActivationOps, Unit};
use burn_core::backend::Dispatch;
use burn_core::tensor::Tensor;

/// Applies `unit` elementwise.
pub fn unit<const D: usize>(x: Tensor<D>, unit: Unit) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::activation(x.into_dispatch(), unit))
}

/// The exact GELU, `x·Φ(x)` with Φ the CDF of the standard normal distribution.
///
/// −0 for −0 and −∞; +∞ for +∞. Hendrycks & Gimpel, arXiv 1606.08415, §2.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// let x = Tensor::<1>::from_floats([-3.0, 1.0], &Device::default());
/// let y = gelu_core::gelu(x).into_data().try_to_vec::<f32>().unwrap();
/// assert_eq!(y, [-0.004_049_694, 0.841_344_75]);
/// ```
pub fn gelu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Gelu)
}

/// The tanh form of GELU, `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))` (§2).
pub fn gelu_tanh<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::GeluTanh)
}

/// The sigmoid form of GELU, `x·σ(1.702·x)` (§2).
pub fn gelu_sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::GeluSigmoid)
}

/// SiLU (swish), `x·σ(x)`: the GELU with a logistic CDF (§2).
pub fn silu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Silu)
}

/// ELU with α = 1: `x` for x > 0, else `e^x − 1` (Clevert et al., arXiv 1511.07289).
pub fn elu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Elu)
}

/// ReLU, `max(x, 0)`, with derivative 0 at 0.
pub fn relu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Relu)
}
