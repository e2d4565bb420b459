use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Distribution, Tensor};

/// A linear layer whose every neuron's incoming weight vector is drawn from N(0, 1) and scaled to
/// L2 norm 1, with biases 0: the paper's "unit norm weights" (§3.1).
///
/// Draws from the device's generator, so `device.seed(…)` before makes it repeatable.
///
/// # Shapes
///
/// - weight: `[d_input, d_output]` (a neuron is a column)
/// - bias: `[d_output]`
pub fn unit_norm_linear(d_input: usize, d_output: usize, device: &Device) -> Linear {
    let normal = Distribution::Normal(0.0, 1.0);
    let weight: Tensor<2> = Tensor::random([d_input, d_output], normal, device);
    let norms = weight.clone().square().sum_dim(0).sqrt();
    Linear {
        weight: Param::from_tensor(weight / norms),
        bias: Some(Param::from_tensor(Tensor::zeros([d_output], device))),
    }
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
    fn weights_are_spread_like_a_normal_distribution() {
        // A component of a uniform direction in n dimensions has mean 0, variance 1/n.
        let weight = unit_norm_linear(400, 250, &Device::default()).weight.val();
        let values = weight.into_data().try_to_vec::<f32>().unwrap();
        let count = values.len() as f32;
        let mean = values.iter().sum::<f32>() / count;
        let kurtosis = values.iter().map(|w| (w * 20.0).powi(4)).sum::<f32>() / count;
        assert!(mean.abs() < 1e-3, "mean {mean}");
        assert!((kurtosis - 3.0).abs() < 0.15, "fourth moment {kurtosis}, 3 for a normal");
    }
}
