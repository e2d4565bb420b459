//! Activations as plain functions on tensors of any rank.
//!
//! | backend | accuracy of f32 values and derivatives, in units in the last place (ULP) |
//! |---|---|
//! | Flex (CPU) | GELU within 2.5 and 2.1, its tanh form within 2.7 and 3.4, all others within 0.51; bit-identical on every CPU with a fused multiply-add |
//! | CubeCL (Vulkan, wgpu, Metal, CUDA, ROCm, its CPU) | GELU within 4, all others within 8 (the Cauchy unit's derivative 10); subnormal results may be 0 |
//! | any other backend | composed of tensor operations; for x ≥ −5 within 4 (GELU) or 16; below −5 the absolute error is within 1e-9 (SiLU, ELU and the Cauchy unit 1e-7) |
//!
//! The first row holds for all 2³² inputs (this repository's example `verify`), the others for the inputs of
//! `tests/backend`. Next to a derivative's zero, errors count in units of at least 2⁻²⁴ where the formula does not
//! factor out the zero. On Flex that is only the case for the tanh form, on other backends for all functions but GELU.
//!
//! All functions return NaN for NaN, and no NaN for finite input. Each one's gradient is the derivative of its own
//! formula, and only one tensor (the input) is stored for the backward pass. A quantised tensor is dequantised first
//! and the result is a float tensor, as with Burn's own activations. A function's parameter is rounded to the tensor's
//! type first, as in Burn and PyTorch: in f32, the number 0.1 is not larger than a λ of 0.1.
//!
//! [`Unit`] lists the functions without learnable parameters and without randomness; it is also what a backend
//! receives. To let a user pick a network's activation, use [`Activation`](crate::Activation), which has all of them
//! under the same names. [`Activation::unit`](crate::Activation::unit) converts one to a `Unit`.
//!
//! # Second derivatives
//!
//! Burn differentiates once. For a loss that contains a gradient, such as a gradient penalty, write the backward pass
//! by hand with [`unit_backward`] or [`gated_backward`], and differentiate it once more. Their gradients follow the
//! formulas of all functions (0 for functions of straight lines), composed of tensor operations on every backend.

mod dequantised;
mod gated;
mod parameter;

use crate::ActivationOps;
use crate::backends::dispatch::dispatched;
use crate::random::{DropoutMask, Key};
use burn_core::backend::Dispatch;
use burn_core::tensor::Tensor;
use dequantised::dequantised;

pub use gated::{gated, gated_backward, gated_pair, geglu, reglu, swiglu};
pub use gelu_kernels::Unit;
#[doc(hidden)]
pub use parameter::in_type;

/// Applies `unit` elementwise.
///
/// # Panics
///
/// If the unit's parameter is out of range ([`Unit::validated`]).
pub fn unit<const D: usize>(x: Tensor<D>, unit: Unit) -> Tensor<D> {
    let x = dequantised(x);
    let unit = in_type(unit, x.dtype());
    Tensor::from_dispatch(Dispatch::activation(dispatched(x), unit))
}

/// Returns `dy·unit′(x)`, elementwise. Use it to write a backward pass by hand. It is differentiable in both arguments
/// ([second derivatives](self#second-derivatives)).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::functional::{self, Unit};
///
/// let x = Tensor::<1>::from_floats([0.0], &Device::default().autodiff()).require_grad();
/// let slope = functional::unit_backward(x.clone(), x.ones_like(), Unit::Gelu);
/// let curvature = x.grad(&slope.sum().backward()).unwrap().into_scalar::<f32>();
/// assert_eq!(curvature, 0.797_884_6); // 2·φ(0)
/// ```
///
/// # Panics
///
/// If the shapes or types differ, or the unit's parameter is out of range
/// ([`Unit::validated`]).
pub fn unit_backward<const D: usize>(x: Tensor<D>, dy: Tensor<D>, unit: Unit) -> Tensor<D> {
    let (x, dy) = (dequantised(x), dequantised(dy));
    assert_eq!(x.dims(), dy.dims(), "a gradient has the shape of what it is the gradient of");
    assert_eq!(x.dtype(), dy.dtype(), "a tensor and its gradient must have the same element type");
    let unit = in_type(unit, x.dtype());
    Tensor::from_dispatch(Dispatch::activation_backward(dispatched(x), dispatched(dy), unit))
}

