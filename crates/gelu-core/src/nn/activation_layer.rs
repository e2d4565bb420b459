use super::{Channels, LearnableGelu, LearnableGeluConfig, StochasticGelu};
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
    #[module(skip)]
    channels: Channels,
}

impl ActivationLayer {
    /// # Panics
    ///
    /// If the activation's parameter is none that it takes.
    pub(crate) fn new(activation: &Activation, channels: Channels, device: &Device) -> Self {
        if let Some(unit) = activation.unit() {
            unit.checked();
        }
        Self {
            stochastic: (*activation == Activation::Soi).then(StochasticGelu::new),
            learnable: (*activation == Activation::LearnableGelu)
                .then(|| LearnableGeluConfig::new().with_channels(channels).init(device)),
            prelu: (*activation == Activation::PRelu)
                .then(|| PReluConfig::new().with_num_parameters(channels.count()).init(device)),
            activation: activation.clone(),
            channels,
        }
    }

    /// Applies it elementwise.
    ///
    /// # Shapes
    ///
    /// - input and output: any, or what [`Channels`] says where the activation has parameters
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        match (&self.stochastic, &self.learnable, &self.prelu) {
            (Some(map), ..) => map.forward(input),
            (_, Some(layer), _) => layer.forward(input),
            (.., Some(layer)) => self.prelu(layer, input),
            _ => self.activation.forward(input),
        }
    }

    /// Burn's layer has its channels in dimension 1.
    fn prelu<const D: usize>(&self, layer: &PRelu, input: Tensor<D>) -> Tensor<D> {
        let shape = input.dims();
        self.channels.broadcast(shape, "a PReLU");
        match self.channels {
            Channels::Last(columns) => {
                let rows = shape.iter().product::<usize>().checked_div(columns).unwrap_or(0);
                layer.forward(input.reshape([rows, columns])).reshape(shape)
            }
            Channels::Shared | Channels::First(_) => layer.forward(input),
        }
    }

    /// Which it is.
    pub fn activation(&self) -> &Activation {
        &self.activation
    }

    /// What it has learned, if it is [`Activation::LearnableGelu`].
    pub fn learnable(&self) -> Option<&LearnableGelu> {
        self.learnable.as_ref()
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
            let y = activation.init(Channels::Shared, &device).forward(x.clone());
            y.into_data().assert_eq(&activation.forward(x.clone()).into_data(), true);
        }
    }

    #[test]
    fn every_layer_takes_channels_first_and_last_and_empty_tensors() {
        let device = Device::default();
        let x = Tensor::<1, burn_core::tensor::Int>::arange(0..24, &device).float() * 0.3 - 3.0;
        let x: Tensor<3> = x.reshape([2, 3, 4]);
        for activation in Activation::built_in() {
            let expected = activation.forward(x.clone()).into_data();
            for channels in [Channels::Shared, Channels::First(3), Channels::Last(4)] {
                let layer = activation.init(channels, &device);
                let y = layer.forward(x.clone()).into_data();
                y.assert_approx_eq::<f32>(&expected, burn_core::tensor::Tolerance::absolute(1e-6));
                let empty = Tensor::<3>::zeros([0, 3, 4], &device);
                assert_eq!(layer.forward(empty).dims(), [0, 3, 4]);
            }
        }
    }

    #[test]
    fn prelu_learns_a_slope_for_each_feature() {
        let device = Device::default().autodiff();
        let layer = Activation::PRelu.init(Channels::Last(4), &device);
        // Four in dimension 1 too, where the wrong dimension would go unnoticed.
        let x = Tensor::<3>::ones([2, 4, 4], &device).neg();
        let y = layer.forward(x).slice([0..2, 0..4, 1..2]);
        let gradients = y.sum().backward();
        let slopes = layer.prelu.as_ref().unwrap().alpha.val().grad(&gradients).unwrap();
        assert_eq!(slopes.into_data().try_to_vec::<f32>().unwrap(), [0.0, -8.0, 0.0, 0.0]);
    }

    #[test]
    #[should_panic(expected = "a PReLU of 3 channels got a tensor of [2, 3, 4]: its channels are \
                               the last dimension (Channels::First after a convolution)")]
    fn channels_of_another_dimension_are_refused() {
        let layer = Activation::PRelu.init(Channels::Last(3), &Device::default());
        layer.forward(Tensor::<3>::ones([2, 3, 4], &Device::default()));
    }

    #[test]
    fn only_the_learnable_ones_have_parameters() {
        for activation in Activation::built_in() {
            let count = activation.init(Channels::Last(5), &Device::default()).num_params();
            let expected = match activation {
                Activation::LearnableGelu => 10,
                Activation::PRelu => 5,
                _ => 0,
            };
            assert_eq!(count, expected, "{activation}");
        }
    }
}
