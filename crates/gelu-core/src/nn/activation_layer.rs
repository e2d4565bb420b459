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

/// Any [`Activation`] as a module: what a network holds whose activation is picked by name.
/// Made by [`Activation::init`], or of a layer of Burn's, which keeps its parameters and its place in
/// records.
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
    /// One of the kernels' functions, which has neither parameters nor randomness.
    Unit(Unit),
    /// A function of the program's own that learns nothing.
    Custom(CustomActivation),
    /// One with constants that are learned.
    Learned(LearnedActivation),
    /// [`Activation::Soi`].
    Soi(StochasticGelu),
    /// [`Activation::LearnableGelu`].
    LearnableGelu(LearnableGelu),
    /// [`Activation::LearnableSwish`].
    LearnableSwish(LearnableSwish),
    /// [`Activation::Xielu`].
    Xielu(Xielu),
    /// [`Activation::PRelu`], and where its channels are.
    PRelu(PRelu, Channels),
    /// A layer of Burn's that has no counterpart here, as it is.
    Burn(Box<burn_nn::activation::Activation>),
}

impl ActivationLayer {
    /// # Panics
    ///
    /// If the activation's parameter is out of range, or it is learned for no channels.
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

    /// Applies it elementwise.
    ///
    /// # Shapes
    ///
    /// - input and output: any, or what [`Channels`] says where the activation has parameters
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

    /// What a gated unit makes of its gate and its value: `f(gate)·value`, or what a
    /// [gate of the program's own](Activation::custom_gate) does.
    ///
    /// # Shapes
    ///
    /// - gate, value and output: the same, as in [`forward`](Self::forward)
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

    /// Which it is; `None` for a layer of Burn's that has no counterpart here.
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

    /// What it has learned, if it is [`Activation::LearnableGelu`].
    pub fn learnable(&self) -> Option<&LearnableGelu> {
        match self {
            Self::LearnableGelu(layer) => Some(layer),
            _ => None,
        }
    }

    /// The kernels' name for it, if it has neither parameters nor randomness.
    pub fn unit(&self) -> Option<Unit> {
        match self {
            Self::Unit(unit) => Some(*unit),
            _ => None,
        }
    }

    /// The same for a layer that makes one pass of it and of what comes before: none while the network is
    /// [watched](crate::watch()), since an activation's input would then not be seen.
    pub fn fusible(&self) -> Option<Unit> {
        #[cfg(feature = "std")]
        if crate::watch::is_watching() {
            return None;
        }
        self.unit()
    }
}

/// Burn's function has its channels in dimension 1, and wants slopes of the input's type.
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

/// Burn's layer with the function of this crate where there is one, and as it is where not: a `PRelu`
/// or a `SwiGlu` with its weights, a `HardSigmoid` of another slope.
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
