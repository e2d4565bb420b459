use super::by_hand::{displayed, of_fields, within};
use super::parts::names;
use super::{ActivationLayer, Channels};
use crate::random::DropoutMask;
use crate::{Activation, functional};
use burn::config::Config;
use burn::module::{
    Content, Devices, DisplaySettings, Module, ModuleDisplay, ModuleMapper, ModuleVisitor,
};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::{Dropout, DropoutConfig, Initializer, Linear, LinearConfig};

/// Configuration of a [`HiddenLayer`].
#[derive(Config, Debug)]
pub struct HiddenLayerConfig {
    /// Number of input features.
    pub d_input: usize,
    /// Number of neurons.
    pub d_output: usize,
    /// The activation.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
    /// Probability of dropping a neuron's output while training.
    #[config(default = 0.0)]
    pub dropout: f64,
    /// Whether the layer adds a learnable bias to the product of input and weights.
    #[config(default = true)]
    pub bias: bool,
    /// The distribution of the initial weights and biases; the default is that of `burn::nn::Linear`.
    #[config(default = "linear_initializer()")]
    pub initializer: Initializer,
}

/// Returns the default of Burn's linear layers.
pub(super) fn linear_initializer() -> Initializer {
    LinearConfig::new(1, 1).initializer
}

impl HiddenLayerConfig {
    /// Creates a layer with random weights from the device's generator.
    ///
    /// # Panics
    ///
    /// If `dropout` is not in `[0, 1)`.
    pub fn init(&self, device: &Device) -> HiddenLayer {
        let linear = LinearConfig::new(self.d_input, self.d_output)
            .with_bias(self.bias)
            .with_initializer(self.initializer.clone())
            .init(device);
        HiddenLayer::new(linear, &self.activation, self.dropout)
    }
}

/// A linear layer, an activation and dropout. Bias, activation and dropout are one pass over memory,
/// forward and backward. To load records of a `Linear` that this layer replaces, whose names lack
/// this layer's `linear.`, use [`Unfused`](crate::Unfused).
///
/// For the backward pass the layer only stores the matrix product; it computes the dropout mask
/// again. Dropout acts on autodiff devices only, unless the layer is frozen, as in Burn.
///
/// **Seeds.** Weights and masks come from the device's own generator, as in Burn's layers. After
/// `device.seed(…)`, the same calls drop the same elements. Without a seed, every process drops other
/// elements. Processes that train one model together need equal weights but different masks: set the
/// same seed in each, create the model, then set a different seed in each.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::HiddenLayerConfig;
///
/// let device = Device::default();
/// let layer = HiddenLayerConfig::new(3, 5).with_dropout(0.5).init(&device);
/// assert_eq!(layer.forward(Tensor::<2>::ones([2, 3], &device)).dims(), [2, 5]);
/// ```
#[derive(Clone, Debug)]
pub struct HiddenLayer {
    /// The weights.
    pub linear: Linear,
    /// The activation.
    pub activation: ActivationLayer,
    /// The dropout of the neurons' outputs, in training.
    pub dropout: Dropout,
}

impl HiddenLayer {
    /// Creates a layer with these weights.
    ///
    /// # Panics
    ///
    /// If `dropout` is not in `[0, 1)`.
    pub fn new(linear: Linear, activation: &Activation, dropout: f64) -> Self {
        let ([_, neurons], device) = (linear.weight.dims(), linear.weight.device());
        Self {
            activation: activation.init(Channels::Last(neurons), &device),
            linear,
            dropout: DropoutConfig::new(dropout).init(),
        }
    }

    /// Returns the layer's outputs.
    ///
    /// # Shapes
    ///
    /// - input: `[..., d_input]`
    /// - output: `[..., d_output]`
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is not `d_input`.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        neurons(&self.linear, &self.activation, &self.dropout, input)
    }
}

impl Module for HiddenLayer {
    of_fields!(linear, activation, dropout;);

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        match names() {
            Some(_) => self.linear.visit(visitor),
            None => within!(visitor, "linear", "HiddenLayer", self.linear.visit(visitor)),
        }
        within!(visitor, "activation", "HiddenLayer", self.activation.visit(visitor));
        within!(visitor, "dropout", "HiddenLayer", self.dropout.visit(visitor));
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let Self { linear, activation, dropout } = self;
        Self {
            linear: match names() {
                Some(_) => linear.map(mapper),
                None => within!(mapper, "linear", "HiddenLayer", linear.map(mapper)),
            },
            activation: within!(mapper, "activation", "HiddenLayer", activation.map(mapper)),
            dropout: within!(mapper, "dropout", "HiddenLayer", dropout.map(mapper)),
        }
    }
}

displayed!(HiddenLayer);

