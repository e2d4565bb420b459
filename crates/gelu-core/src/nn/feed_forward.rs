use super::{HiddenLayer, HiddenLayerConfig};
use crate::Activation;
use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::{Linear, LinearConfig};

/// Configuration of a [`FeedForward`].
#[derive(Config, Debug)]
pub struct FeedForwardConfig {
    /// Number of input and output features.
    pub d_model: usize,
    /// Number of hidden neurons.
    pub d_ff: usize,
    /// The nonlinearity.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
    /// Probability of dropping a hidden neuron's output while training.
    #[config(default = 0.1)]
    pub dropout: f64,
}

impl FeedForwardConfig {
    /// A block with Burn's default weights.
    ///
    /// # Panics
    ///
    /// If `dropout` is not in `[0, 1)`.
    pub fn init(&self, device: &Device) -> FeedForward {
        FeedForward {
            hidden: HiddenLayerConfig::new(self.d_model, self.d_ff)
                .with_activation(self.activation.clone())
                .with_dropout(self.dropout)
                .init(device),
            output: LinearConfig::new(self.d_ff, self.d_model).init(device),
        }
    }
}

/// The position-wise network of a transformer: linear → activation → dropout → linear, with
/// everything between the two matrix products in one pass. Made by [`FeedForwardConfig`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::FeedForwardConfig;
///
/// let device = Device::default();
/// let block = FeedForwardConfig::new(8, 32).init(&device);
/// assert_eq!(block.forward(Tensor::<3>::ones([2, 5, 8], &device)).dims(), [2, 5, 8]);
/// ```
#[derive(Module, Debug)]
pub struct FeedForward {
    /// The first linear layer, with what follows it.
    pub hidden: HiddenLayer,
    /// The second linear layer.
    pub output: Linear,
}

impl FeedForward {
    /// The block's outputs.
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., d_model]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        self.output.forward(self.hidden.forward(input))
    }
}
