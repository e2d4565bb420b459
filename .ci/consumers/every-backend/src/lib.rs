//! Names what has to exist with every backend at once.
#![allow(deprecated)]

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use gelu_core::{GeluLayer, HiddenLayer};
use gelu_models::Mlp;

/// A model of everything.
#[derive(Module, Debug)]
pub struct Model {
    network: Mlp,
    hidden: HiddenLayer,
    activation: GeluLayer,
}

impl Model {
    /// Its outputs.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.activation.forward(self.hidden.forward(self.network.forward(x)))
    }
}

/// Some of the devices it runs on.
pub fn devices() -> [Device; 5] {
    [Device::cuda(0), Device::rocm(0), Device::flex(), Device::ndarray(), Device::libtorch()]
}
