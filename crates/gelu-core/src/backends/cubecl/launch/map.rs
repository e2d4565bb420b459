//! Launches the kernels of a function and of its derivatives.

use super::spread::{Spread, assert_alike, element, empty_like, is_ours};
use crate::Unit;
use crate::backends::cubecl::{kernel, layout::MemoryOrder};
use burn_core::backend::TensorMetadata;
use burn_cubecl::kernel::untile;
use burn_cubecl::tensor::CubeTensor;

pub(in super::super) fn map(x: CubeTensor, unit: Unit) -> CubeTensor {
    let x = untile(x);
    if x.shape().num_elements() == 0 {
        return x;
    }
    match MemoryOrder::of(&[&x]) {
        Some(order) => order.restore(map_in_order(order.present(x), unit)),
        None => map_in_order(x, unit),
    }
}

fn map_in_order(x: CubeTensor, unit: Unit) -> CubeTensor {
    let (client, element) = (x.client.clone(), element(&x));
    let in_place = is_ours(&x);
    let out = if in_place { x.clone() } else { empty_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &out], 0);
    let out_view =
        if in_place { x.as_linear_view_alias(0) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, and the input has the
    // same bounds.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::maps::map::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            out_view,
            unit.parameter() as f32,
            unit.kind(),
            element,
        );
    }
    out
}

/// Returns `dy·unit′(x)`, or `dy·unit″(x)` if `twice` is true.
pub(in super::super) fn scale(
    x: CubeTensor,
    dy: CubeTensor,
    unit: Unit,
    twice: bool,
) -> CubeTensor {
    let (x, dy) = (untile(x), untile(dy));
    assert_alike(&x, &dy, "the gradient of an activation's output");
    if x.shape().num_elements() == 0 {
        return dy;
    }
    match MemoryOrder::of(&[&x, &dy]) {
        Some(order) => {
            order.restore(scale_in_order(order.present(x), order.present(dy), unit, twice))
        }
        None => scale_in_order(x, dy, unit, twice),
    }
}

fn scale_in_order(x: CubeTensor, dy: CubeTensor, unit: Unit, twice: bool) -> CubeTensor {
    let (client, element) = (x.client.clone(), element(&x));
    let in_place = is_ours(&dy);
    let out = if in_place { dy.clone() } else { empty_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &dy, &out], 0);
    let out_view =
        if in_place { dy.as_linear_view_alias(1) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, and `scale` checks that
    // the inputs have the same bounds.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::maps::scale::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            dy.into_linear_view(),
            out_view,
            unit.parameter() as f32,
            unit.kind(),
            twice,
            element,
        );
    }
    out
}
