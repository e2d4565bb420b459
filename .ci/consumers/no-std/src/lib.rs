//! A model for a device without an operating system.
#![no_std]

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use gelu_core::GeluLayer;

/// A linear layer and a GELU.
#[derive(Module, Debug)]
pub struct Layer {
    linear: Linear,
    activation: GeluLayer,
}

impl Layer {
    /// Its outputs.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.activation.forward(self.linear.forward(x))
    }
}
