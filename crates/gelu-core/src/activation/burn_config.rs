//! Conversion from Burn's own list of activations, for the functions that this crate has.

use super::Activation;
use crate::Unit;
use alloc::format;
use alloc::string::{String, ToString};
use burn_nn::activation::{
    Activation as BurnActivation, ActivationConfig, CeluConfig, EluConfig, HardShrinkConfig,
    HardSigmoidConfig, LeakyReluConfig, ShrinkConfig, SoftShrinkConfig, SoftplusConfig,
    ThresholdedReluConfig,
};
use core::fmt;

/// Converts a configuration of Burn's, so that you can reuse a model's configuration. There is no
/// conversion back: Burn's list is closed, and a `burn::nn::activation::Activation` cannot hold an
/// activation of this crate. The number of a PReLU's slopes is set later, by [`Activation::init`].
///
/// ```
/// use burn::nn::activation::ActivationConfig;
/// use gelu_core::Activation;
///
/// let activation = Activation::try_from(ActivationConfig::GeluApproximate);
/// assert_eq!(activation, Ok(Activation::GeluTanh));
/// let gated = ActivationConfig::SwiGlu(burn::nn::SwiGluConfig::new(2, 3));
/// let error = Activation::try_from(gated).unwrap_err().to_string();
/// assert!(error.contains("has no counterpart here: a gated unit is a `GatedFeedForward`"));
/// ```
impl TryFrom<ActivationConfig> for Activation {
    type Error = NoCounterpart;

    fn try_from(config: ActivationConfig) -> Result<Self, NoCounterpart> {
        let refused = |advice| NoCounterpart { config: format!("{config:?}"), advice };
        let activation = match &config {
            ActivationConfig::Identity => Self::Identity,
            ActivationConfig::Gelu => Self::Gelu,
            ActivationConfig::GeluApproximate => Self::GeluTanh,
            ActivationConfig::Relu => Self::Relu,
            ActivationConfig::LeakyRelu(config) => Self::LeakyRelu { slope: config.negative_slope },
            ActivationConfig::Elu(config) => Self::Elu { alpha: config.alpha },
            ActivationConfig::Celu(config) => Self::Celu { alpha: config.alpha },
            ActivationConfig::Selu => Self::Selu,
            ActivationConfig::Sigmoid => Self::Sigmoid,
            ActivationConfig::Tanh => Self::Tanh,
            ActivationConfig::HardSwish => Self::HardSwish,
            // Above 20 the logarithm equals x in f32, so the default threshold of Burn and PyTorch cuts
            // nothing off.
            ActivationConfig::Softplus(config) if config.threshold >= 20.0 => {
                Self::Softplus { beta: config.beta }
            }
            ActivationConfig::Softplus(_) => {
                return Err(refused(
                    "`softplus` goes over into x nowhere; a threshold of 20 or more is as good as none"
                        .into(),
                ));
            }
            ActivationConfig::HardSigmoid(config) => {
                // Burn's defaults are 0.2 and 0.5. PyTorch's function has a slope of 1/6, and the
                // tolerance accepts 1/6 rounded to f32.
                let is_ours = (config.alpha - 1.0 / 6.0).abs() < 1e-8 && config.beta == 0.5;
                if !is_ours {
                    return Err(refused("`hard-sigmoid` has alpha 1/6 and beta 0.5".into()));
                }
                Self::HardSigmoid
            }
            ActivationConfig::Softsign => Self::Softsign,
            ActivationConfig::ThresholdedRelu(config) => {
                Self::ThresholdedRelu { theta: config.alpha }
            }
            ActivationConfig::HardShrink(config) => Self::Hardshrink { lambda: config.lambda },
            ActivationConfig::SoftShrink(config) => Self::Softshrink { lambda: config.lambda },
            ActivationConfig::Shrink(config) if config.bias == config.lambda => {
                Self::Softshrink { lambda: config.lambda }
            }
            ActivationConfig::PRelu(config) if config.alpha == 0.25 => Self::PRelu,
            ActivationConfig::PRelu(_) => return Err(refused("`prelu` starts at 0.25".into())),
            ActivationConfig::SwiGlu(_) => {
                return Err(refused("a gated unit is a `GatedFeedForward`".into()));
            }
            _ => return Err(refused("wrap Burn's function in `Activation::custom`".into())),
        };
        match activation.unit().map(Unit::validated) {
            Some(Err(invalid)) => Err(refused(invalid.to_string())),
            _ => Ok(activation),
        }
    }
}

