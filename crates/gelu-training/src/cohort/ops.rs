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

use super::SliceUnits;
use super::composed;
use crate::{AdamStep, TrainingOps};
use burn_core as burn;
use burn_core::backend::{Backend, backend_extension, tensor::FloatTensor};
use std::sync::Arc;

/// What a backend does for [cohorts](crate::cohort). Every method has a body composed of the backend's own
/// operations, so an empty `impl` makes any backend work.
#[backend_extension(
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cubecl-backend"),
    LibTorch: cfg(feature = "tch"),
    Remote: cfg(feature = "remote"),
    Capture: cfg(feature = "capture"),
    Autodiff: cfg(feature = "autodiff"),
)]
pub trait CohortOps: Backend + TrainingOps {
    /// The product of each slice, `x·weight`: `x` is `[slices, batch, inputs]`, `weight` `[slices, inputs,
    /// outputs]`.
    fn cohort_product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(x, weight)
    }

    /// The gradient of [`cohort_product`](Self::cohort_product) for `x`, given that of its result.
    fn cohort_product_input_gradient(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        Self::float_matmul(gradient, Self::float_transpose(weight))
    }

    /// The gradient of [`cohort_product`](Self::cohort_product) for `weight`, given that of its result.
    fn cohort_product_weight_gradient(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        Self::float_matmul(Self::float_transpose(x), gradient)
    }

    /// `drop(unit(x + bias))` with each slice's own unit and dropout: `x` is `[slices, batch, columns]`, `bias`
    /// `[slices, 1, columns]`.
    fn cohort_activation(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        units: SliceUnits,
    ) -> FloatTensor<Self> {
        composed::activation::<Self>(x, bias, &units)
    }

    /// The gradients of [`cohort_activation`](Self::cohort_activation) for `x` and for `bias`, given that of its
    /// result.
    fn cohort_activation_gradients(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        units: SliceUnits,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::activation_gradients::<Self>(x, bias, gradient, &units)
    }

    /// The mean of each slice of `[slices, numbers]`: `[slices]`.
    fn cohort_means(x: FloatTensor<Self>) -> FloatTensor<Self> {
        composed::means::<Self>(x)
    }

    /// The sum of each slice of `[slices, numbers]`: `[slices]`.
    fn cohort_sums(x: FloatTensor<Self>) -> FloatTensor<Self> {
        composed::sums::<Self>(x)
    }

    /// One step of Adam with each slice's own numbers: as [`TrainingOps::adam_step`], of tensors whose first
    /// dimension is the slice.
    fn cohort_adam_step(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        steps: Arc<[AdamStep]>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        composed::adam_step::<Self>([parameter, gradient, moment_1, moment_2], &steps)
    }
}
