use super::hidden_layer::{linear_initializer, neurons};
use super::{ActivationLayer, Channels};
use crate::Activation;
use burn::config::Config;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::transformer::PositionWiseFeedForward;
use burn_nn::{Dropout, DropoutConfig, Initializer, Linear, LinearConfig};

/// Configuration of a [`FeedForward`].
#[derive(Config, Debug)]
pub struct FeedForwardConfig {
    /// Number of input and output features.
    pub d_model: usize,
    /// Number of hidden neurons.
    pub d_ff: usize,
    /// The activation.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
    /// Probability of dropping a hidden neuron's output while training.
    #[config(default = 0.1)]
    pub dropout: f64,
    /// Whether both linear layers add a bias.
    #[config(default = true)]
    pub bias: bool,
    /// The distribution of the initial weights and biases; the default is that of `burn::nn::Linear`.
    #[config(default = "linear_initializer()")]
    pub initializer: Initializer,
}

impl FeedForwardConfig {
    /// Creates a block with random weights from the device's generator.
    ///
    /// # Panics
    ///
    /// If `dropout` is not in `[0, 1)`.
    pub fn init(&self, device: &Device) -> FeedForward {
        let linear = |inputs, outputs| {
            let config = LinearConfig::new(inputs, outputs).with_bias(self.bias);
            config.with_initializer(self.initializer.clone()).init(device)
        };
        FeedForward {
            linear_inner: linear(self.d_model, self.d_ff),
            linear_outer: linear(self.d_ff, self.d_model),
            dropout: DropoutConfig::new(self.dropout).init(),
            activation: self.activation.init(Channels::Last(self.d_ff), device),
        }
    }
}

/// The position-wise network of a transformer: linear → activation → dropout → linear. Everything
/// between the two matrix products is one pass over memory. Create one with [`FeedForwardConfig`], or
/// convert a `burn::nn::transformer::PositionWiseFeedForward`.
///
/// Use it in place of Burn's block, whose list of activations is closed. Records load in both
/// directions. Burn 0.22 leaves an activation's parameters out of its records. If the activation here
/// has parameters, load Burn's record with `record.allow_partial(true)`, and load this block's record
/// in Burn with `allow_unused(true)`. Dropout and its seed work as in
/// [`HiddenLayer`](crate::HiddenLayer).
///
/// ```
/// use burn::module::Module;
/// use burn::nn::transformer::PositionWiseFeedForwardConfig;
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::{Activation, FeedForward, FeedForwardConfig};
///
/// let device = Device::default();
/// let trained = PositionWiseFeedForwardConfig::new(8, 32).init(&device);
/// let block = FeedForward::from(trained.clone()).with_activation(&Activation::Mish);
/// assert_eq!(block.forward(Tensor::<3>::ones([2, 5, 8], &device)).dims(), [2, 5, 8]);
///
/// let block = FeedForwardConfig::new(8, 32).init(&device).load_record(trained.into_record());
/// assert_eq!(block.linear_inner.weight.dims(), [8, 32]);
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct FeedForward {
    /// The layer from the features to the hidden neurons.
    pub linear_inner: Linear,
    /// The layer from the hidden neurons back to the features.
    pub linear_outer: Linear,
    /// The dropout of the hidden neurons' outputs, in training.
    pub dropout: Dropout,
    /// The activation.
    pub activation: ActivationLayer,
}

impl From<PositionWiseFeedForward> for FeedForward {
    /// Converts Burn's block with its weights and its activation. The activation stays a layer of
    /// Burn's if it has weights, or if this crate has no such function.
    fn from(block: PositionWiseFeedForward) -> Self {
        let PositionWiseFeedForward { linear_inner, linear_outer, dropout, activation } = block;
        Self { linear_inner, linear_outer, dropout, activation: activation.into() }
    }
}

impl FeedForward {
    /// Returns the block with another activation and the same weights.
    pub fn with_activation(self, activation: &Activation) -> Self {
        let (weight, [_, d_ff]) = (&self.linear_inner.weight, self.linear_inner.weight.dims());
        let activation = activation.init(Channels::Last(d_ff), &weight.device());
        Self { activation, ..self }
    }

