//! The loops over a channel.

use crate::kernels::sum::sums;
use gelu_kernels::Work;

/// The function `(x − mean)·scale + shift`.
#[derive(Clone, Copy)]
pub(super) struct Affine {
    pub(super) mean: f32,
    pub(super) scale: f32,
    pub(super) shift: f32,
}

impl Affine {
    #[inline(always)]
    pub(super) fn at(self, x: f32) -> f32 {
        (x - self.mean) * self.scale + self.shift
    }
}

pub(super) struct AffineTo<'a> {
    pub(super) affine: Affine,
    pub(super) x: &'a [f32],
    pub(super) out: &'a mut [f32],
}

impl Work for AffineTo<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { affine, x, out } = self;
        out.iter_mut().zip(x).for_each(|(out, x)| *out = affine.at(*x));
    }
}

pub(super) struct AffineInPlace<'a> {
    pub(super) affine: Affine,
    pub(super) values: &'a mut [f32],
}

impl Work for AffineInPlace<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { affine, values } = self;
        values.iter_mut().for_each(|value| *value = affine.at(*value));
    }
}

/// Computes Σ gradient and Σ gradient·(x − mean).
pub(super) struct Products<'a> {
    pub(super) gradient: &'a [f32],
    pub(super) x: &'a [f32],
    pub(super) mean: f32,
}

impl Work for Products<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) -> [f64; 2] {
        let Self { gradient, x, mean } = self;
        sums([gradient, x], |[gradient, x]| [gradient, gradient * (x - mean)])
    }
}

/// Converts the gradient of a norm's result to the gradient for its input:
/// `scale·(g − mean gradient − (x − mean)·slope)`.
#[derive(Clone, Copy)]
pub(super) struct Inner {
    pub(super) mean: f32,
    pub(super) scale: f32,
    pub(super) mean_gradient: f32,
    pub(super) slope: f32,
}

pub(super) struct InnerInPlace<'a> {
    pub(super) inner: Inner,
    pub(super) x: &'a [f32],
    pub(super) gradient: &'a mut [f32],
}

impl Work for InnerInPlace<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const LANES: usize>(self) {
        let Self { inner: Inner { mean, scale, mean_gradient, slope }, x, gradient } = self;
        gradient
            .iter_mut()
            .zip(x)
            .for_each(|(g, x)| *g = (*g - mean_gradient - (*x - mean) * slope) * scale);
    }
}
