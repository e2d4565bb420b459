use crate::unit_norm_linear;
use burn::config::Config;
use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use gelu_core::{Activation, HiddenLayer};
use gelu_training::layers::{hidden_layer, linear};

/// Configuration of an [`Mlp`]; the defaults are the paper's MNIST classifier.
#[derive(Config, Debug)]
pub struct MlpConfig {
    /// The number of input features.
    pub d_input: usize,
    /// The number of outputs; for a classifier, the number of classes.
    pub d_output: usize,
    /// The number of hidden layers.
    #[config(default = 8)]
    pub depth: usize,
    /// The number of neurons in each hidden layer.
    #[config(default = 128)]
    pub width: usize,
    /// The probability of dropping a hidden neuron's output in training.
    #[config(default = 0.0)]
    pub dropout: f64,
    /// The activation of every hidden layer.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
}

impl MlpConfig {
    /// Creates a network with random weights from [`unit_norm_linear`] and the device's generator.
    ///
    /// # Panics
    ///
    /// If `dropout` is not in `[0, 1)`, or a size is 0.
    pub fn init(&self, device: &Device) -> Mlp {
        let sizes = self.layer_sizes();
        assert!(
            sizes.iter().all(|&(inputs, outputs)| inputs > 0 && outputs > 0),
            "every layer of an Mlp needs at least one neuron, got {self:?}"
        );
        let mut layers: Vec<Linear> = sizes
            .into_iter()
            .map(|(inputs, outputs)| unit_norm_linear(inputs, outputs, device))
            .collect();
        let output = layers.pop().expect("layer_sizes always ends with the output layer");
        let hidden = |linear| HiddenLayer::new(linear, &self.activation, self.dropout);
        Mlp { hidden: layers.into_iter().map(hidden).collect(), output }
    }

    /// Returns the number of trainable parameters: Σ (inputs + 1) · outputs over the layers.
    pub fn parameter_count(&self) -> usize {
        self.layer_sizes().into_iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
    }

    fn layer_sizes(&self) -> Vec<(usize, usize)> {
        let mut widths = vec![self.d_input];
        widths.extend(std::iter::repeat_n(self.width, self.depth));
        widths.push(self.d_output);
        widths.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }
}

/// The fully connected classifier of §3.1 (Figures 2 and 3).
///
/// ```text
/// [batch, d_input] → depth × (linear to width → activation → dropout) → linear → [batch, d_output]
/// ```
///
/// With the paper's 784 inputs, 10 classes, depth 8 and width 128 it has 217,354 parameters, not including those of a
/// learnable activation. It returns logits, because the log-softmax is part of the loss. Create it with
/// [`MlpConfig`].
#[derive(Module, Debug)]
pub struct Mlp {
    pub(crate) hidden: Vec<HiddenLayer>,
    pub(crate) output: Linear,
}

impl Mlp {
    /// Returns the logits of a batch. Dropout only acts on autodiff devices, as everywhere in Burn.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, d_input]`
    /// - output: `[batch, d_output]`
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        let features = self.hidden.iter().fold(input, |x, layer| hidden_layer(layer, x));
        linear(&self.output, features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paper_size_has_the_documented_parameters() {
        let config = MlpConfig::new(784, 10);
        assert_eq!(config.parameter_count(), 784 * 128 + 128 + 7 * (128 * 128 + 128) + 1290);
        assert_eq!(config.init(&Device::default()).num_params(), 217_354);
    }

    #[test]
    fn any_depth_and_width_maps_batch_to_logits() {
        for (depth, width) in [(0, 1), (1, 3), (4, 17)] {
            let config = MlpConfig::new(5, 2).with_depth(depth).with_width(width);
            let model = config.init(&Device::default());
            assert_eq!(model.num_params(), config.parameter_count());
            let logits = model.forward(Tensor::ones([7, 5], &Device::default()));
            assert_eq!(logits.dims(), [7, 2]);
        }
    }

    #[test]
    fn activation_acts_between_the_layers() {
        let device = Device::default();
        let input = Tensor::<2>::from_data([[-3.0, 1.0, 2.0]], &device);
        let logits = |activation| {
            device.seed(7);
            let model = MlpConfig::new(3, 4).with_activation(activation).init(&device);
            model.forward(input.clone()).into_data().try_to_vec::<f32>().unwrap()
        };
        assert_ne!(logits(Activation::Gelu), logits(Activation::Relu));
    }

    #[test]
    fn dropout_acts_in_training_alone() {
        let device = Device::default();
        let model = MlpConfig::new(6, 3).with_dropout(0.5).init(&device.clone().autodiff());
        let difference = |device: &Device, model: &Mlp| {
            let input = Tensor::<2>::ones([4, 6], device);
            let change = model.forward(input.clone()) - model.forward(input);
            change.abs().sum().into_scalar::<f32>()
        };
        assert!(difference(&device.clone().autodiff(), &model) > 1e-3);
        assert_eq!(difference(&device, &model.valid()), 0.0);
    }

    #[test]
    #[should_panic(expected = "at least one neuron")]
    fn zero_width_is_refused() {
        MlpConfig::new(3, 2).with_width(0).init(&Device::default());
    }
}