    /// Returns the block's outputs.
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., d_model]`
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is not `d_model`.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let hidden = neurons(&self.linear_inner, &self.activation, &self.dropout, input);
        self.linear_outer.forward(hidden)
    }
}

impl ModuleDisplay for FeedForward {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [d_model, d_ff] = self.linear_inner.weight.dims();
        content
            .add("d_model", &d_model)
            .add("d_ff", &d_ff)
            .add("bias", &self.linear_inner.bias.is_some())
            .add("activation", &self.activation.name())
            .add("dropout", &self.dropout.prob)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::{Int, Tolerance};
    use burn_nn::activation::{ActivationConfig, EluConfig, HardSigmoidConfig};
    use burn_nn::transformer::PositionWiseFeedForwardConfig;

    fn input(device: &Device) -> Tensor<3> {
        let numbers = Tensor::<1, Int>::arange(0..24, device).float();
        (numbers * 0.1 - 1.0).reshape([2, 3, 4])
    }

    #[test]
    fn burns_record_loads_and_computes_what_it_did() {
        let device = Device::default();
        // The ReLU's value is correct in Burn.
        let burns = PositionWiseFeedForwardConfig::new(4, 6)
            .with_activation(ActivationConfig::Relu)
            .init(&device);
        let expected = burns.forward(input(&device)).into_data();
        let config = FeedForwardConfig::new(4, 6).with_activation(Activation::Relu);
        let block = config.init(&device).load_record(burns.into_record());
        let got = block.forward(input(&device)).into_data();
        got.assert_approx_eq::<f32>(&expected, Tolerance::absolute(1e-6));
    }

    #[test]
    fn burn_loads_the_record_of_this_block() {
        let device = Device::default();
        let block = FeedForwardConfig::new(4, 6).init(&device);
        let weights = block.linear_outer.weight.val().into_data();
        let burns = PositionWiseFeedForwardConfig::new(4, 6).init(&device);
        let burns = burns.load_record(block.into_record());
        burns.linear_outer.weight.val().into_data().assert_eq(&weights, true);
    }

    #[test]
    fn every_block_of_burns_computes_and_differentiates_as_it_did() {
        let device = Device::default().autodiff();
        let swiglu = burn_nn::SwiGluConfig::new(6, 6).with_bias(true);
        // These are functions whose values and derivatives are correct in Burn.
        for (activation, ours) in [
            (ActivationConfig::Relu, Some(Activation::Relu)),
            (ActivationConfig::GeluApproximate, Some(Activation::GeluTanh)),
            (EluConfig::new().with_alpha(0.5).into(), Some(Activation::Elu { alpha: 0.5 })),
            (HardSigmoidConfig::new().with_alpha(0.3).into(), None),
            (burn_nn::PReluConfig::new().with_alpha(0.75).into(), None),
            (swiglu.into(), None),
        ] {
            let config = PositionWiseFeedForwardConfig::new(4, 6).with_dropout(0.0);
            let burns = config.with_activation(activation).init(&device);
            let block = FeedForward::from(burns.clone());
            assert_eq!(block.activation.activation(), ours);
            let [of_burns, of_ours] = [(); 2].map(|()| input(&device).require_grad());
            let [expected, got] = [burns.forward(of_burns.clone()), block.forward(of_ours.clone())];
            let near = Tolerance::absolute(1e-6).set_relative(1e-5);
            let expected_values = expected.clone().into_data();
            got.clone().into_data().assert_approx_eq::<f32>(&expected_values, near);
            let loss = |y: Tensor<3>| (y * input(&device).cos()).sum().backward();
            let [expected, got] = [loss(expected), loss(got)];
            let slopes = of_burns.grad(&expected).unwrap().into_data();
            of_ours.grad(&got).unwrap().into_data().assert_approx_eq::<f32>(&slopes, near);
            for (theirs, ours) in [
                (&burns.linear_inner, &block.linear_inner),
                (&burns.linear_outer, &block.linear_outer),
            ] {
                let expected = theirs.weight.val().grad(&expected).unwrap().into_data();
                let got = ours.weight.val().grad(&got).unwrap().into_data();
                got.assert_approx_eq::<f32>(&expected, near);
            }
        }
    }

    #[test]
    fn a_layer_of_burns_with_weights_is_trained() {
        let device = Device::default().autodiff();
        let prelu = burn_nn::PReluConfig::new();
        let config = PositionWiseFeedForwardConfig::new(4, 6).with_activation(prelu.into());
        let block = FeedForward::from(config.init(&device));
        let gradients = block.forward(input(&device)).sum().backward();
        let ActivationLayer::Burn(layer) = &block.activation else { panic!("{block}") };
        let burn_nn::activation::Activation::PRelu(layer) = &**layer else { panic!("{block}") };
        assert_ne!(layer.alpha.val().grad(&gradients).unwrap().into_scalar::<f32>(), 0.0);
    }

    #[test]
    fn another_activation_keeps_the_weights() {
        let device = Device::default();
        let block = FeedForwardConfig::new(4, 6).init(&device);
        let swapped = block.clone().with_activation(&Activation::LearnableGelu);
        let config = FeedForwardConfig::new(4, 6).with_activation(Activation::LearnableGelu);
        assert_eq!(swapped.num_params(), config.init(&device).num_params());
        let [expected, got] = [&block, &swapped].map(|block| block.forward(input(&device)));
        // The learnable activation starts as the GELU.
        got.into_data().assert_approx_eq::<f32>(&expected.into_data(), Tolerance::absolute(1e-6));
    }

    #[test]
    fn learnable_activations_take_sequences() {
        let device = Device::default();
        for activation in Activation::built_in() {
            let config = FeedForwardConfig::new(4, 6).with_activation(activation);
            assert_eq!(config.init(&device).forward(input(&device)).dims(), [2, 3, 4]);
        }
    }

    #[test]
    fn display_names_sizes_and_activation() {
        let config = FeedForwardConfig::new(2, 4).with_bias(false);
        assert_eq!(
            alloc::format!("{}", config.init(&Device::default())),
            "FeedForward {d_model: 2, d_ff: 4, bias: false, activation: gelu, dropout: 0.1, \
             params: 16}"
        );
    }
}
