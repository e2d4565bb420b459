use burn::module::{Module, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{Initializer, Linear, LinearConfig};
use burn::tensor::{Device, Distribution, FloatDType, Tensor};

/// He et al.'s normal initialisation for a layer before a rectifier: N(0, 2 / inputs).
pub(crate) const HE_NORMAL: Initializer =
    Initializer::KaimingNormal { gain: std::f64::consts::SQRT_2, fan_out_only: false };
/// The same initialisation for a layer without a nonlinearity after it: N(0, 1 / inputs).
pub(crate) const HE_NORMAL_LINEAR: Initializer =
    Initializer::KaimingNormal { gain: 1.0, fan_out_only: false };
/// Glorot and Bengio's uniform initialisation: ±√(6 / (inputs + outputs)).
pub(crate) const GLOROT_UNIFORM: Initializer = Initializer::XavierUniform { gain: 1.0 };

/// Returns a convolution whose weights are created at once, with biases of 0. Burn would create the
/// weights on first use, after other random numbers.
pub(crate) fn convolution(
    config: Conv2dConfig,
    initializer: Initializer,
    device: &Device,
) -> Conv2d {
    let outputs = config.channels[1];
    let biased = config.bias;
    let layer = config.with_initializer(initializer).with_bias(false).init(device).materialize();
    Conv2d { bias: biased.then(|| zeros(outputs, device)), ..layer }
}

/// Returns a linear layer whose weights are created at once, with biases of 0; see [`convolution`].
pub(crate) fn linear(config: LinearConfig, initializer: Initializer, device: &Device) -> Linear {
    let outputs = config.d_output;
    let biased = config.bias;
    let layer = config.with_initializer(initializer).with_bias(false).init(device).materialize();
    Linear { bias: biased.then(|| zeros(outputs, device)), ..layer }
}

fn zeros(length: usize, device: &Device) -> Param<Tensor<1>> {
    Param::from_tensor(Tensor::zeros([length], device))
}

/// Returns a linear layer with the paper's "unit norm weights" (§3.1): every neuron's vector of
/// incoming weights is sampled from N(0, 1) and scaled to L2 norm 1. Biases are 0.
///
/// The random numbers come from the device's generator, so calling `device.seed(…)` first makes the
/// layer repeatable.
///
/// # Shapes
///
/// - weight: `[d_input, d_output]` (a neuron is a column)
/// - bias: `[d_output]`
pub fn unit_norm_linear(d_input: usize, d_output: usize, device: &Device) -> Linear {
    let normal = Distribution::Normal(0.0, 1.0);
    let weight: Tensor<2> = Tensor::random([d_input, d_output], normal, device);
    // If the device's default type has 16 bits, it cannot hold the sum of many squares.
    let dtype = FloatDType::from(weight.dtype());
    let wide = if dtype == FloatDType::F64 { dtype } else { FloatDType::F32 };
    let norms = weight.clone().cast(wide).square().sum_dim(0).sqrt().cast(dtype);
    Linear { weight: Param::from_tensor(weight / norms), bias: Some(zeros(d_output, device)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_neuron_has_norm_one_and_bias_zero() {
        let layer = unit_norm_linear(300, 20, &Device::default());
        let norms = layer.weight.val().square().sum_dim(0).sqrt().into_data().try_to_vec::<f32>();
        assert_eq!(norms.as_ref().map(Vec::len), Ok(20));
        assert!(norms.unwrap().iter().all(|norm| (norm - 1.0).abs() < 1e-6));
        let bias = layer.bias.unwrap().val().into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(bias, vec![0.0; 20]);
    }

    #[test]
    fn he_normal_and_glorot_uniform_have_their_variances_and_biases_are_zero() {
        let device = Device::default();
        let variance = |weight: Tensor<4>| {
            weight.clone().square().mean().into_scalar::<f32>()
                - weight.mean().into_scalar::<f32>().powi(2)
        };
        let config = Conv2dConfig::new([20, 40], [3, 3]);
        for (initializer, expected) in [
            (HE_NORMAL, 2.0 / 180.0),
            (HE_NORMAL_LINEAR, 1.0 / 180.0),
            // A uniform distribution in ±a has variance a²/3.
            (GLOROT_UNIFORM, 2.0 / (180.0 + 360.0)),
        ] {
            let layer = convolution(config.clone(), initializer.clone(), &device);
            let ratio = variance(layer.weight.val()) / expected;
            assert!((ratio - 1.0).abs() < 0.07, "{initializer:?}: variance off by {ratio}");
            assert_eq!(layer.bias.unwrap().val().abs().sum().into_scalar::<f32>(), 0.0);
        }
        let layer = linear(LinearConfig::new(400, 30), HE_NORMAL_LINEAR, &device);
        let ratio = variance(layer.weight.val().unsqueeze()) * 400.0;
        assert!((ratio - 1.0).abs() < 0.07, "linear: variance off by {ratio}");
        assert_eq!(layer.bias.unwrap().val().abs().sum().into_scalar::<f32>(), 0.0);
    }

    #[test]
    fn weights_are_spread_like_a_normal_distribution() {
        // A component of a uniformly distributed direction in n dimensions has mean 0 and variance
        // 1/n.
        let weight = unit_norm_linear(400, 250, &Device::default()).weight.val();
        let values = weight.into_data().try_to_vec::<f32>().unwrap();
        let count = values.len() as f32;
        let mean = values.iter().sum::<f32>() / count;
        let kurtosis = values.iter().map(|w| (w * 20.0).powi(4)).sum::<f32>() / count;
        assert!(mean.abs() < 1e-3, "mean {mean}");
        assert!((kurtosis - 3.0).abs() < 0.15, "fourth moment {kurtosis}, 3 for a normal");
    }
}
