//! Optimiser kernels, one per step, for every GPU that CubeCL compiles to, and for its CPU.

mod kernel;
mod launch;

use crate::cohort::CohortOps;
use crate::{AdamStep, SgdStep, TrainingOps, composed};
use burn_core::backend::{TensorMetadata, tensor::FloatTensor};
use burn_core::tensor::DType;
use burn_cubecl::CubeBackend;
use launch::Numbers;

/// Returns whether the type can be computed in f32 without loss. For f64 this backend uses Burn's
/// operations.
fn has_kernel(x: &FloatTensor<CubeBackend>) -> bool {
    matches!(x.dtype(), DType::F32 | DType::F16 | DType::BF16)
}

impl CohortOps for CubeBackend {}

impl TrainingOps for CubeBackend {
    fn adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        if !has_kernel(&gradient) {
            return composed::adam_step::<Self>(parameter, gradient, moment_1, moment_2, step);
        }
        let (parameter, [moment_1, moment_2]) =
            launch::adam(parameter, gradient, [moment_1, moment_2], step, None);
        (parameter, moment_1, moment_2)
    }

    fn amsgrad_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        maximum: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        if !has_kernel(&gradient) {
            return composed::amsgrad_step::<Self>(
                parameter, gradient, moment_1, moment_2, maximum, step,
            );
        }
        let (parameter, [moment_1, moment_2, maximum]) =
            launch::adam(parameter, gradient, [moment_1, moment_2, maximum], step, None);
        (parameter, moment_1, moment_2, maximum)
    }

    fn sgd_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        if !has_kernel(&gradient) {
            return composed::sgd_step::<Self>(parameter, gradient, velocity, step);
        }
        launch::sgd(parameter, gradient, velocity, step, None)
    }

    fn adam_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let numbers = Some(Numbers { all: numbers, first });
        let (parameter, [moment_1, moment_2]) =
            launch::adam(parameter, gradient, [moment_1, moment_2], step, numbers);
        (parameter, moment_1, moment_2)
    }

    fn amsgrad_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        maximum: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let numbers = Some(Numbers { all: numbers, first });
        let (parameter, [moment_1, moment_2, maximum]) =
            launch::adam(parameter, gradient, [moment_1, moment_2, maximum], step, numbers);
        (parameter, moment_1, moment_2, maximum)
    }

    fn sgd_step_in_place(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        numbers: FloatTensor<Self>,
        first: usize,
        step: SgdStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let numbers = Some(Numbers { all: numbers, first });
        launch::sgd(parameter, gradient, velocity, step, numbers)
    }
}
