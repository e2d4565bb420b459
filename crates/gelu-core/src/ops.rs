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

/// What a backend does for activations. Every method has a body composed of the backend's own
/// tensor operations, so an empty `impl` makes any backend work; a backend with kernels of its own
/// overrides them.
///
/// The composed bodies stay within the accuracy documented in [`functional`](crate::functional).
/// Autodiff keeps one tensor, `x`; masks are drawn again where they are needed.
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
    /// `unit(x)`, elementwise.
    fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
        composed::forward::<Self>(x, unit)
    }

    /// `dy · unit′(x)`, elementwise.
    fn activation_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::backward::<Self>(x, dy, unit)
    }

    /// `factor · unit″(x)`, elementwise.
    fn activation_curvature(
        x: FloatTensor<Self>,
        factor: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::curvature::<Self>(x, factor, unit)
    }

    /// `unit(x + bias)`, `x` being `[..., columns]` and `bias` `[columns]`.
    fn bias_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::bias_activation_dropout::<Self>(x, bias, unit, None)
    }

    /// The gradients of [`bias_activation`](Self::bias_activation) for `x` and for `bias`, given
    /// that of its result.
    fn bias_activation_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::bias_activation_dropout_backward::<Self>(x, bias, dy, unit, None)
    }

    /// [`bias_activation`](Self::bias_activation) with dropout: what stands between two matrix
    /// products. `key` holds the words of a [`Key`](crate::random::Key), and elements whose number
    /// is below `threshold` are dropped.
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

    /// The gradients of [`bias_activation_dropout`](Self::bias_activation_dropout) for `x` and
    /// for `bias`, given that of its result.
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

    /// Dropout alone, and its own gradient: `x` where `key`'s number is not below `threshold`, scaled
    /// up, else 0.
    fn dropout(x: FloatTensor<Self>, key: IntTensor<Self>, threshold: u32) -> FloatTensor<Self> {
        composed::dropout::<Self>(x, mask_of::<Self>(key, threshold))
    }

    /// `unit(gate)·value`, where gate and value are the halves of the last dimension of `x`,
    /// `[..., 2·columns]`. The result is `[..., columns]`.
    fn gated(x: FloatTensor<Self>, unit: Unit, gate: GateHalf) -> FloatTensor<Self> {
        composed::gated::<Self>(x, unit, gate)
    }

    /// The gradient of [`gated`](Self::gated) for `x`, given that of its result.
    fn gated_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
        gate: GateHalf,
    ) -> FloatTensor<Self> {
        composed::gated_backward::<Self>(x, dy, unit, gate)
    }

    /// `unit(gate)·value`, elementwise, of two tensors of one shape.
    fn gated_pair(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        unit: Unit,
    ) -> FloatTensor<Self> {
        composed::gated_pair::<Self>(gate, value, unit)
    }

    /// The gradients of [`gated_pair`](Self::gated_pair) for `gate` and for `value`, given that of its
    /// result.
    fn gated_pair_backward(
        gate: FloatTensor<Self>,
        value: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::gated_pair_backward::<Self>(gate, value, dy, unit)
    }

    /// The GELU's own stochastic map: `x` where the key's uniform number is below Φ(x), else 0.
    fn stochastic_map(x: FloatTensor<Self>, key: IntTensor<Self>) -> FloatTensor<Self> {
        composed::stochastic_map::<Self>(x.clone(), x, draw_of::<Self>(key))
    }

    /// `dy` where [`stochastic_map`](Self::stochastic_map) let `x` through, else 0.
    fn stochastic_map_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        key: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        composed::stochastic_map::<Self>(x, dy, draw_of::<Self>(key))
    }
}
