use super::attention::CausalAttention;
use super::{GptConfig, GptMlp, GptNorm, WRITES, normal};
use burn::module::Module;
use burn::nn::{
    DropoutConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig, RmsNorm, RmsNormConfig,
};
use burn::tensor::{Device, Tensor};
use gelu_core::{Channels, FeedForward, GatedFeedForward, PolyNorm, PolyNormConfig};
use gelu_training::layers::{layer_norm, linear, linear_activation, rms_norm};

/// The number that a norm adds to the variance or to the mean square.
const EPSILON: f64 = 1e-5;

/// A block: `x + attention(norm(x))`, then `x + mlp(norm(x))`.
#[derive(Module, Debug)]
pub(crate) struct Block {
    attention_norm: Norm,
    attention: CausalAttention,
    mlp_norm: Norm,
    mlp: Mlp,
}

impl Block {
    pub(crate) fn new(config: &GptConfig, device: &Device) -> Self {
        let deviation = config.residual_deviation();
        Self {
            attention_norm: Norm::new(config, device),
            attention: CausalAttention::new(config.width, config.heads, deviation, device),
            mlp_norm: Norm::new(config, device),
            mlp: Mlp::new(config, device),
        }
    }

    /// Returns the output of the block.
    ///
    /// # Shapes
    ///
    /// - input and output: `[batch, length, width]`
    pub(crate) fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let x = x.clone() + self.attention.forward(self.attention_norm.forward(x));
        x.clone() + self.mlp.forward(self.mlp_norm.forward(x))
    }
}

/// A normalisation without a bias.
#[derive(Module, Debug)]
pub(crate) enum Norm {
    Layer(LayerNorm),
    Rms(RmsNorm),
}

impl Norm {
    pub(crate) fn new(config: &GptConfig, device: &Device) -> Self {
        match config.norm {
            GptNorm::Layer => {
                let layer = LayerNormConfig::new(config.width).with_epsilon(EPSILON);
                Self::Layer(layer.with_bias(false).init(device))
            }
            GptNorm::Rms => {
                Self::Rms(RmsNormConfig::new(config.width).with_epsilon(EPSILON).init(device))
            }
        }
    }

    pub(crate) fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Layer(norm) => layer_norm(norm, EPSILON, x),
            Self::Rms(norm) => rms_norm(norm, x),
        }
    }
}

/// A position-wise network without biases.
#[derive(Module, Debug)]
enum Mlp {
    Plain(FeedForward),
    Gated(GatedFeedForward),
    PolyNorm(Normed),
}

/// A position-wise network with a norm as its nonlinearity: `outer(norm(inner(x)))`.
#[derive(Module, Debug)]
struct Normed {
    linear_inner: Linear,
    norm: PolyNorm,
    linear_outer: Linear,
}

impl Mlp {
    fn new(config: &GptConfig, device: &Device) -> Self {
        let (width, hidden) = (config.width, config.hidden());
        let layer = |inputs, outputs, deviation| {
            let config = LinearConfig::new(inputs, outputs).with_bias(false);
            crate::init::linear(config, normal(deviation), device)
        };
        let down = |inputs| layer(inputs, width, config.residual_deviation());
        match &config.mlp {
            GptMlp::Plain(activation) => Self::Plain(FeedForward {
                linear_inner: layer(width, hidden, WRITES),
                linear_outer: down(hidden),
                dropout: DropoutConfig::new(0.0).init(),
                activation: activation.init(Channels::Last(hidden), device),
            }),
            GptMlp::Gated(activation) => Self::Gated(GatedFeedForward::of_layers(
                layer(width, hidden, WRITES),
                layer(width, hidden, WRITES),
                down(hidden),
                activation,
            )),
            GptMlp::PolyNorm => Self::PolyNorm(Normed {
                linear_inner: layer(width, hidden, WRITES),
                norm: PolyNormConfig::new().init(device),
                linear_outer: down(hidden),
            }),
        }
    }

    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Plain(block) => {
                let hidden = linear_activation(&block.linear_inner, &block.activation, x);
                linear(&block.linear_outer, hidden)
            }
            Self::Gated(block) => linear(&block.down, block.gated(linear(&block.gate_up, x))),
            Self::PolyNorm(Normed { linear_inner, norm, linear_outer }) => {
                linear(linear_outer, norm.forward(linear(linear_inner, x)))
            }
        }
    }
}
