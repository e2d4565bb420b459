//! A unit's results on a tensor.

#[path = "../../../gelu-kernels/examples/verify/measure.rs"]
mod exact;

use burn::tensor::{DType, Device, Tensor, TensorData};
pub(crate) use exact::{Of, spacing};
use gelu_core::functional::{self, Unit};

/// Returns the results in f32 on a device.
pub(crate) fn compute(of: Of, unit: Unit, x: &[f32], device: &Device) -> Vec<f32> {
    let tensor = |device| Tensor::<1>::from_data(TensorData::from(x), (device, DType::F32));
    let results = match of {
        Of::Value => functional::unit(tensor(device), unit),
        Of::Derivative => {
            let x = tensor(&device.clone().autodiff()).require_grad();
            // Sums along the dimension, because some old Vulkan drivers crash on Burn's sum of a
            // whole tensor.
            let gradients = functional::unit(x.clone(), unit).sum_dim(0).backward();
            x.grad(&gradients).expect("the sum depends on x")
        }
    };
    results.into_data().try_to_vec().expect("the tensor is of that type")
}
