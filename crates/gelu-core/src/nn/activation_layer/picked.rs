//! An activation that was picked, at work: as a module, or on a tensor.

use super::ActivationLayer;
use crate::nn::{Channels, StochasticGelu};
use crate::{Activation, Unit, functional};
use burn_core::tensor::{Device, Tensor};

impl Activation {
    /// It as a module, for a network that is given any activation.
    ///
    /// Whatever is learned is learned for each of `channels`; the others take no notice.
    ///
    /// # Panics
    ///
    /// If its parameter is out of range ([`Unit::validated`]), or it is learned for no
    /// channels.
    pub fn init(&self, channels: Channels, device: &Device) -> ActivationLayer {
        ActivationLayer::new(self, channels, device)
    }

    /// The function on a tensor of any rank. The stochastic map is drawn on autodiff devices; what
    /// is learned is what it starts as: the GELU, SiLU, xIELU with both α = 0.8, and the leaky ReLU of
    /// slope 0.25 (it learns as a module: [`init`](Self::init)).
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., any]`
    ///
    /// # Panics
    ///
    /// If a custom function returns another number of values than it was given, or the activation's
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
