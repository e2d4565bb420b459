#![cfg_attr(
    not(any(
        feature = "flex",
        feature = "ndarray",
        feature = "cubecl-backend",
        feature = "tch",
        feature = "remote",
        feature = "capture",
    )),
    allow(unused_variables, reason = "without a backend nobody is handed them")
)]

use crate::random::{draw_of, mask_of};
use crate::{GateHalf, Unit, composed};
use burn_core as burn;
use burn_core::backend::{
    Backend, backend_extension,
    tensor::{FloatTensor, IntTensor},
};

/// The operations of a backend for activations. Every method has a default body that composes the
/// backend's own tensor operations, so an empty `impl` is enough for any backend. A backend with
/// kernels of its own overrides the methods.
///
/// The default bodies have the accuracy documented in [`functional`](crate::functional). Autodiff
/// stores one tensor, `x`. Masks are computed again where they are needed.
#[backend_extension(
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cubecl-backend"),
    LibTorch: cfg(feature = "tch"),
    Remote: cfg(feature = "remote"),
    Capture: cfg(feature = "capture"),
    Autodiff: cfg(feature = "autodiff"),
)]
pub trait ActivationOps: Backend {
    /// Returns `unit(x)`, elementwise.
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        composed::forward::<Self>(x, unit)
    }

    /// Returns `dy · unit′(x)`, elementwise.
    fn activation_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::backward::<Self>(x, dy, unit)
    }

    /// Returns `factor · unit″(x)`, elementwise.
    fn activation_curvature(
        x: FloatTensor<Self>,
        factor: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::curvature::<Self>(x, factor, unit)
    }

    /// Returns `unit(x + bias)`, where `x` is `[..., columns]` and `bias` is `[columns]`.
    fn bias_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::bias_activation_dropout::<Self>(x, bias, unit, None)
    }

    /// Returns the gradients of [`bias_activation`](Self::bias_activation) for `x` and for `bias`,
    /// given the gradient `dy` of its result.
    fn bias_activation_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::bias_activation_dropout_backward::<Self>(x, bias, dy, unit, None)
    }

    /// Returns [`bias_activation`](Self::bias_activation) with dropout: the step between two matrix
    /// products. `key` holds the words of a [`Key`](crate::random::Key), and elements whose random
    /// number is below `threshold` are dropped.
    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> FloatTensor<Self> {
        let mask = mask_of::<Self>(key, threshold);
        composed::bias_activation_dropout::<Self>(x, bias, unit, Some(mask))
    }

    /// Returns the gradients of [`bias_activation_dropout`](Self::bias_activation_dropout) for `x` and
    /// for `bias`, given the gradient `dy` of its result.
    fn bias_activation_dropout_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
        unit: Unit,
        threshold: u32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let mask = mask_of::<Self>(key, threshold);
        composed::bias_activation_dropout_backward::<Self>(x, bias, dy, unit, Some(mask))
    }

    /// Returns `x` after dropout: 0 where the random number of `key` is below `threshold`, and
    /// otherwise `x` times a factor. The gradient is the same function of `dy`.
    fn dropout(x: FloatTensor<Self>, key: IntTensor<Self>, threshold: u32) -> FloatTensor<Self> {
        composed::dropout::<Self>(x, mask_of::<Self>(key, threshold))
    }

    /// Returns `unit(gate)·value`, `[..., columns]`, where gate and value are the halves of the last
    /// dimension of `x`, `[..., 2·columns]`.
    fn gated(x: FloatTensor<Self>, unit: Unit, gate: GateHalf) -> FloatTensor<Self> {
        composed::gated::<Self>(x, unit, gate)
    }

    /// Returns the gradient of [`gated`](Self::gated) for `x`, given the gradient `dy` of its result.
    fn gated_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
        gate: GateHalf,
    ) -> FloatTensor<Self> {
        composed::gated_backward::<Self>(x, dy, unit, gate)
    }

    /// Returns `unit(gate)·value`, elementwise, of two tensors of the same shape.
    fn gated_pair(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::gated_pair::<Self>(gate, value, unit)
    }

    /// Returns the gradients of [`gated_pair`](Self::gated_pair) for `gate` and for `value`, given the
    /// gradient `dy` of its result.
    fn gated_pair_backward(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::gated_pair_backward::<Self>(gate, value, dy, unit)
    }

    /// Returns the GELU's stochastic map: `x` where the random number of `key` is below Φ(x), and 0
    /// elsewhere.
    fn stochastic_map(x: FloatTensor<Self>, key: IntTensor<Self>) -> FloatTensor<Self> {
        composed::stochastic_map::<Self>(x.clone(), x, draw_of::<Self>(key))
    }

    /// Returns `dy` where [`stochastic_map`](Self::stochastic_map) returns `x`, and 0 elsewhere.
    fn stochastic_map_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        composed::stochastic_map::<Self>(x, dy, draw_of::<Self>(key))
    }
}
