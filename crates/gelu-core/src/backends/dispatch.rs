//! Handing a tensor to the backend it lives on.

use alloc::format;
use burn_core::backend::{
    DispatchAutodiffContext, DispatchTensor, DispatchTensorKind, TensorMetadata,
};
use burn_core::tensor::Tensor;

/// The tensor as its backend's own.
///
/// # Panics
///
/// If Burn was built with the tensor's backend or with autodiff and this crate was not: the message
/// names the feature to add.
pub(crate) fn dispatched<const D: usize>(x: Tensor<D>) -> DispatchTensor {
    let x = x.into_dispatch();
    let tracked = x.autodiff != DispatchAutodiffContext::Disabled;
    if tracked && !cfg!(feature = "autodiff") {
        lacks("autodiff", "tensors that gradients flow through");
    }
    if !is_compiled_in(&x.kind) {
        let device = format!("{:?}", x.device());
        lacks(feature_of(&device), &device);
    }
    x
}

#[cold]
fn lacks(feature: &str, what: &str) -> ! {
    panic!(
        "gelu-core was built without {what}, which Burn was built with: add the feature {feature} \
         to the dependency on gelu-core, or on the crate that depends on it"
    )
}

fn is_compiled_in(kind: &DispatchTensorKind) -> bool {
    match kind {
        #[cfg(feature = "flex")]
        DispatchTensorKind::Flex(_) => true,
        #[cfg(feature = "ndarray")]
        DispatchTensorKind::NdArray(_) => true,
        #[cfg(feature = "cubecl-backend")]
        DispatchTensorKind::Cube(_) => true,
        #[cfg(feature = "tch")]
        DispatchTensorKind::LibTorch(_) => true,
        #[cfg(feature = "remote")]
        DispatchTensorKind::Remote(_) => true,
        #[cfg(feature = "capture")]
        DispatchTensorKind::Capture(_) => true,
        #[cfg(feature = "autodiff")]
        DispatchTensorKind::Autodiff(inner) => is_compiled_in(inner),
        #[allow(unreachable_patterns, reason = "what Burn has beyond that depends on who builds")]
        _ => false,
    }
}

/// The feature of the backend whose device prints like that.
fn feature_of(device: &str) -> &'static str {
    const BACKENDS: [(&str, &str); 6] = [
        ("Flex", "`flex`"),
        ("NdArray", "`ndarray`"),
        ("LibTorch", "`tch`"),
        ("Remote", "`remote`"),
        ("Capture", "`capture`"),
        ("Cube", "`wgpu`, `vulkan`, `metal`, `webgpu`, `cuda`, `rocm` or `cpu`, as Burn has it,"),
    ];
    let found = BACKENDS.into_iter().find(|(name, _)| device.contains(name));
    found.map_or("of its backend", |(_, feature)| feature)
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use burn_core::tensor::Device;

    #[test]
    fn tensor_on_a_backend_that_is_there_is_handed_over() {
        let device = Device::flex();
        let x = dispatched(Tensor::<2>::ones([2, 3], &device));
        assert_eq!(x.shape().as_slice(), [2, 3]);
        assert_eq!(feature_of(&format!("{device:?}")), "`flex`");
    }

    #[test]
    #[should_panic(expected = "add the feature `ndarray` to the dependency on gelu-core")]
    fn what_is_missing_is_named() {
        lacks(feature_of("NdArray(Cpu)"), "NdArray(Cpu)");
    }
}
