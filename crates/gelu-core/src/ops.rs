use crate::{Unit, composed};
use burn_core as burn;
use burn_core::backend::{Backend, backend_extension, tensor::FloatTensor};

/// What a backend does for activations. Every method has a body composed of the backend's own
/// tensor operations, so an empty `impl` makes any backend work; a backend with kernels of its own
/// overrides them.
///
/// The composed bodies stay within the accuracy documented in [`functional`](crate::functional).
/// Autodiff keeps one tensor, `x`.
#[backend_extension(
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cubecl-backend"),
    LibTorch: cfg(feature = "tch"),
    Remote: cfg(feature = "remote"),
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
}
