//! A unit's results on a tensor and the exact ones. Shared with `tests/backend.rs` and
//! `examples/verify.rs`.

use burn::tensor::{Device, Tensor};
use gelu_core::{Unit, functional};

/// A unit or its derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Value,
    Derivative,
}

impl Of {
    /// The result in f32 on a device.
    pub(crate) fn compute(self, unit: Unit, x: &[f32], device: &Device) -> Vec<f32> {
        let results = match self {
            Self::Value => functional::unit(Tensor::<1>::from_floats(x, device), unit),
            Self::Derivative => {
                let device = device.clone().autodiff();
                let x = Tensor::<1>::from_floats(x, &device).require_grad();
                // Along the dimension: some old Vulkan drivers crash on Burn's whole sum.
                let gradients = functional::unit(x.clone(), unit).sum_dim(0).backward();
                x.grad(&gradients).expect("the sum depends on x")
            }
        };
        results.into_data().try_to_vec().expect("the tensor is of f32")
    }

    /// The result in f64, good to 1e-6 of an f32's last place.
    pub(crate) fn exact(self, unit: Unit, x: f32) -> f64 {
        match self {
            Self::Value => unit.value(f64::from(x)),
            Self::Derivative => unit.derivative(f64::from(x)),
        }
    }
}

/// The spacing of the f32 at the exact result rounded to f32; 2^-149 for subnormals.
pub(crate) fn spacing(exact: f64) -> f64 {
    let rounded = (exact.abs() as f32).min(f32::MAX);
    let exponent = (rounded.to_bits() >> 23).max(1) as i32;
    2f64.powi(exponent - 127 - 23)
}
