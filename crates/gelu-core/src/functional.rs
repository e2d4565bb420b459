//! The activations as plain functions on tensors of any rank.
//!
//! | on | f32 values and derivatives, in units in the last place (ULP) |
//! |---|---|
//! | Flex (CPU) | GELU within 2.5 and 2.1, its tanh form within 2.7 and 3.5, all others within 0.51; the same bits on every CPU with a fused multiply-add |
//! | CubeCL (Vulkan, wgpu, Metal, CUDA, ROCm, its CPU) | GELU within 4, all others within 8 (the Cauchy unit's derivative 10); subnormal results may be 0 |
//! | any other backend | composed of tensor operations; for x ≥ −5 within 4 (GELU) or 16, below that within 1e-9 (SiLU, ELU and the Cauchy unit 1e-7) absolutely |
//!
//! The first row holds for all 2³² inputs (`cargo run --release -p gelu-core --example verify`,
//! `tests/accuracy`), the others for those of `tests/backend.rs`. A derivative next to its zero
//! counts in units of at least 2⁻²⁴ where that zero is not factored out: everywhere but for GELU,
//! and on Flex for the tanh form alone.
//!
//! All let NaN through, give no NaN for finite input, and differentiate to the derivative of
//! their own formula, keeping one tensor (the input) for the backward pass.

use crate::backends::dispatch::dispatched;
use crate::{ActivationOps, Draw, DropoutMask, Unit};
use burn_core::backend::Dispatch;
use burn_core::tensor::Tensor;

/// Applies `unit` elementwise.
pub fn unit<const D: usize>(x: Tensor<D>, unit: Unit) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::activation(dispatched(x), unit))
}

/// `dy·unit′(x)`, elementwise: the backward pass by itself, for who differentiates by hand.
///
/// # Panics
///
/// If the shapes differ.
pub fn unit_backward<const D: usize>(x: Tensor<D>, dy: Tensor<D>, unit: Unit) -> Tensor<D> {
    assert_eq!(x.dims(), dy.dims(), "a gradient has the shape of what it is the gradient of");
    let (x, dy) = (dispatched(x), dispatched(dy));
    Tensor::from_dispatch(Dispatch::activation_backward(x, dy, unit))
}

/// The exact GELU, `x·Φ(x)` with Φ the CDF of the standard normal distribution.
///
/// −0 for −0 and −∞; +∞ for +∞. Hendrycks & Gimpel, arXiv 1606.08415, §2.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// let x = Tensor::<1>::from_floats([-3.0, 1.0], &Device::default());
/// let y = gelu_core::gelu(x).into_data().try_to_vec::<f32>().unwrap();
/// assert_eq!(y, [-0.004_049_694, 0.841_344_7]);
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

/// ELU: `x` for x > 0, else `α·(e^x − 1)` (Clevert et al., arXiv 1511.07289, where α = 1).
pub fn elu<const D: usize>(x: Tensor<D>, alpha: f64) -> Tensor<D> {
    unit(x, Unit::Elu { alpha })
}

/// ReLU, `max(x, 0)`, with derivative 0 at 0.
pub fn relu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Relu)
}

/// The unit with the CDF of the standard Cauchy distribution, `x·(1/2 + atan(x)/π)` (§4): tends to
/// −1/π for x → −∞, as an ELU with α = 1/π does.
pub fn cauchy<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Cauchy)
}

/// `Φ(x)`, the CDF of the standard normal distribution, with derivative `φ(x)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// // x·Φ((x − μ)/σ), the GELU of N(μ, σ²).
/// let x = Tensor::<1>::from_floats([-3.0, 1.0], &Device::default());
/// let y = x.clone() * gelu_core::normal_cdf((x - 0.5) / 2.0);
/// let y = y.into_data().try_to_vec::<f32>().unwrap();
/// assert_eq!(y, [-0.120_177_47, 0.598_706_3]);
/// ```
pub fn normal_cdf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::NormalCdf)
}

/// The stochastic map whose mean is the GELU: `x` with probability Φ(x), else 0 (§2).
///
/// Its derivative is 1 where `x` was let through, and 0 elsewhere. Probabilities are multiples of
/// 2⁻²⁴.
pub fn stochastic_gelu<const D: usize>(x: Tensor<D>, draw: Draw) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::stochastic_map(dispatched(x), draw))
}

/// `unit(x + bias)` with dropout, if there is one, in a single pass: what stands between two
/// matrix products.
///
/// # Shapes
///
/// - x and output: `[..., columns]`
/// - bias: `[columns]`
///
/// # Panics
///
/// If the last dimension of `x` is not the length of `bias`, or they are of different types.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::{Draw, DropoutMask, Unit, functional};
///
/// let x = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, -4.0]], &Device::default());
/// let bias = Tensor::<1>::from_floats([0.5, -0.5], &Device::default());
/// let dropout = DropoutMask::new(0.5, Draw { seed: 1, step: 0 });
/// let y = functional::bias_activation_dropout(x, bias, Unit::Relu, Some(dropout));
/// // What is kept is doubled.
/// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [3.0, 3.0, 7.0, 0.0]);
/// ```
pub fn bias_activation_dropout<const D: usize>(
    x: Tensor<D>,
    bias: Tensor<1>,
    unit: Unit,
    dropout: Option<DropoutMask>,
) -> Tensor<D> {
    let (shape, columns) = (x.dims(), bias.dims()[0]);
    assert!(
        shape.last() == Some(&columns),
        "a bias of {columns} numbers needs rows as long, got a tensor of {shape:?}"
    );
    assert_eq!(x.dtype(), bias.dtype(), "a tensor and its bias are of one type");
    let (x, bias) = (dispatched(x), dispatched(bias));
    Tensor::from_dispatch(Dispatch::bias_activation_dropout(x, bias, unit, dropout))
}

/// DropoutMask alone, with a mask that is drawn again in the backward pass instead of being stored.
pub fn dropout<const D: usize>(x: Tensor<D>, dropout: DropoutMask) -> Tensor<D> {
    let columns = x.dims().last().copied().unwrap_or(1);
    let no_bias = Tensor::zeros([columns], (&x.device(), x.dtype()));
    bias_activation_dropout(x, no_bias, Unit::Identity, Some(dropout))
}