/// Returns the configuration of one of Burn's layers, or `None` if the layer has weights, which a
/// configuration cannot hold.
pub(crate) fn of_layer(layer: &BurnActivation) -> Option<ActivationConfig> {
    Some(match layer {
        BurnActivation::Identity(_) => ActivationConfig::Identity,
        BurnActivation::Gelu(layer) if layer.approximate => ActivationConfig::GeluApproximate,
        BurnActivation::Gelu(_) => ActivationConfig::Gelu,
        BurnActivation::Relu(_) => ActivationConfig::Relu,
        BurnActivation::LeakyRelu(layer) => {
            LeakyReluConfig::new().with_negative_slope(layer.negative_slope).into()
        }
        BurnActivation::Elu(layer) => EluConfig::new().with_alpha(layer.alpha).into(),
        BurnActivation::Celu(layer) => CeluConfig::new().with_alpha(layer.alpha).into(),
        BurnActivation::Selu(_) => ActivationConfig::Selu,
        BurnActivation::Sigmoid(_) => ActivationConfig::Sigmoid,
        BurnActivation::Tanh(_) => ActivationConfig::Tanh,
        BurnActivation::HardSwish(_) => ActivationConfig::HardSwish,
        BurnActivation::HardSigmoid(layer) => {
            HardSigmoidConfig::new().with_alpha(layer.alpha).with_beta(layer.beta).into()
        }
        BurnActivation::Softplus(layer) => {
            let config = SoftplusConfig::new().with_beta(layer.beta);
            config.with_threshold(layer.threshold).into()
        }
        BurnActivation::Softsign(_) => ActivationConfig::Softsign,
        BurnActivation::ThresholdedRelu(layer) => {
            ThresholdedReluConfig::new().with_alpha(layer.alpha).into()
        }
        BurnActivation::HardShrink(layer) => {
            HardShrinkConfig::new().with_lambda(layer.lambda).into()
        }
        BurnActivation::SoftShrink(layer) => {
            SoftShrinkConfig::new().with_lambda(layer.lambda).into()
        }
        BurnActivation::Shrink(layer) => {
            ShrinkConfig::new().with_lambda(layer.lambda).with_bias(layer.bias).into()
        }
        _ => return None,
    })
}

/// The error for an activation of Burn's without a counterpart in this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCounterpart {
    config: String,
    advice: String,
}

impl fmt::Display for NoCounterpart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Burn's `{}` has no counterpart here: {}", self.config, self.advice)
    }
}

impl core::error::Error for NoCounterpart {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ActivationLayer;
    use burn_core::tensor::{Device, Tensor, Tolerance};
    use burn_nn::activation::SwiGluConfig;

