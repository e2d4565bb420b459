use crate::{Unit, functional};
use burn::config::Config;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn::tensor::Tensor;
use burn_core as burn;
use serde::{Deserialize, Serialize};

/// The formula of the GELU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Approximation {
    /// The exact form, `x·Φ(x)`.
    #[default]
    None,
    /// The tanh form, `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))`, with which the paper's own
    /// networks were trained.
    Tanh,
    /// The sigmoid form, `x·σ(1.702·x)`.
    Sigmoid,
}

/// Configuration of a [`GeluLayer`].
#[derive(Config, Debug)]
pub struct GeluLayerConfig {
    /// The formula.
    #[config(default = "Approximation::None")]
    pub approximation: Approximation,
}

impl GeluLayerConfig {
    /// Returns the layer. It has no parameters, so it needs no device.
    pub fn init(&self) -> GeluLayer {
        GeluLayer { approximation: self.approximation }
    }
}

/// The Gaussian Error Linear Unit as a module: a drop-in replacement for `burn::nn::Gelu`. Its
/// gradient is the derivative of its own forward function, and accurate for every input.
///
/// It has no parameters, so models load and save the same weights as with Burn's layer.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::GeluLayer;
///
/// let device = Device::default().autodiff();
/// let x = Tensor::<1>::from_floats([-3.0], &device).require_grad();
/// let gradients = GeluLayer::new().forward(x.clone()).sum().backward();
/// let slope = x.grad(&gradients).unwrap().into_scalar::<f32>();
/// assert_eq!(slope, -0.011_945_647); // the tanh form would give −0.011 584
/// ```
#[derive(Module, Debug, Default)]
#[module(custom_display)]
pub struct GeluLayer {
    #[module(skip)]
    approximation: Approximation,
}

impl From<burn_nn::Gelu> for GeluLayer {
    /// Uses the tanh form if Burn's layer does.
    fn from(layer: burn_nn::Gelu) -> Self {
        if layer.approximate { Self::new_approximate() } else { Self::new() }
    }
}

impl GeluLayer {
    /// Returns a layer of the exact GELU.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a layer of the tanh form.
    pub fn new_approximate() -> Self {
        GeluLayerConfig::new().with_approximation(Approximation::Tanh).init()
    }

    /// Applies the GELU elementwise.
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., any]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let unit = match self.approximation {
            Approximation::None => Unit::Gelu,
            Approximation::Tanh => Unit::GeluTanh,
            Approximation::Sigmoid => Unit::GeluSigmoid,
        };
        functional::unit(input, unit)
    }
}

impl ModuleDisplay for GeluLayer {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content.add("approximation", &alloc::format!("{:?}", self.approximation)).optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use burn_core::tensor::{Device, Tolerance};

    #[test]
    fn display_names_the_formula() {
        assert_eq!(format!("{}", GeluLayer::new()), "GeluLayer {approximation: None}");
        assert_eq!(format!("{}", GeluLayer::new_approximate()), "GeluLayer {approximation: Tanh}");
    }

    #[test]
    fn quantised_input_is_what_burns_layer_makes_of_it() {
        let device = Device::default();
        let x = Tensor::<2>::from_floats([[0.5, -1.5, 2.0, 1.0]], &device);
        let scheme = device.settings().quantization.scheme;
        let quantised = x.quantize_dynamic(&scheme);
        for burns in [burn_nn::Gelu::new(), burn_nn::Gelu::new_approximate()] {
            let ours = GeluLayer::from(burns.clone());
            let expected = burns.forward(quantised.clone()).into_data();
            let y = ours.forward(quantised.clone()).into_data();
            y.assert_approx_eq::<f32>(&expected, Tolerance::absolute(1e-6));
        }
    }

    #[test]
    fn burns_formula_carries_over() {
        for (burns, ours) in [
            (burn_nn::Gelu::new(), Approximation::None),
            (burn_nn::Gelu::new_approximate(), Approximation::Tanh),
        ] {
            assert_eq!(GeluLayer::from(burns).approximation, ours);
        }
    }

    #[test]
    fn layer_has_no_parameters() {
        assert_eq!(GeluLayer::new().num_params(), 0);
    }

    #[test]
    fn each_approximation_is_its_own_formula() {
        // The expected values are the formulas at −1 in 30 digits (mpmath).
        let expected = [-0.158_655_25_f64, -0.158_808_01, -0.154_204_23];
        let forms = [Approximation::None, Approximation::Tanh, Approximation::Sigmoid];
        for (approximation, expected) in forms.into_iter().zip(expected) {
            let layer = GeluLayerConfig::new().with_approximation(approximation).init();
            let x = Tensor::<1>::from_floats([-1.0], &Device::default());
            let y = f64::from(layer.forward(x).into_scalar::<f32>());
            assert!((y - expected).abs() < 2e-8, "{approximation:?}: {y}");
        }
    }
}
