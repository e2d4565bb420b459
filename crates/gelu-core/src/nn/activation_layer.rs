mod module;
mod picked;

use super::width::{cast, widened};
use super::{
    Channels, LearnableGelu, LearnableGeluConfig, LearnableSwish, LearnableSwishConfig,
    LearnedActivation, StochasticGelu, Xielu, XieluConfig,
};
use crate::activation::burn_config;
use crate::backends::dispatch::reshaped;
use crate::{Activation, CustomActivation, Unit, functional};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_core::tensor::{Device, Tensor, activation};
use burn_nn::{PRelu, PReluConfig};

/// A module for any [`Activation`]. Use it in a network whose activation is picked by name.
/// [`Activation::init`] creates it, and it also converts from a layer of Burn's, which keeps its
/// parameters and its path in records.
///
/// ```
/// use burn::nn::activation::{Activation as BurnActivation, Gelu};
/// use gelu_core::{Activation, ActivationLayer};
///
/// let layer = ActivationLayer::from(BurnActivation::Gelu(Gelu::new_approximate()));
/// assert_eq!(layer.activation(), Some(Activation::GeluTanh));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ActivationLayer {
    /// A function without learnable parameters and without randomness.
    Unit(Unit),
    /// A custom function without learnable constants.
    Custom(CustomActivation),
    /// A custom function with learnable constants.
    Learned(LearnedActivation),
    /// [`Activation::Soi`].
    Soi(StochasticGelu),
    /// [`Activation::LearnableGelu`].
    LearnableGelu(LearnableGelu),
    /// [`Activation::LearnableSwish`].
    LearnableSwish(LearnableSwish),
    /// [`Activation::Xielu`].
    Xielu(Xielu),
    /// [`Activation::PRelu`], and the position of its channels.
    PRelu(PRelu, Channels),
    /// A layer of Burn's without a counterpart in this crate, unchanged.
    Burn(Box<burn_nn::activation::Activation>),
}

impl ActivationLayer {
    /// Creates the layer of an activation.
    ///
    /// # Panics
    ///
    /// If the activation's parameter is out of range, or it is learnable and `channels` has no channels.
    pub(crate) fn new(activation: &Activation, channels: Channels, device: &Device) -> Self {
        match activation {
            Activation::Custom(function) if function.starts().is_empty() => {
                Self::Custom(function.clone())
            }
            Activation::Custom(function) => {
                Self::Learned(LearnedActivation::new(function.clone(), channels, device))
            }
            Activation::Soi => Self::Soi(StochasticGelu::new()),
            Activation::LearnableGelu => {
                Self::LearnableGelu(LearnableGeluConfig::new().with_channels(channels).init(device))
            }
            Activation::LearnableSwish => {
                let config = LearnableSwishConfig::new().with_channels(channels);
                Self::LearnableSwish(config.init(device))
            }
            Activation::Xielu => {
                Self::Xielu(XieluConfig::new().with_channels(channels).init(device))
            }
            Activation::PRelu => {
                let slopes = channels.count_for("a PReLU");
                let config = PReluConfig::new().with_num_parameters(slopes);
                Self::PRelu(config.init(device), channels)
            }
            _ => Self::Unit(activation.unit().expect("the others are units").checked()),
        }
    }

