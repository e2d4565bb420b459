//! A unit's results on a tensor and the exact ones. Shared with the tests of accuracy
//! and of backends.

#![allow(dead_code, reason = "each of those who share it has use for a part")]

use burn::tensor::{DType, Device, Element, Tensor, TensorData};
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
        self.compute_as(DType::F32, unit, x, device)
    }

    /// The result in f64 on a device.
    pub(crate) fn compute_in_f64(self, unit: Unit, x: &[f64], device: &Device) -> Vec<f64> {
        self.compute_as(DType::F64, unit, x, device)
    }

    fn compute_as<E: Element>(self, dtype: DType, unit: Unit, x: &[E], device: &Device) -> Vec<E> {
        let tensor = |device| Tensor::<1>::from_data(TensorData::from(x), (device, dtype));
        let results = match self {
            Self::Value => functional::unit(tensor(device), unit),
            Self::Derivative => {
                let x = tensor(&device.clone().autodiff()).require_grad();
                // Along the dimension: some old Vulkan drivers crash on Burn's whole sum.
                let gradients = functional::unit(x.clone(), unit).sum_dim(0).backward();
                x.grad(&gradients).expect("the sum depends on x")
            }
        };
        results.into_data().try_to_vec().expect("the tensor is of that type")
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
    f64::from_bits(((exponent - 127 - 23 + 1023) as u64) << 52)
}
