use super::{LearnableGelu, LearnableGeluConfig, StochasticGelu};
use crate::{Activation, Unit};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::{PRelu, PReluConfig};

/// Any [`Activation`] as a module: what a network holds whose activation is picked by name.
/// Made by [`Activation::init`].
#[derive(Module, Debug)]
pub struct ActivationLayer {
    #[module(skip)]
    activation: Activation,
    stochastic: Option<StochasticGelu>,
    learnable: Option<LearnableGelu>,
    prelu: Option<PRelu>,
}

impl ActivationLayer {
    pub(crate) fn new(activation: &Activation, channels: usize, device: &Device) -> Self {
        Self {
            stochastic: (*activation == Activation::Soi).then(StochasticGelu::new),
            learnable: (*activation == Activation::LearnableGelu)
                .then(|| LearnableGeluConfig::new().with_channels(channels).init(device)),
            prelu: (*activation == Activation::PRelu)
                .then(|| PReluConfig::new().with_num_parameters(channels).init(device)),
            activation: activation.clone(),
        }
    }

    /// Applies it elementwise.
    ///
    /// # Shapes
    ///
    /// - input and output: `[batch, channels, ...]`, or any where the activation has no
    ///   parameters
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        match (&self.stochastic, &self.learnable, &self.prelu) {
            (Some(map), ..) => map.forward(input),
            (_, Some(layer), _) => layer.forward(input),
            (.., Some(layer)) => layer.forward(input),
            _ => self.activation.forward(input),
        }
    }

    /// Which it is.
    pub fn activation(&self) -> &Activation {
        &self.activation
    }

    /// The kernel's name for it, if it has neither parameters nor randomness.
    pub(super) fn unit(&self) -> Option<Unit> {
        self.activation.unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_activation_has_a_layer_that_computes_it() {
        let device = Device::default();
        let x = Tensor::<2>::from_floats([[-1.0, 0.5, 2.0]], &device);
        let own = Activation::custom("square", |x| x.clone() * x);
        for activation in Activation::built_in().into_iter().chain([own]) {
            let y = activation.init(1, &device).forward(x.clone());
            y.into_data().assert_eq(&activation.forward(x.clone()).into_data(), true);
        }
    }

    #[test]
    fn only_the_learnable_ones_have_parameters() {
        for activation in Activation::built_in() {
            let count = activation.init(5, &Device::default()).num_params();
            let expected = match activation {
                Activation::LearnableGelu => 10,
                Activation::PRelu => 5,
                _ => 0,
            };
            assert_eq!(count, expected, "{activation}");
        }
    }
}
