use crate::{AdamStep, SgdStep, composed};
use burn_core as burn;
use burn_core::backend::{Backend, backend_extension, tensor::FloatTensor};

/// What a backend does for training. Every method has a body composed of the backend's own
/// operations, so an empty `impl` makes any backend work; a backend with kernels of its own
/// overrides them.
#[backend_extension(
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cubecl-backend"),
    LibTorch: cfg(feature = "tch"),
    Remote: cfg(feature = "remote"),
    Capture: cfg(feature = "capture"),
    Autodiff: cfg(feature = "autodiff"),
)]
pub trait TrainingOps: Backend {
    /// One step of Adam: the parameter, the first and the second moment after it. All four tensors
    /// have one shape and one type.
    fn adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        composed::adam_step::<Self>(parameter, gradient, moment_1, moment_2, step)
    }

    /// One step of gradient descent with momentum: the parameter and the velocity after it. All
    /// three tensors have one shape and one type.
    fn sgd_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::sgd_step::<Self>(parameter, gradient, velocity, step)
    }
}
