//! The deep autoencoder of §3.2 (Figure 4).
//!
//! ```text
//! [batch, 784] → 1000 → 500 → 250 → 30 (the code) → 250 → 500 → 1000 → [batch, 784]
//! ```
//!
//! Every arrow but the last is linear → activation; the last is linear only. There are 2,837,314
//! parameters.
//!
//! Where the paper gives no details, this follows the authors' code: the code layer has an
//! activation, too, and [`unit_norm_linear`] creates the weights.

use crate::unit_norm_linear;
use burn::config::Config;
use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_training::layers::{linear, linear_activation};

/// Configuration of an [`Autoencoder`]; the defaults are the paper's.
///
/// ```
/// use gelu_models::AutoencoderConfig;
/// assert_eq!(AutoencoderConfig::new(784).parameter_count(), 2_837_314);
/// ```
#[derive(Config, Debug)]
pub struct AutoencoderConfig {
    /// The number of input features and of outputs.
    pub d_input: usize,
    /// The number of neurons in each layer of the encoder. The last one is the code; the decoder
    /// mirrors the encoder.
    #[config(default = "vec![1000, 500, 250, 30]")]
    pub encoder: Vec<usize>,
    /// The activation of every layer but the output.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
}

impl AutoencoderConfig {
    /// Creates a network with random weights from [`unit_norm_linear`] and the device's generator.
    ///
    /// # Panics
    ///
    /// If the encoder has no layer, or a size is 0.
    pub fn init(&self, device: &Device) -> Autoencoder {
        assert!(
            !self.encoder.is_empty() && self.d_input > 0 && !self.encoder.contains(&0),
            "an Autoencoder needs an encoder whose layers have at least one neuron, got {self:?}"
        );
        let sizes = self.layer_sizes();
        let hidden = &sizes[..sizes.len() - 1];
        let activations = hidden
            .iter()
            .map(|&(_, outputs)| self.activation.init(Channels::Last(outputs), device));
        let activations = activations.collect();
        let mut layers =
            sizes.into_iter().map(|(inputs, outputs)| unit_norm_linear(inputs, outputs, device));
        Autoencoder {
            encoder: layers.by_ref().take(self.encoder.len()).collect(),
            decoder: layers.collect(),
            activations,
        }
    }

    /// Returns the number of trainable parameters: Σ (inputs + 1) · outputs over the layers. The
    /// parameters of a learnable activation are not included.
    pub fn parameter_count(&self) -> usize {
        self.layer_sizes().into_iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
    }

    fn layer_sizes(&self) -> Vec<(usize, usize)> {
        let mut widths = vec![self.d_input];
        widths.extend(&self.encoder);
        let down = widths.windows(2).map(|pair| (pair[0], pair[1]));
        let up = widths.windows(2).rev().map(|pair| (pair[1], pair[0]));
        down.chain(up).collect()
    }
}

/// The autoencoder of §3.2. Its loss is the mean squared error between input and output. Create it
/// with [`AutoencoderConfig`].
#[derive(Module, Debug)]
pub struct Autoencoder {
    encoder: Vec<Linear>,
    decoder: Vec<Linear>,
    /// The activations after every layer but the last.
    activations: Vec<ActivationLayer>,
}

impl Autoencoder {
    /// Returns the reconstruction of a batch: [`decode`](Self::decode) ∘ [`encode`](Self::encode).
    ///
    /// # Shapes
    ///
    /// - input and output: `[batch, d_input]`
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        self.decode(self.encode(input))
    }

    /// Returns the code of a batch, after its activation.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, d_input]`
    /// - output: `[batch, code]`, where `code` is the encoder's last width
    pub fn encode(&self, input: Tensor<2>) -> Tensor<2> {
        activated(input, &self.encoder, &self.activations[..self.encoder.len()])
    }

    /// Returns the reconstruction for a code.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, code]`
    /// - output: `[batch, d_input]`
    pub fn decode(&self, code: Tensor<2>) -> Tensor<2> {
        let (output, hidden) =
            self.decoder.split_last().expect("the decoder has as many layers as the encoder");
        linear(output, activated(code, hidden, &self.activations[self.encoder.len()..]))
    }
}

fn activated(input: Tensor<2>, layers: &[Linear], activations: &[ActivationLayer]) -> Tensor<2> {
    let both = layers.iter().zip(activations);
    both.fold(input, |x, (layer, activation)| linear_activation(layer, activation, x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> AutoencoderConfig {
        AutoencoderConfig::new(6).with_encoder(vec![5, 2])
    }

    #[test]
    fn paper_size_has_the_documented_parameters() {
        let config = AutoencoderConfig::new(784);
        let encoder = 785 * 1000 + 1001 * 500 + 501 * 250 + 251 * 30;
        let decoder = 31 * 250 + 251 * 500 + 501 * 1000 + 1001 * 784;
        assert_eq!(config.parameter_count(), encoder + decoder);
        assert_eq!(config.init(&Device::default()).num_params(), 2_837_314);
    }

    #[test]
    fn output_has_the_shape_of_the_input_and_the_code_its_own() {
        let device = Device::default();
        let model = tiny().init(&device);
        let input = Tensor::ones([3, 6], &device);
        assert_eq!(model.encode(input.clone()).dims(), [3, 2]);
        assert_eq!(model.forward(input).dims(), [3, 6]);
    }

    #[test]
    fn code_is_activated_and_output_is_not() {
        let device = Device::default();
        let mut model = tiny().with_activation(Activation::Relu).init(&device);
        // The biases are far below 0, so a ReLU's outputs are all 0.
        for layer in [model.encoder.last_mut(), model.decoder.last_mut()].into_iter().flatten() {
            layer.bias = layer.bias.take().map(|bias| bias.map(|bias| bias - 100.0));
        }
        let input = Tensor::random([64, 6], burn::tensor::Distribution::Normal(0.0, 1.0), &device);
        let most = |x: Tensor<2>| x.max().into_scalar::<f32>();
        assert_eq!(most(model.encode(input.clone())), 0.0);
        assert!(most(model.forward(input)) < 0.0);
    }

    #[test]
    fn learnable_activation_has_a_mean_and_a_width_for_every_hidden_neuron() {
        let learnable = tiny().with_activation(Activation::LearnableGelu);
        let more = learnable.init(&Device::default()).num_params() - learnable.parameter_count();
        assert_eq!(more, 2 * (5 + 2 + 5));
    }

    #[test]
    #[should_panic(expected = "needs an encoder")]
    fn missing_encoder_is_refused() {
        AutoencoderConfig::new(6).with_encoder(vec![]).init(&Device::default());
    }
}
