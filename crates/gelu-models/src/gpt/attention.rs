use super::{WRITES, normal};
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::module::attention;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Device, Tensor};
use gelu_training::layers::linear;

/// Attention of every place to itself and to those before it, in several heads, without biases.
///
/// ```text
/// softmax(Q·Kᵀ/√(width/heads), later places masked)·V
/// ```
#[derive(Module, Debug)]
pub(crate) struct CausalAttention {
    /// To queries, keys and values, side by side.
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

    /// # Shapes
    ///
    /// - input and output: `[batch, length, width]`
    pub(crate) fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let [batch, length, width] = input.dims();
        let split = [batch, length, 3, self.heads, width / self.heads];
        let by_head = linear(&self.qkv, input).reshape(split).permute([2, 0, 3, 1, 4]);
        let part = |index| by_head.clone().narrow(0, index, 1).squeeze_dim::<4>(0);
        let options = AttentionModuleOptions { is_causal: true, ..Default::default() };
        let heads = attention(part(0), part(1), part(2), None, None, options);
        linear(&self.output, heads.swap_dims(1, 2).reshape([batch, length, width]))
    }
}
