//! Kernels that use random numbers: dropout alone, and the stochastic map.

use super::value;
use crate::Unit;
use crate::backends::cubecl::numbers::{Stream, numbers, stream};
use burn_cubecl::cubecl;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearView, LinearViewMut};

#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn dropout<F: Float, I: Int, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    key: &Tensor<I>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    threshold: u32,
    scale: f32,
    #[define(F, I)] _dtypes: [ElemType; 2],
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let value = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    let kept = kept::<N>(value, stream::<I>(key), threshold, scale);
    out.write(ABSOLUTE_POS, Vector::cast_from(kept));
}

/// Writes the elements of `y` that the stochastic map of `x` lets through, and 0 elsewhere.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(in crate::backends::cubecl) fn let_through<F: Float, I: Int, N: Size>(
    x: LinearView<'_, Vector<F, N>>,
    y: LinearView<'_, Vector<F, N>>,
    key: &Tensor<I>,
    mut out: LinearViewMut<'_, Vector<F, N>>,
    #[define(F, I)] _dtypes: [ElemType; 2],
) {
    if !out.is_in_bounds(ABSOLUTE_POS) {
        terminate!();
    }
    let x = Vector::<f32, N>::cast_from(x.read(ABSOLUTE_POS));
    let probability = value::<f32, N>(x, 0.0f32, comptime!(Unit::NormalCdf.kind()));
    let upper = numbers::<N>(stream::<I>(key)) >> Vector::new(8u32);
    let uniform = Vector::<f32, N>::cast_from(upper) * Vector::new(1.0f32 / 16777216.0f32);
    let open = uniform.less_than(&probability);
    let y = Vector::<f32, N>::cast_from(y.read(ABSOLUTE_POS));
    out.write(ABSOLUTE_POS, Vector::cast_from(select_many(open, y, Vector::new(0.0f32))));
}

/// Returns `value` after dropout.
#[cube]
pub(super) fn kept<N: Size>(
    value: Vector<f32, N>,
    stream: Stream,
    threshold: u32,
    scale: f32,
) -> Vector<f32, N> {
    let dropped = numbers::<N>(stream).less_than(&Vector::new(threshold));
    select_many(dropped, Vector::new(0.0f32), value * Vector::new(scale))
}
