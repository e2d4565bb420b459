//! Use of a picked activation, as a module or on a tensor.

use super::ActivationLayer;
use crate::nn::{Channels, StochasticGelu};
use crate::{Activation, Unit, functional};
use burn_core::tensor::{Device, Tensor};

impl Activation {
    /// Returns the activation as a module, for a network that accepts any activation.
    ///
    /// Learnable parameters have one value per channel of `channels`; other activations ignore
    /// `channels`.
    ///
    /// # Panics
    ///
    /// If the activation's parameter is out of range ([`Unit::validated`]), or it is learnable and
    /// `channels` has no channels.
    pub fn init(&self, channels: Channels, device: &Device) -> ActivationLayer {
        ActivationLayer::new(self, channels, device)
    }

    /// Applies the function to a tensor of any rank. The stochastic map is random on autodiff devices.
    /// Learnable activations use their start values: the GELU, SiLU, xIELU with both α = 0.8, and the
    /// leaky ReLU of slope 0.25. To train them, use them as a module ([`init`](Self::init)).
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., any]`
    ///
    /// # Panics
    ///
    /// If a custom function returns another number of values than it received, or the activation's
    /// parameter is out of range ([`Unit::validated`]).
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Custom(custom) => custom.forward(x),
            Self::Soi => StochasticGelu::new().forward(x),
            Self::LearnableGelu => functional::gelu(x),
            Self::LearnableSwish | Self::Xielu => {
                let device = x.device();
                self.init(Channels::Shared, &device).forward(x)
            }
            Self::PRelu => functional::unit(x, Unit::LeakyRelu { slope: 0.25 }),
            _ => functional::unit(x, self.unit().expect("the others are units")),
        }
    }
}
