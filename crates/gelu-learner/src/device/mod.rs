//! Devices by name, as `--device` takes them.

mod probe;

use crate::{Error, Result};
use burn::tensor::Device;
use gelu_compare::suggestion::unknown;
use std::fmt;
use std::str::FromStr;

/// A backend of Burn, by the name of its Cargo feature, with the index of one of its devices.
///
/// Examples: `flex`, `cuda`, `cuda:1`, `vulkan:0`. Parsing checks that this build has the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceName {
    backend: &'static str,
    index: Option<usize>,
}

/// Every backend that a build can have, and the hardware that it computes on.
const BACKENDS: [(&str, &str); 9] = [
    ("flex", "this processor"),
    ("ndarray", "this processor, by ndarray"),
    ("cpu", "this processor, by CubeCL and LLVM"),
    ("cuda", "NVIDIA's GPUs"),
    ("rocm", "AMD's GPUs"),
    ("metal", "Apple's GPUs"),
    ("vulkan", "GPUs of any vendor, by SPIR-V"),
    ("webgpu", "GPUs of any vendor, by WGSL"),
    ("wgpu", "GPUs of any vendor, by whatever wgpu chooses"),
];

/// Returns whether the backend can run on this operating system.
fn exists_here(backend: &str) -> bool {
    match backend {
        "metal" => cfg!(target_vendor = "apple"),
        "rocm" => cfg!(target_os = "linux"),
        "cuda" | "vulkan" => !cfg!(target_vendor = "apple"),
        _ => true,
    }
}

/// The backends of this build.
const COMPILED: &[&str] = &[
    #[cfg(feature = "flex")]
    "flex",
    #[cfg(feature = "ndarray")]
    "ndarray",
    #[cfg(feature = "cpu")]
    "cpu",
    #[cfg(feature = "cuda")]
    "cuda",
    #[cfg(feature = "rocm")]
    "rocm",
    #[cfg(feature = "metal")]
    "metal",
    #[cfg(feature = "vulkan")]
    "vulkan",
    #[cfg(feature = "webgpu")]
    "webgpu",
    #[cfg(feature = "wgpu")]
    "wgpu",
];

impl DeviceName {
    /// Returns the backends of this build.
    pub fn backends() -> &'static [&'static str] {
        COMPILED
    }

    /// Returns every backend that a build can have; the Cargo feature of the same name enables it.
    pub fn all_backends() -> impl Iterator<Item = &'static str> {
        BACKENDS.iter().map(|(name, _)| *name)
    }

    /// Returns the backends of this build, and those that can run on this operating system, each with the hardware
    /// that it computes on.
    pub fn backends_here() -> impl Iterator<Item = (&'static str, &'static str)> {
        let has = |name: &&str| COMPILED.contains(name) || exists_here(name);
        BACKENDS.iter().copied().filter(move |(name, _)| has(name))
    }

    /// Returns the first backend of this build: `flex` unless it was left out.
    ///
    /// # Errors
    ///
    /// If the build has no backend.
    pub fn default_device() -> Result<Self> {
        match COMPILED.first() {
            Some(backend) => Ok(Self { backend, index: None }),
            None => Err(Error::Usage(
                "this build has no backend; build with `--features flex` or another".to_owned(),
            )),
        }
    }

    /// Returns the backend's name.
    pub fn backend(&self) -> &'static str {
        self.backend
    }

    /// Returns whether the backend computes on the processor.
    pub fn is_cpu(&self) -> bool {
        matches!(self.backend, "flex" | "ndarray" | "cpu")
    }

    /// Opens the device.
    pub fn open(&self) -> Device {
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        use burn::tensor::DeviceIndex;
        #[cfg(any(
            feature = "metal",
            feature = "vulkan",
            feature = "webgpu",
            feature = "wgpu"
        ))]
        use burn::tensor::DeviceKind;
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        let index = self.index.map_or(DeviceIndex::Default, DeviceIndex::Specified);
        #[cfg(any(feature = "metal", feature = "vulkan", feature = "webgpu", feature = "wgpu"))]
        let kind = self.index.map_or(DeviceKind::DefaultDevice, DeviceKind::DiscreteGpu);
        match self.backend {
            #[cfg(feature = "flex")]
            "flex" => Device::flex(),
            #[cfg(feature = "ndarray")]
            "ndarray" => ndarray(),
            #[cfg(feature = "cpu")]
            "cpu" => Device::cpu(),
            #[cfg(feature = "cuda")]
            "cuda" => Device::cuda(index),
            #[cfg(feature = "rocm")]
            "rocm" => Device::rocm(index),
            #[cfg(feature = "metal")]
            "metal" => Device::metal(kind),
            #[cfg(feature = "vulkan")]
            "vulkan" => Device::vulkan(kind),
            #[cfg(feature = "webgpu")]
            "webgpu" => Device::webgpu(kind),
            #[cfg(feature = "wgpu")]
            "wgpu" => Device::wgpu(kind),
            backend => unreachable!("`{backend}` is not parsed unless it is compiled in"),
        }
    }
}

#[cfg(feature = "ndarray")]
fn ndarray() -> Device {
    #[expect(deprecated, reason = "Burn keeps ndarray beside its successor flex, and so do we")]
    Device::ndarray()
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}:{index}", self.backend),
            None => f.write_str(self.backend),
        }
    }
}

impl FromStr for DeviceName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, index) = match text.split_once(':') {
            Some((name, index)) => (name, Some(index)),
            None => (text, None),
        };
        let Some(backend) = COMPILED.iter().find(|backend| **backend == name) else {
            return Err(Error::Usage(match Self::all_backends().any(|known| known == name) {
                true => format!(
                    "this build has no backend `{name}`; add `--features {name}` to the cargo \
                     command that builds it (it has: {})",
                    COMPILED.join(", ")
                ),
                false => unknown("device", text, COMPILED),
            }));
        };
        let index = index.map(|digits| {
            digits.parse().map_err(|_| {
                Error::Usage(format!("`{digits}` in device `{text}` is not the index of a device"))
            })
        });
        let index = index.transpose()?;
        if index.is_some() && matches!(*backend, "flex" | "ndarray" | "cpu") {
            return Err(Error::Usage(format!(
                "`{backend}` has one device, so no index; use `{backend}`"
            )));
        }
        Ok(Self { backend, index })
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_print() {
        let name: DeviceName = "flex".parse().unwrap();
        assert_eq!(name.to_string(), "flex");
        assert!(name.is_cpu());
        assert_eq!(DeviceName::default_device().unwrap(), name);
    }

    #[test]
    fn unknown_and_missing_backends_are_told_apart() {
        let problem = |text: &str| text.parse::<DeviceName>().unwrap_err().to_string();
        assert!(problem("gpu").contains("unknown device `gpu`; there are: flex"));
        assert!(problem("flex:1").contains("no index"));
        #[cfg(not(feature = "rocm"))]
        assert!(problem("rocm:0").contains("--features rocm"));
    }

    #[test]
    fn what_no_build_for_this_system_can_have_is_not_suggested() {
        let here = |name: &str| DeviceName::backends_here().any(|(backend, _)| backend == name);
        assert!(here("flex") && here("wgpu"));
        assert_eq!(here("metal"), cfg!(feature = "metal") || cfg!(target_vendor = "apple"));
        assert!(DeviceName::backends().iter().all(|backend| here(backend)));
    }
}