    #[test]
    fn what_is_taken_over_computes_what_burn_does() {
        let device = Device::default();
        // At these inputs Burn's own values are accurate to seven digits.
        let x = Tensor::<2>::from_floats([[-1.5, -0.3, 0.0, 0.4, 2.5]], &device);
        for config in [
            ActivationConfig::Identity,
            ActivationConfig::Gelu,
            ActivationConfig::GeluApproximate,
            ActivationConfig::Relu,
            ActivationConfig::LeakyRelu(LeakyReluConfig::new().with_negative_slope(0.3)),
            ActivationConfig::Elu(EluConfig::new().with_alpha(0.5)),
            ActivationConfig::Celu(burn_nn::activation::CeluConfig::new().with_alpha(2.0)),
            ActivationConfig::Selu,
            ActivationConfig::Sigmoid,
            ActivationConfig::Tanh,
            ActivationConfig::HardSwish,
            ActivationConfig::HardSigmoid(HardSigmoidConfig::new().with_alpha(1.0 / 6.0)),
            ActivationConfig::Softplus(SoftplusConfig::new().with_beta(3.0)),
            ActivationConfig::PRelu(burn_nn::PReluConfig::new()),
            ActivationConfig::Softsign,
            ActivationConfig::ThresholdedRelu(ThresholdedReluConfig::new().with_alpha(0.3)),
            ActivationConfig::HardShrink(HardShrinkConfig::new()),
            ActivationConfig::SoftShrink(SoftShrinkConfig::new().with_lambda(0.35)),
            ActivationConfig::Shrink(ShrinkConfig::new()),
        ] {
            let burns = config.init(&device);
            let expected = burns.forward(x.clone()).into_data();
            let ours = Activation::try_from(config).unwrap();
            let same = |y: Tensor<2>| {
                y.into_data().assert_approx_eq::<f32>(&expected, Tolerance::absolute(2e-6));
            };
            same(ours.forward(x.clone()));
            let layer = ActivationLayer::from(burns);
            same(layer.forward(x.clone()));
            // A layer with weights stays a layer of Burn's, and keeps its weights.
            assert_eq!(layer.activation(), ours.unit().map(|_| ours), "{layer}");
        }
    }

    #[test]
    fn a_softplus_that_is_cut_off_stays_burns() {
        let device = Device::default();
        let x = Tensor::<1>::from_floats([0.5, 0.9, 2.0, 30.0], &device);
        let cut = ActivationConfig::Softplus(SoftplusConfig::new().with_threshold(1.0));
        let layer = ActivationLayer::from(cut.init(&device));
        let y = layer.forward(x).into_data().try_to_vec::<f32>().unwrap();
        // The expected values are ln(1 + e^x) up to the threshold (mpmath), and x above it.
        let expected = [0.974_077, 1.241_154, 2.0, 30.0];
        for (got, expected) in y.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-6, "{y:?}");
        }
        assert_eq!(layer.activation(), None);
        let error = Activation::try_from(cut).unwrap_err().to_string();
        assert!(error.ends_with("a threshold of 20 or more is as good as none"), "{error}");
        let far = ActivationConfig::Softplus(SoftplusConfig::new().with_threshold(25.0));
        assert_eq!(Activation::try_from(far), Ok(Activation::Softplus { beta: 1.0 }));
    }

    #[test]
    fn what_is_not_is_refused_with_what_to_do() {
        let message =
            |config: ActivationConfig| Activation::try_from(config).unwrap_err().to_string();
        let other = message(ActivationConfig::HardSigmoid(HardSigmoidConfig::new()));
        assert!(other.ends_with("here: `hard-sigmoid` has alpha 1/6 and beta 0.5"), "{other}");
        let beta = message(ActivationConfig::Softplus(SoftplusConfig::new().with_beta(-1.0)));
        assert!(
            beta.contains("here: the beta of `softplus` is a number from 1e-18 to 1e18"),
            "{beta}"
        );
        let alpha = EluConfig::new().with_alpha(f64::INFINITY);
        let alpha = message(ActivationConfig::Elu(alpha));
        let range = "here: the alpha of `elu` is a number from -1e18 to 1e18, got `inf`";
        assert!(alpha.contains(range), "{alpha}");
        let slope = HardSigmoidConfig::new().with_alpha(0.166_667_5);
        let slope = message(ActivationConfig::HardSigmoid(slope));
        assert!(slope.contains("`hard-sigmoid` has alpha 1/6"), "{slope}");
        let gated = message(ActivationConfig::SwiGlu(SwiGluConfig::new(2, 3)));
        assert!(gated.ends_with("here: a gated unit is a `GatedFeedForward`"), "{gated}");
    }
}
