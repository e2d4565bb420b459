//! `Device::default()` of a program whose Burn has ndarray alone, and which gelu-core was told nothing of.

use burn::tensor::Device;
use gelu_core::Activation;

fn main() {
    let device = Device::default();
    assert!(format!("{device:?}").to_lowercase().contains("ndarray"), "the default is {device:?}");
    assert_eq!("gelu".parse(), Ok(Activation::Gelu));
}
