use crate::functional;
use crate::random::Key;
use burn::module::{DisplaySettings, Flag, Module, ModuleDisplay, Param};
use burn::tensor::Tensor;
use burn_core as burn;

/// The stochastic map whose mean is the GELU: `x·m` with `m ~ Bernoulli(Φ(x))` in training, and the
/// mean `x·Φ(x)` otherwise. In §2 of the paper, networks train with no other nonlinearity.
///
/// The map is random on autodiff devices, unless frozen, as Burn's dropout is. Masks come from the
/// device's own generator, which `device.seed(…)` sets. The backward pass computes them again.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::StochasticGelu;
///
/// let (map, device) = (StochasticGelu::new(), Device::default());
/// let mean = map.forward(Tensor::<1>::from_floats([1.0], &device)).into_scalar::<f32>();
/// assert_eq!(mean, 0.841_344_7);
/// let drawn = map.forward(Tensor::<1>::from_floats([1.0], &device.autodiff()));
/// assert!([0.0, 1.0].contains(&drawn.into_scalar::<f32>()));
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct StochasticGelu {
    /// Whether the map is random on autodiff devices; freezing clears the flag.
    pub training: Param<Flag>,
}

impl Default for StochasticGelu {
    fn default() -> Self {
        Self { training: Param::from_bool(true) }
    }
}

impl StochasticGelu {
    /// Creates the map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies the map elementwise.
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., any]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let device = input.device();
        if self.training.is_enabled() && device.is_autodiff() {
            functional::stochastic_gelu(input, Key::next(&device))
        } else {
            functional::gelu(input)
        }
    }
}

impl ModuleDisplay for StochasticGelu {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::Device;

    #[test]
    fn display_says_whether_it_draws() {
        let map = StochasticGelu::new();
        assert_eq!(alloc::format!("{map}"), "StochasticGelu {training: enabled}");
        let frozen = alloc::format!("{}", map.freeze());
        assert_eq!(frozen, "StochasticGelu {training: disabled}");
    }

    #[test]
    fn mean_of_many_draws_is_the_gelu() {
        let device = Device::default().autodiff();
        for x in [-2.0f64, -0.5, 0.0, 1.0, 3.0] {
            let count = 40_000;
            let drawn = StochasticGelu::new().forward(Tensor::<1>::full([count], x, &device));
            let mean = f64::from(drawn.mean().into_scalar::<f32>());
            let exact = crate::Unit::Gelu.value(x);
            // The tolerance is five standard deviations of the mean, whose variance is x²·Φ·(1 −
            // Φ)/count.
            let probability = crate::Unit::NormalCdf.value(x);
            let allowed = 5.0 * x.abs() * (probability * (1.0 - probability) / count as f64).sqrt();
            assert!((mean - exact).abs() <= allowed + 1e-6, "{mean} for {exact} at {x}");
        }
    }

    #[test]
    fn gradient_is_the_mask() {
        let x = Tensor::<1>::from_floats([-0.5; 100], &Device::default().autodiff()).require_grad();
        let y = StochasticGelu::new().forward(x.clone());
        let drawn = y.clone().into_data().try_to_vec::<f32>().unwrap();
        let slopes = x.grad(&y.sum().backward()).unwrap().into_data().try_to_vec::<f32>().unwrap();
        let expected: alloc::vec::Vec<f32> =
            drawn.iter().map(|&y| if y == 0.0 { 0.0 } else { 1.0 }).collect();
        assert_eq!(slopes, expected);
        assert!(slopes.contains(&0.0) && slopes.contains(&1.0));
    }
}
