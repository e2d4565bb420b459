//! Launches the kernels of a function with a bias and dropout.

use super::spread::{
    Spread, assert_alike, assert_bias, assert_key, element, integer, is_ours, laid_out_like,
};
use crate::Unit;
use crate::backends::cubecl::kernel;
use burn_core::backend::TensorMetadata;
use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::tensor::CubeTensor;
use gelu_kernels::random::Mask;

/// Returns `unit(x + bias)`. `dropout` is a key and the threshold below which numbers drop.
pub(in super::super) fn step(
    x: CubeTensor,
    bias: CubeTensor,
    unit: Unit,
    dropout: Option<(CubeTensor, u32)>,
) -> CubeTensor {
    let (x, bias) = (untile(x), into_contiguous(bias));
    assert_bias(&x, &bias);
    if x.shape().num_elements() == 0 {
        return x;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let in_place = is_ours(&x);
    let out = if in_place { x.clone() } else { laid_out_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &out], bias.shape()[0]);
    let out_view =
        if in_place { x.as_linear_view_alias(0) } else { out.clone().into_linear_view() };
    let (parameter, kind) = (unit.parameter() as f32, unit.kind());
    let dropout = dropout.map(|(key, threshold)| (into_contiguous(key), threshold));
    if let Some((key, _)) = &dropout {
        assert_key(&x, key);
    }
    let (x, bias) = (x.into_linear_view(), bias.into_linear_view());
    // SAFETY: the kernels check their position against the output's bounds, which are the input's,
    // take the position modulo the bias's length, and read the eight words of the key.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        match dropout {
            None => kernel::steps::step::launch_unchecked(
                &client, cubes, cube, address, width, x, bias, out_view, parameter, kind, element,
            ),
            Some((key, threshold)) => kernel::steps::dropped_step::launch_unchecked(
                &client,
                cubes,
                cube,
                address,
                width,
                x,
                bias,
                key.clone().into_tensor_arg(),
                out_view,
                threshold,
                Mask::scale_of(threshold),
                parameter,
                kind,
                [element, integer(&key)],
            ),
        }
    }
    out
}

pub(in super::super) fn step_backward(
    x: CubeTensor,
    bias: CubeTensor,
    dy: CubeTensor,
    unit: Unit,
    dropout: Option<(CubeTensor, u32)>,
) -> CubeTensor {
    let (x, bias, dy) = (untile(x), into_contiguous(bias), untile(dy));
    assert_bias(&x, &bias);
    assert_alike(&x, &dy, "the gradient of a step's output");
    if x.shape().num_elements() == 0 {
        return dy;
    }
    let (client, element) = (x.client.clone(), element(&x));
    let in_place = is_ours(&dy);
    let out = if in_place { dy.clone() } else { laid_out_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &dy, &out], bias.shape()[0]);
    let out_view =
        if in_place { dy.as_linear_view_alias(2) } else { out.clone().into_linear_view() };
    let (parameter, kind) = (unit.parameter() as f32, unit.kind());
    let dropout = dropout.map(|(key, threshold)| (into_contiguous(key), threshold));
    if let Some((key, _)) = &dropout {
        assert_key(&x, key);
    }
    let (x, bias, dy) = (x.into_linear_view(), bias.into_linear_view(), dy.into_linear_view());
    // SAFETY: as for `step`; the gradient has the input's shape.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        match dropout {
            None => kernel::steps::step_backward::launch_unchecked(
                &client, cubes, cube, address, width, x, bias, dy, out_view, parameter, kind,
                element,
            ),
            Some((key, threshold)) => kernel::steps::dropped_step_backward::launch_unchecked(
                &client,
                cubes,
                cube,
                address,
                width,
                x,
                bias,
                dy,
                key.clone().into_tensor_arg(),
                out_view,
                threshold,
                Mask::scale_of(threshold),
                parameter,
                kind,
                [element, integer(&key)],
            ),
        }
    }
    out
}
