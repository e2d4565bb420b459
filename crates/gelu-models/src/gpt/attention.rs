use super::{WRITES, normal};
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use gelu_training::layers::{causal_attention, linear};

/// The attention of every position to itself and to earlier positions, in several heads, without
/// biases.
///
/// ```text
/// softmax(Q·Kᵀ/√(width/heads), later positions masked)·V
/// ```
#[derive(Module, Debug)]
pub(crate) struct CausalAttention {
    /// The layer to queries, keys and values, next to each other.
    qkv: Linear,
    output: Linear,
    #[module(skip)]
    heads: usize,
}

impl CausalAttention {
    pub(crate) fn new(width: usize, heads: usize, deviation: f64, device: &Device) -> Self {
        let layer = |inputs, outputs, deviation| {
            let config = LinearConfig::new(inputs, outputs).with_bias(false);
            crate::init::linear(config, normal(deviation), device)
        };
        Self { qkv: layer(width, 3 * width, WRITES), output: layer(width, width, deviation), heads }
    }

    /// Returns the output of the attention.
    ///
    /// # Shapes
    ///
    /// - input and output: `[batch, length, width]`
    pub(crate) fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let qkv = linear(&self.qkv, input);
        linear(&self.output, causal_attention(qkv, self.heads))
    }
}
