//! Launches the kernels that use random numbers: dropout alone, and the stochastic map.

use super::spread::{Spread, assert_alike, assert_key, element, integer, is_ours, laid_out_like};
use crate::backends::cubecl::kernel;
use burn_core::backend::TensorMetadata;
use burn_cubecl::kernel::{into_contiguous, untile};
use burn_cubecl::tensor::CubeTensor;
use gelu_kernels::random::Mask;

/// Returns `x` after dropout. Elements whose random number is below the threshold are dropped.
pub(in super::super) fn dropout(x: CubeTensor, key: CubeTensor, threshold: u32) -> CubeTensor {
    let (x, key) = (untile(x), into_contiguous(key));
    assert_key(&x, &key);
    if x.shape().num_elements() == 0 {
        return x;
    }
    let (client, elements) = (x.client.clone(), [element(&x), integer(&key)]);
    let in_place = is_ours(&x);
    let out = if in_place { x.clone() } else { laid_out_like(&x) };
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &out], 0);
    let out_view =
        if in_place { x.as_linear_view_alias(0) } else { out.clone().into_linear_view() };
    // SAFETY: the kernel checks its position against the output's bounds, which are the input's,
    // and reads the eight words of the key.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::draws::dropout::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            key.into_tensor_arg(),
            out_view,
            threshold,
            Mask::scale_of(threshold),
            elements,
        );
    }
    out
}

/// Returns the elements of `y` that the stochastic map of `x` lets through, and 0 elsewhere.
pub(in super::super) fn let_through(x: CubeTensor, y: CubeTensor, key: CubeTensor) -> CubeTensor {
    let (x, y, key) = (untile(x), untile(y), into_contiguous(key));
    assert_alike(&x, &y, "what a stochastic map lets through");
    assert_key(&x, &key);
    if x.shape().num_elements() == 0 {
        return y;
    }
    let (client, elements) = (x.client.clone(), [element(&x), integer(&key)]);
    let out = laid_out_like(&x);
    let Spread { cubes, cube, address, width } = Spread::over(&[&x, &y, &out], 0);
    // SAFETY: the kernel checks its position against the output's bounds, the inputs have the same
    // bounds, and the kernel reads the eight words of the key.
    #[allow(unsafe_code, reason = "bounds are checked once, not at every access")]
    unsafe {
        kernel::draws::let_through::launch_unchecked(
            &client,
            cubes,
            cube,
            address,
            width,
            x.into_linear_view(),
            y.into_linear_view(),
            key.into_tensor_arg(),
            out.clone().into_linear_view(),
            elements,
        );
    }
    out
}
