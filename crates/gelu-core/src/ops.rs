use crate::{Draw, DropoutMask, Unit, composed};
use burn_core as burn;
use burn_core::backend::{Backend, backend_extension, tensor::FloatTensor};

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

    /// `unit(x + bias)`, with dropout if there is one: what stands between two matrix products.
    /// `x` is `[..., columns]`, `bias` `[columns]`.
    fn bias_activation_dropout(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        unit: Unit,
        dropout: Option<DropoutMask>,
    ) -> FloatTensor<Self> {
        composed::bias_activation_dropout::<Self>(x, bias, unit, dropout)
    }

    /// The gradients of [`bias_activation_dropout`](Self::bias_activation_dropout) for `x` and
    /// for `bias`, given that of its result.
    fn bias_activation_dropout_backward(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        unit: Unit,
        dropout: Option<DropoutMask>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::bias_activation_dropout_backward::<Self>(x, bias, dy, unit, dropout)
    }

    /// The GELU's own stochastic map: `x` where the draw's uniform number is below Φ(x), else 0.
    fn stochastic_map(x: FloatTensor<Self>, draw: Draw) -> FloatTensor<Self> {
        composed::stochastic_gate::<Self>(x.clone(), x, draw)
    }

    /// `dy` where [`stochastic_map`](Self::stochastic_map) let `x` through, else 0.
    fn stochastic_map_backward(
        x: FloatTensor<Self>,
        dy: FloatTensor<Self>,
        draw: Draw,
    ) -> FloatTensor<Self> {
        composed::stochastic_gate::<Self>(x, dy, draw)
    }
}