    /// Applies the activation elementwise.
    ///
    /// # Shapes
    ///
    /// - input and output: any; for an activation with learnable parameters, the shape that its
    ///   [`Channels`] describe
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        #[cfg(feature = "std")]
        if crate::watch::is_watching() {
            return crate::watch::through(input, |input| self.apply(input));
        }
        self.apply(input)
    }

    fn apply<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Unit(unit) => functional::unit(input, *unit),
            Self::Custom(function) => function.forward(input),
            Self::Learned(layer) => layer.forward(input, None),
            Self::Soi(map) => map.forward(input),
            Self::LearnableGelu(layer) => layer.forward(input),
            Self::LearnableSwish(layer) => layer.forward(input),
            Self::Xielu(layer) => layer.forward(input),
            Self::PRelu(layer, channels) => prelu(layer, *channels, input),
            Self::Burn(layer) => layer.forward(input),
        }
    }

    /// Returns what a gated unit computes from its gate and its value: `f(gate)·value`, or the result of
    /// a [custom gate](Activation::custom_gate).
    ///
    /// # Shapes
    ///
    /// - gate, value and output: the same shape, as in [`forward`](Self::forward)
    pub fn gated<const D: usize>(&self, gate: Tensor<D>, value: Tensor<D>) -> Tensor<D> {
        #[cfg(feature = "std")]
        if crate::watch::is_watching() {
            return crate::watch::through(gate, |gate| self.apply_gate(gate, value));
        }
        self.apply_gate(gate, value)
    }

    fn apply_gate<const D: usize>(&self, gate: Tensor<D>, value: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Unit(unit) => functional::gated_pair(gate, value, *unit),
            Self::Custom(function) => function.with(gate, Some(value), Vec::new),
            Self::Learned(layer) => layer.forward(gate, Some(value)),
            _ => self.forward(gate) * value,
        }
    }

    /// Returns the activation, or `None` for a layer of Burn's without a counterpart in this crate.
    pub fn activation(&self) -> Option<Activation> {
        Some(match self {
            Self::Unit(unit) => Activation::from(*unit),
            Self::Custom(function) => Activation::Custom(function.clone()),
            Self::Learned(layer) => Activation::Custom(layer.function.clone()),
            Self::Soi(_) => Activation::Soi,
            Self::LearnableGelu(_) => Activation::LearnableGelu,
            Self::LearnableSwish(_) => Activation::LearnableSwish,
            Self::Xielu(_) => Activation::Xielu,
            Self::PRelu(..) => Activation::PRelu,
            Self::Burn(_) => return None,
        })
    }

    /// Returns the layer with the learned parameters, if this is [`Activation::LearnableGelu`].
    pub fn learnable(&self) -> Option<&LearnableGelu> {
        match self {
            Self::LearnableGelu(layer) => Some(layer),
            _ => None,
        }
    }

    /// Returns the unit that computes this activation, or `None` if it has learnable parameters or
    /// randomness.
    pub fn unit(&self) -> Option<Unit> {
        match self {
            Self::Unit(unit) => Some(*unit),
            _ => None,
        }
    }

    /// Returns the [`unit`](Self::unit) for a layer that fuses the activation with the operation before
    /// it. Returns `None` while the network is [watched](crate::watch()), because a fused activation's
    /// input would not be visible.
    pub fn fusible(&self) -> Option<Unit> {
        #[cfg(feature = "std")]
        if crate::watch::is_watching() {
            return None;
        }
        self.unit()
    }
}

/// Applies Burn's PReLU. Burn's function has its channels in dimension 1, and needs slopes of the input's
/// type.
fn prelu<const D: usize>(layer: &PRelu, channels: Channels, input: Tensor<D>) -> Tensor<D> {
    let shape = input.dims();
    channels.broadcast(shape, "a PReLU");
    let (dtype, input) = (input.dtype(), widened(input));
    let slopes = cast(layer.alpha.val(), input.dtype());
    let output = match channels {
        Channels::Last(columns) => {
            let rows = shape[..D - 1].iter().product();
            reshaped(activation::prelu(reshaped(input, [rows, columns]), slopes), shape)
        }
        Channels::Shared | Channels::First(_) => activation::prelu(input, slopes),
    };
    cast(output, dtype)
}

/// Converts a layer of Burn's to the same function of this crate, or stores it unchanged if this crate
/// has no such function: a `PRelu` or a `SwiGlu` with its weights, or a `HardSigmoid` of another slope.
impl From<burn_nn::activation::Activation> for ActivationLayer {
    fn from(layer: burn_nn::activation::Activation) -> Self {
        let config = burn_config::of_layer(&layer);
        let ours = config.and_then(|config| Activation::try_from(config).ok());
        match ours.and_then(|activation| activation.unit()) {
            Some(unit) => Self::Unit(unit),
            None => Self::Burn(Box::new(layer)),
        }
    }
}

#[cfg(test)]
mod tests;
