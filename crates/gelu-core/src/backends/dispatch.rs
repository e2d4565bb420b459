//! Passes a tensor to the backend that it lives on.

use alloc::format;
use alloc::string::String;
use burn_core::backend::{Dispatch, ops::FloatTensorOps};
use burn_core::tensor::{Shape, Tensor};
use core::fmt::Debug;

/// Defines `dispatched`, for this crate and for other crates with operations of their own. It is a
/// macro because the features of the crate that calls it decide which backends are compiled in.
#[doc(hidden)]
#[macro_export]
macro_rules! define_dispatched {
    ($asking:literal) => {
        use burn_core::backend::DispatchTensorKind;

        /// Returns the tensor as a tensor of its backend.
        ///
        /// # Panics
        ///
        /// If Burn was built with the tensor's backend or with autodiff, but this crate was not. The
        /// message names the missing feature.
        pub(crate) fn dispatched<const D: usize>(
            x: burn_core::tensor::Tensor<D>,
        ) -> burn_core::backend::DispatchTensor {
            use burn_core::backend::{DispatchAutodiffContext, TensorMetadata};
            let x = x.into_dispatch();
            if x.autodiff != DispatchAutodiffContext::Disabled && !cfg!(feature = "autodiff") {
                $crate::dispatch::lacks_autodiff($asking);
            }
            if !is_compiled_in(&x.kind) {
                $crate::dispatch::lacks_backend($asking, &x.device());
            }
            x
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
                #[allow(
                    unreachable_patterns,
                    reason = "what Burn has beyond that depends on who builds"
                )]
                _ => false,
            }
        }
    };
}

define_dispatched!("gelu-core");

/// Returns the tensor in another shape, in which a 0 means a length of 0. In Burn's `reshape`, a 0
/// keeps the dimension at this position, which gives empty tensors other shapes.
pub fn reshaped<const D: usize, const E: usize>(x: Tensor<D>, shape: [usize; E]) -> Tensor<E> {
    if !shape.contains(&0) {
        return x.reshape(shape);
    }
    Tensor::from_dispatch(Dispatch::float_reshape(x.into_dispatch(), Shape::from(shape)))
}

/// Panics because the tensor is tracked for gradients and the crate was built without autodiff.
#[cold]
pub fn lacks_autodiff(asking: &str) -> ! {
    lacks(asking, &["autodiff"], "tensors that gradients flow through")
}

/// Panics because the crate was built without the backend of a device.
#[cold]
pub fn lacks_backend(asking: &str, device: &impl Debug) -> ! {
    let device = format!("{device:?}");
    lacks(asking, features_of(&device), &device)
}

fn lacks(asking: &str, features: &[&str], what: &str) -> ! {
    let feature = match features {
        [] => String::from("of its backend"),
        [feature] => format!("\"{feature}\""),
        _ => format!("that Burn has, one of {},", features.join(", ")),
    };
    let line = features.first().map_or_else(String::new, |feature| {
        let version =
            concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
        format!(": {asking} = {{ version = \"{version}\", features = [\"{feature}\"] }}")
    });
    panic!(
        "{asking} was built without {what}, which Burn was built with: add the feature {feature} to \
         the dependency on {asking}, or on the crate that depends on it{line}"
    )
}

/// Returns the features that may contain the backend of a device, given how the device prints.
fn features_of(device: &str) -> &'static [&'static str] {
    const BACKENDS: [(&str, &[&str]); 6] = [
        ("Flex", &["flex"]),
        ("NdArray", &["ndarray"]),
        ("LibTorch", &["tch"]),
        ("Remote", &["remote"]),
        ("Capture", &["capture"]),
        ("Cube", &["wgpu", "vulkan", "metal", "webgpu", "cuda", "rocm", "cpu"]),
    ];
    let found = BACKENDS.into_iter().find(|(name, _)| device.contains(name));
    found.map_or(&[], |(_, features)| features)
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use burn_core::backend::TensorMetadata;
    use burn_core::tensor::{Device, Tensor};

    #[test]
    fn tensor_on_a_backend_that_is_there_is_handed_over() {
        let device = Device::flex();
        let x = dispatched(Tensor::<2>::ones([2, 3], &device));
        assert_eq!(x.shape().as_slice(), [2, 3]);
        assert_eq!(features_of(&format!("{device:?}")), ["flex"]);
    }

    #[test]
    #[should_panic(expected = "it: gelu-core = { version = \"0.1\", features = [\"ndarray\"] }")]
    fn what_is_missing_is_named() {
        struct NdArray;
        impl Debug for NdArray {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("NdArray(Cpu)")
            }
        }
        lacks_backend("gelu-core", &NdArray);
    }
}
