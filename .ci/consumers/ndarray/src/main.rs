//! `Device::default()` of a program whose Burn has ndarray alone.

use burn::tensor::{Device, Tensor};

fn main() {
    let device = Device::default();
    assert!(format!("{device:?}").to_lowercase().contains("ndarray"), "the default is {device:?}");
    let y = gelu_core::gelu(Tensor::<1>::from_floats([1.0], &device));
    assert!((y.into_scalar::<f32>() - 0.841_344_7).abs() < 1e-5);
}