impl ModuleDisplay for HiddenLayer {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [d_input, d_output] = self.linear.weight.dims();
        content
            .add("d_input", &d_input)
            .add("d_output", &d_output)
            .add("bias", &self.linear.bias.is_some())
            .add("activation", &self.activation.name())
            .add("dropout", &self.dropout.prob)
            .optional()
    }
}

/// Returns `dropout(activation(input·weight + bias))`. Everything after the product is one pass if
/// the activation is a [`Unit`](crate::Unit).
pub(super) fn neurons<const D: usize>(
    linear: &Linear,
    activation: &ActivationLayer,
    dropout: &Dropout,
    input: Tensor<D>,
) -> Tensor<D> {
    let weight = linear.weight.val();
    let [d_input, _] = weight.dims();
    assert!(
        input.dims().last() == Some(&d_input),
        "a layer of {d_input} inputs got a tensor of {:?}",
        input.dims()
    );
    let mask = DropoutMask::due(dropout, &input);
    let bias = linear.bias.as_ref().map(|bias| bias.val());
    if let (Some(unit), Some(bias)) = (activation.fusible(), &bias) {
        let product = burn_core::tensor::module::linear(input, weight, None);
        return functional::bias_activation_dropout(product, bias.clone(), unit, mask);
    }
    let y = activation.forward(burn_core::tensor::module::linear(input, weight, bias));
    match mask {
        Some(mask) => functional::dropout(y, mask),
        None => y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::module::Param;

    /// Returns the inputs of the tests.
    fn input(device: &Device) -> Tensor<3> {
        let numbers = Tensor::<1, burn_core::tensor::Int>::arange(0..24, device).float();
        (numbers * 0.1 - 1.0).reshape([2, 3, 4])
    }

    #[test]
    fn fused_layer_is_linear_then_activation() {
        let device = Device::default();
        for activation in Activation::built_in() {
            let config = HiddenLayerConfig::new(4, 6).with_activation(activation.clone());
            let layer = config.init(&device);
            let expected = activation.forward(layer.linear.forward(input(&device)));
            layer.forward(input(&device)).into_data().assert_approx_eq::<f32>(
                &expected.into_data(),
                burn_core::tensor::Tolerance::absolute(1e-6),
            );
        }
    }

    #[test]
    fn gradients_are_those_of_the_separate_steps() {
        let device = Device::default().autodiff();
        let layer = HiddenLayerConfig::new(4, 6).init(&device);
        let (fused, plain) = (input(&device).require_grad(), input(&device).require_grad());
        // The weights make the gradients differ between elements.
        let weights = Tensor::<1, burn_core::tensor::Int>::arange(0..36, &device).float();
        let loss = |y: Tensor<3>| (y * weights.clone().reshape([2, 3, 6])).sum();
        let fused_gradients = loss(layer.forward(fused.clone())).backward();
        let separate = Activation::Gelu.forward(layer.linear.forward(plain.clone()));
        let plain_gradients = loss(separate).backward();
        let tolerance = burn_core::tensor::Tolerance::relative(1e-5).set_absolute(1e-5);
        let bias = layer.linear.bias.as_ref().unwrap().val();
        for (got, expected) in [
            (
                fused.grad(&fused_gradients).unwrap().into_data(),
                plain.grad(&plain_gradients).unwrap().into_data(),
            ),
            (
                bias.grad(&fused_gradients).unwrap().into_data(),
                bias.grad(&plain_gradients).unwrap().into_data(),
            ),
            (
                layer.linear.weight.val().grad(&fused_gradients).unwrap().into_data(),
                layer.linear.weight.val().grad(&plain_gradients).unwrap().into_data(),
            ),
        ] {
            got.assert_approx_eq::<f32>(&expected, tolerance);
        }
    }

    #[test]
    fn dropped_outputs_have_no_gradient_and_the_others_twice() {
        let device = Device::default().autodiff();
        for activation in [Activation::Relu, Activation::custom("same", |x| x)] {
            let layer = HiddenLayerConfig::new(4, 64)
                .with_dropout(0.5)
                .with_activation(activation)
                .init(&device);
            let x = Tensor::<2>::ones([1, 4], &device);
            let y = layer.forward(x);
            let outputs = y.clone().into_data().try_to_vec::<f32>().unwrap();
            let gradients = y.sum().backward();
            let bias = layer.linear.bias.as_ref().unwrap().val();
            let slopes = bias.grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap();
            for (output, slope) in outputs.iter().zip(&slopes) {
                assert_eq!(*slope, if *output == 0.0 { 0.0 } else { 2.0 });
            }
            assert!(slopes.contains(&0.0) && slopes.contains(&2.0));
        }
    }

    #[test]
    fn dropout_rests_outside_of_training_and_when_frozen() {
        let device = Device::default();
        let layer = HiddenLayerConfig::new(4, 32).with_dropout(0.9).init(&device);
        let plain = layer.forward(input(&device)).into_data();
        let zeros =
            |data: burn_core::tensor::TensorData| data.iter::<f32>().filter(|&y| y == 0.0).count();
        assert_eq!(zeros(plain), 0);
        let trained = layer.clone().train();
        assert!(zeros(trained.forward(input(&device.clone().autodiff())).into_data()) > 50);
        let frozen = trained.freeze();
        assert_eq!(zeros(frozen.forward(input(&device.autodiff())).into_data()), 0);
    }

    #[test]
    fn a_layer_without_bias_is_the_same_with_a_bias_of_zeros() {
        let device = Device::default();
        for activation in [Activation::Gelu, Activation::custom("square", |x| x.clone() * x)] {
            let config = HiddenLayerConfig::new(4, 6).with_activation(activation).with_bias(false);
            let layer = config.init(&device);
            assert_eq!(layer.num_params(), 24);
            let plain = layer.forward(input(&device)).into_data();
            let mut with_zeros = layer.clone();
            with_zeros.linear.bias = Some(Param::from_tensor(Tensor::zeros([6], &device)));
            plain.assert_eq(&with_zeros.forward(input(&device)).into_data(), true);
            let trained = HiddenLayer { dropout: DropoutConfig::new(0.5).init(), ..layer };
            let y = trained.train().forward(input(&device.clone().autodiff())).into_data();
            let dropped = y.iter::<f32>().filter(|&y| y == 0.0).count();
            // At most 6 of 36, or at least 30, are dropped in about one of 14,000 masks.
            assert!((7..30).contains(&dropped), "{dropped} of 36 dropped");
        }
    }

    #[test]
    fn learnable_activations_learn_each_neurons_own() {
        let device = Device::default().autodiff();
        let config = HiddenLayerConfig::new(4, 6).with_activation(Activation::LearnableGelu);
        let layer = config.init(&device);
        // Dimension 1 also has length 6, so that a wrong dimension would change the result without an
        // error.
        let numbers = Tensor::<1, burn_core::tensor::Int>::arange(0..48, &device).float();
        let x = (numbers * 0.05 - 1.0).reshape([2, 6, 4]);
        let y = layer.forward(x.clone());
        // The loss only contains one neuron, so only this neuron's μ has a gradient.
        let loss = y.slice([0..2, 0..6, 2..3]).sum();
        let learned = layer.activation.learnable().unwrap();
        let gradient = learned.mean.val().grad(&loss.backward()).unwrap();
        let gradient = gradient.into_data().try_to_vec::<f32>().unwrap();
        for (neuron, slope) in gradient.iter().enumerate() {
            assert_eq!(*slope != 0.0, neuron == 2, "{gradient:?}");
        }
    }

    #[test]
    fn initializer_and_display_are_those_of_the_linear_layer() {
        let config = HiddenLayerConfig::new(4, 6);
        assert_eq!(config.initializer, LinearConfig::new(4, 6).initializer);
        let constant = Initializer::Constant { value: 0.5 };
        let layer = config.with_initializer(constant).init(&Device::default());
        let y = layer.linear.weight.val().sum().into_scalar::<f32>();
        assert_eq!(y, 12.0);
        assert_eq!(
            alloc::format!("{layer}"),
            "HiddenLayer {d_input: 4, d_output: 6, bias: true, activation: gelu, dropout: 0, \
             params: 30}"
        );
    }

    #[test]
    fn an_empty_batch_stays_empty() {
        let device = Device::default().autodiff();
        let layer = HiddenLayerConfig::new(4, 6).with_dropout(0.5).init(&device);
        let y = layer.forward(Tensor::<3>::zeros([2, 0, 4], &device));
        assert_eq!(y.dims(), [2, 0, 6]);
    }

    #[test]
    fn a_quantised_layer_is_the_quantised_linear_and_the_activation() {
        let device = Device::default();
        let scheme = device.settings().quantization.scheme;
        let quantise = || {
            burn_core::module::Quantizer::new(
                burn_core::tensor::quantization::Calibration::MinMax,
                scheme,
            )
        };
        let layer = HiddenLayerConfig::new(32, 32).init(&device);
        let layer = layer.quantize_weights(&mut quantise());
        let x = Tensor::<2>::ones([2, 32], &device) * 0.5;
        let expected = Activation::Gelu.forward(layer.linear.forward(x.clone())).into_data();
        let got = layer.forward(x).into_data();
        got.assert_approx_eq::<f32>(&expected, burn_core::tensor::Tolerance::absolute(1e-6));
    }

    #[test]
    #[should_panic(expected = "a layer of 4 inputs got a tensor of [2, 3]")]
    fn other_inputs_are_refused() {
        let device = Device::default();
        HiddenLayerConfig::new(4, 6).init(&device).forward(Tensor::<2>::ones([2, 3], &device));
    }
}
