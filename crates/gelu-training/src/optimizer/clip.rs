use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;
use burn_core as burn;
use burn_optim::GradientsParams;

/// Keeps the norm of all gradients together below a limit: where the root of the sum of their squares, n,
/// is larger, each is multiplied by `largest/(n + 1e-6)`, as by PyTorch's `clip_grad_norm_`. The direction
/// of the step is kept, which Burn's own clipping, each tensor by itself, does not do.
///
/// Nothing is read back from the device.
///
/// ```
/// use burn::optim::GradientsParams;
/// use burn::nn::LinearConfig;
/// use burn::tensor::{Device, Tensor};
/// use gelu_training::clip_by_global_norm;
///
/// let device = Device::default().autodiff();
/// let layer = LinearConfig::new(3, 4).init(&device);
/// let loss = layer.forward(Tensor::<2>::ones([5, 3], &device)).sum();
/// let gradients = GradientsParams::from_grads(loss.backward(), &layer);
/// let gradients = clip_by_global_norm(gradients, &layer, 1.0);
/// let weight = gradients.get::<2>(layer.weight.id).unwrap().powi_scalar(2).sum();
/// let bias = gradients.get::<1>(layer.bias.unwrap().id).unwrap().powi_scalar(2).sum();
/// assert!(((weight + bias).into_scalar::<f32>() - 1.0).abs() < 1e-5);
/// ```
///
/// # Panics
///
/// If `largest` is not above 0.
pub fn clip_by_global_norm<M: Module>(
    gradients: GradientsParams,
    module: &M,
    largest: f64,
) -> GradientsParams {
    assert!(largest > 0.0, "a norm can be limited to what is above 0, got {largest}");
    let mut squares = Squares { gradients: &gradients, sum: None };
    module.visit(&mut squares);
    let Some(sum) = squares.sum else { return gradients };
    let factor = (sum.sqrt() + 1e-6).recip().mul_scalar(largest).clamp_max(1.0);
    let mut scaled = Scaled { gradients, factor };
    module.visit(&mut scaled);
    scaled.gradients
}

struct Squares<'a> {
    gradients: &'a GradientsParams,
    /// `[1]`; `None` before the first gradient.
    sum: Option<Tensor<1>>,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            let square = gradient.powi_scalar(2).sum();
            self.sum = Some(match self.sum.take() {
                Some(sum) => {
                    let square = square.to_device(&sum.device());
                    sum + square
                }
                None => square,
            });
        }
    }
}

struct Scaled {
    gradients: GradientsParams,
    /// `[1]`
    factor: Tensor<1>,
}

impl ModuleVisitor for Scaled {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let id: ParamId = param.id;
        if let Some(gradient) = self.gradients.remove::<D>(id) {
            let factor = self.factor.clone().to_device(&gradient.device()).reshape([1; D]);
            self.gradients.register(id, gradient * factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::clip_by_global_norm;
    use burn::nn::{Linear, LinearConfig};
    use burn::optim::GradientsParams;
    use burn::tensor::{Device, Tensor, TensorData};

    /// Gradients of the weight and the bias of a layer.
    fn clipped(largest: f64) -> (Linear, Vec<f64>) {
        let device = Device::default().autodiff();
        let layer = LinearConfig::new(2, 2).init(&device);
        let inputs = Tensor::<2>::from_data(TensorData::from([[3.0f32, -1.0]]), &device);
        let gradients = GradientsParams::from_grads(layer.forward(inputs).sum().backward(), &layer);
        let gradients = clip_by_global_norm(gradients, &layer, largest);
        let weight = gradients.get::<2>(layer.weight.id).unwrap().into_data();
        let bias = gradients.get::<1>(layer.bias.as_ref().unwrap().id).unwrap().into_data();
        let values = weight.iter::<f64>().chain(bias.iter::<f64>()).collect();
        (layer, values)
    }

    #[test]
    fn all_gradients_are_scaled_by_one_factor() {
        // The weight's gradient is 3, 3, −1, −1, the bias's 1, 1: their norm is √22.
        let gradient = [3.0, 3.0, -1.0, -1.0, 1.0, 1.0];
        let factor = 2.0 / (22.0f64.sqrt() + 1e-6);
        for (found, whole) in clipped(2.0).1.iter().zip(gradient) {
            assert!((found - whole * factor).abs() < 1e-6, "{found}, not {}", whole * factor);
        }
    }

    #[test]
    fn gradients_below_the_limit_keep_their_bits() {
        assert_eq!(clipped(5.0).1, [3.0, 3.0, -1.0, -1.0, 1.0, 1.0]);
    }
}
