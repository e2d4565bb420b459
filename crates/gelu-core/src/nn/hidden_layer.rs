use super::ActivationLayer;
use crate::{Activation, Draw, DropoutMask, functional};
use burn::config::Config;
use burn::module::{Flag, Module, Param};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::{Linear, LinearConfig};

/// Configuration of a [`HiddenLayer`].
#[derive(Config, Debug)]
pub struct HiddenLayerConfig {
    /// Number of input features.
    pub d_input: usize,
    /// Number of neurons.
    pub d_output: usize,
    /// The nonlinearity.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
    /// Probability of dropping a neuron's output while training.
    #[config(default = 0.0)]
    pub dropout: f64,
}

impl HiddenLayerConfig {
    /// A layer with Burn's default weights.
    ///
    /// # Panics
    ///
    /// If `dropout` is not in `[0, 1)`.
    pub fn init(&self, device: &Device) -> HiddenLayer {
        let linear = LinearConfig::new(self.d_input, self.d_output).init(device);
        HiddenLayer::new(linear, &self.activation, self.dropout)
    }
}

/// A linear layer, an activation and dropout; bias, activation and dropout are one pass over
/// memory, forward and backward.
///
/// Of what the backward pass needs, only the matrix product is kept; the dropout mask is drawn
/// again, from the process's sequence ([`random::seed`](crate::random::seed)). Dropout acts on autodiff devices
/// alone, unless frozen, as Burn's does.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::HiddenLayerConfig;
///
/// let device = Device::default();
/// let layer = HiddenLayerConfig::new(3, 5).with_dropout(0.5).init(&device);
/// assert_eq!(layer.forward(Tensor::<2>::ones([2, 3], &device)).dims(), [2, 5]);
/// ```
#[derive(Module, Debug)]
pub struct HiddenLayer {
    /// The weights.
    pub linear: Linear,
    /// The nonlinearity.
    pub activation: ActivationLayer,
    /// Probability of dropping a neuron's output while training.
    pub dropout: f64,
    /// Whether to drop on autodiff devices; cleared by freezing.
    pub training: Param<Flag>,
}

impl HiddenLayer {
    /// A layer of these weights.
    ///
    /// # Panics
    ///
    /// If `dropout` is not in `[0, 1)`.
    pub fn new(linear: Linear, activation: &Activation, dropout: f64) -> Self {
        assert!(
            (0.0..1.0).contains(&dropout),
            "a dropout probability lies in [0, 1), got {dropout}"
        );
        let (channels, device) = (linear.weight.dims()[1], linear.weight.device());
        Self {
            activation: activation.init(channels, &device),
            linear,
            dropout,
            training: Param::from_bool(true),
        }
    }

    /// The layer's outputs.
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
        let dropping =
            self.dropout > 0.0 && self.training.is_enabled() && input.device().is_autodiff();
        let dropout = dropping.then(|| DropoutMask::new(self.dropout, Draw::next()));
        match (self.activation.unit(), &self.linear.bias) {
            (Some(unit), Some(bias)) => {
                let product = self.product(input);
                functional::bias_activation_dropout(product, bias.val(), unit, dropout)
            }
            _ => {
                let y = self.activation.forward(self.linear.forward(input));
                match dropout {
                    Some(dropout) => functional::dropout(y, dropout),
                    None => y,
                }
            }
        }
    }

    /// The input times the weights, without the bias.
    fn product<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let weight = self.linear.weight.val();
        let [d_input, _] = weight.dims();
        assert!(
            input.dims().last() == Some(&d_input),
            "a layer of {d_input} inputs got a tensor of {:?}",
            input.dims()
        );
        burn_core::tensor::module::linear(input, weight, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs for every rank that a layer takes.
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
            if matches!(activation, Activation::LearnableGelu | Activation::PRelu) {
                // Its channels are dimension 1.
                let flat = input(&device).reshape([6, 4]);
                let expected = activation.forward(layer.linear.forward(flat.clone()));
                layer.forward(flat).into_data().assert_approx_eq::<f32>(
                    &expected.into_data(),
                    burn_core::tensor::Tolerance::absolute(1e-6),
                );
                continue;
            }
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
        // A weighted sum, so that no gradient is the same everywhere.
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
    #[should_panic(expected = "a layer of 4 inputs got a tensor of [2, 3]")]
    fn other_inputs_are_refused() {
        let device = Device::default();
        HiddenLayerConfig::new(4, 6).init(&device).forward(Tensor::<2>::ones([2, 3], &device));
    }
}
