use super::CohortOps;
use crate::backends::dispatched;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{FloatDType, Tensor};
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_optim::GradientsParams;

/// Keeps the norm of each network's gradients together below a limit, as
/// [`clip_by_global_norm`](crate::clip_by_global_norm) does for one network: where the root of the sum of their
/// squares, n, is larger, each is multiplied by `largest/(n + 1e-6)`. The first dimension of every gradient is the
/// network.
///
/// # Panics
///
/// If `largest` is not above 0.
pub fn clip_by_slice_norm<M: Module>(
    gradients: GradientsParams,
    cohort: &M,
    largest: f64,
) -> GradientsParams {
    assert!(largest > 0.0, "a norm can be limited to what is above 0, got {largest}");
    let mut squares = Squares { gradients: &gradients, sums: None };
    cohort.visit(&mut squares);
    let Some(sums) = squares.sums else { return gradients };
    let factors = (sums.sqrt() + 1e-6).recip().mul_scalar(largest).clamp_max(1.0);
    let mut scaled = Scaled { gradients, factors };
    cohort.visit(&mut scaled);
    scaled.gradients
}

struct Squares<'a> {
    gradients: &'a GradientsParams,
    /// `[slices]`; `None` before the first gradient.
    sums: Option<Tensor<1>>,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let Some(gradient) = self.gradients.get::<D>(param.id) else { return };
        let (slices, numbers) = (gradient.dims()[0], gradient.shape().num_elements());
        let squares = gradient.cast(FloatDType::F32).powi_scalar(2);
        let rows = squares.reshape([slices, numbers / slices.max(1)]);
        let sums = Tensor::from_dispatch(Dispatch::cohort_sums(dispatched(rows)));
        self.sums = Some(match self.sums.take() {
            Some(before) => before + sums,
            None => sums,
        });
    }
}

struct Scaled {
    gradients: GradientsParams,
    /// `[slices]`
    factors: Tensor<1>,
}

impl ModuleVisitor for Scaled {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let Some(gradient) = self.gradients.remove::<D>(param.id) else { return };
        let dtype = FloatDType::from(gradient.dtype());
        let mut shape = [1; D];
        shape[0] = gradient.dims()[0];
        let factors = self.factors.clone().reshape(shape);
        let scaled = gradient.cast(FloatDType::F32) * factors;
        self.gradients.register(param.id, scaled.cast(dtype));
    }
}