/// Returns the exact GELU, `x·Φ(x)` with Φ the CDF of the standard normal distribution.
///
/// The result is −0 for −0 and −∞, and +∞ for +∞. See Hendrycks & Gimpel, arXiv 1606.08415, §2.
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

/// Returns the tanh form of GELU, `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))` (§2).
pub fn gelu_tanh<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::GeluTanh)
}

/// Returns the sigmoid form of GELU, `x·σ(1.702·x)` (§2).
pub fn gelu_sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::GeluSigmoid)
}

/// Returns SiLU (swish), `x·σ(x)`: the GELU with a logistic CDF (§2).
pub fn silu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Silu)
}

/// Returns ELU: `x` for x > 0, else `α·(e^x − 1)` (Clevert et al., arXiv 1511.07289, where α = 1).
///
/// # Panics
///
/// If α is not a number from −10¹⁸ to 10¹⁸.
pub fn elu<const D: usize>(x: Tensor<D>, alpha: f64) -> Tensor<D> {
    unit(x, Unit::Elu { alpha })
}

/// Returns ReLU, `max(x, 0)`, with derivative 0 at 0.
pub fn relu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Relu)
}

/// Returns the unit with the CDF of the standard Cauchy distribution, `x·(1/2 + atan(x)/π)` (§4). It tends to −1/π for
/// x → −∞, as an ELU with α = 1/π does.
pub fn cauchy<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    unit(x, Unit::Cauchy)
}

/// Returns `Φ(x)`, the CDF of the standard normal distribution, with derivative `φ(x)`.
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

/// Returns the stochastic map whose mean is the GELU: `x` with probability Φ(x), else 0 (§2). The key's random numbers
/// decide.
///
/// The derivative is 1 where the result is `x`, and 0 elsewhere. Probabilities are multiples of 2⁻²⁴.
pub fn stochastic_gelu<const D: usize>(x: Tensor<D>, key: Key) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::stochastic_map(dispatched(dequantised(x)), key.into_dispatch()))
}

/// Returns `unit(x + bias)` in a single pass, with dropout if `dropout` is given. This is the step between two matrix
/// products.
///
/// # Shapes
///
/// - x and output: `[..., columns]`
/// - bias: `[columns]`
///
/// # Panics
///
/// If the last dimension of `x` is not the length of `bias`, their types differ, or the unit's parameter is out of
/// range ([`Unit::validated`]).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::random::{Draw, DropoutMask, Key};
/// use gelu_core::functional::{self, Unit};
///
/// let device = Device::default();
/// let x = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, -4.0]], &device);
/// let bias = Tensor::<1>::from_floats([0.5, -0.5], &device);
/// let mask = DropoutMask::new(0.5, Key::known(Draw { seed: 1, step: 0 }, &device));
/// let y = functional::bias_activation_dropout(x, bias, Unit::Relu, Some(mask));
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
    let (x, bias) = (dequantised(x), dequantised(bias));
    assert_eq!(x.dtype(), bias.dtype(), "a tensor and its bias must have the same element type");
    let unit = in_type(unit, x.dtype());
    let (x, bias) = (dispatched(x), dispatched(bias));
    Tensor::from_dispatch(match dropout {
        Some(DropoutMask { key, threshold }) => {
            Dispatch::bias_activation_dropout(x, bias, key.into_dispatch(), unit, threshold)
        }
        None => Dispatch::bias_activation(x, bias, unit),
    })
}

/// Returns `x` after dropout. The backward pass computes the mask again, so nothing is stored for it.
pub fn dropout<const D: usize>(x: Tensor<D>, mask: DropoutMask) -> Tensor<D> {
    let DropoutMask { key, threshold } = mask;
    let x = dispatched(dequantised(x));
    Tensor::from_dispatch(Dispatch::dropout(x, key.into_dispatch(), threshold))
}
