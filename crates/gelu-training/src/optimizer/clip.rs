use super::moment::widened;
use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::{DType, FloatDType, Tensor};
use burn_core as burn;
use burn_optim::GradientsParams;

/// Limits the norm n of all gradients together, which is the root of the sum of their squares. If n is above
/// `largest`, each gradient is multiplied by `largest/(n + 1e-6)`, as in PyTorch's `clip_grad_norm_`. This
/// preserves the direction of the step. Burn's own clipping treats each tensor separately and does not.
///
/// Norm and product are computed in f32, or in f64 if a gradient is f64. Every gradient keeps its type. The
/// function reads nothing back from the device.
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
    /// The sum of squares, `[1]`; `None` before the first gradient.
    sum: Option<Tensor<1>>,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            let square = widened(gradient).powi_scalar(2).sum();
            self.sum = Some(match self.sum.take() {
                Some(sum) => {
                    let square = square.to_device(&sum.device());
                    let dtype = match [sum.dtype(), square.dtype()].contains(&DType::F64) {
                        true => FloatDType::F64,
                        false => FloatDType::F32,
                    };
                    sum.cast(dtype) + square.cast(dtype)
                }
                None => square,
            });
        }
    }
}

struct Scaled {
    gradients: GradientsParams,
    /// The factor of the gradients, `[1]`.
    factor: Tensor<1>,
}

impl ModuleVisitor for Scaled {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let id: ParamId = param.id;
        if let Some(gradient) = self.gradients.remove::<D>(id) {
            let (dtype, gradient) = (FloatDType::from(gradient.dtype()), widened(gradient));
            let factor = self.factor.clone().to_device(&gradient.device()).reshape([1; D]);
            let factor = factor.cast(FloatDType::from(gradient.dtype()));
            let scaled = gradient * factor;
            self.gradients.register(id, scaled.cast(dtype));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::clip_by_global_norm;
    use burn::nn::{Linear, LinearConfig};
    use burn::optim::GradientsParams;
    use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};

    /// Returns a layer, and the clipped gradients of its weight and bias.
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
        // The weight's gradient is 3, 3, −1, −1, and the bias's is 1, 1. Their norm is √22.
        let gradient = [3.0, 3.0, -1.0, -1.0, 1.0, 1.0];
        let factor = 2.0 / (22.0f64.sqrt() + 1e-6);
        for (found, whole) in clipped(2.0).1.iter().zip(gradient) {
            assert!((found - whole * factor).abs() < 1e-6, "{found}, not {}", whole * factor);
        }
    }

    /// Returns gradients of 16 bits and of 32 bits that are clipped together. They keep their types.
    fn clipped_pair(narrow: Vec<f32>, wide: Vec<f32>, largest: f64) -> [Vec<f64>; 2] {
        let device = Device::default();
        let layer = LinearConfig::new(1, narrow.len()).init(&device);
        let bias = layer.bias.as_ref().unwrap().id;
        let narrow = TensorData::new(narrow.clone(), [narrow.len()]);
        let narrow = Tensor::<1>::from_data(narrow, &device).cast(FloatDType::F16);
        let wide = TensorData::new(wide.clone(), [1, wide.len()]);
        let mut gradients = GradientsParams::new();
        gradients.register(bias, narrow);
        gradients.register(layer.weight.id, Tensor::<2>::from_data(wide, &device));
        let gradients = clip_by_global_norm(gradients, &layer, largest);
        let narrow = gradients.get::<1>(bias).unwrap().into_data();
        let wide = gradients.get::<2>(layer.weight.id).unwrap().into_data();
        assert_eq!([narrow.dtype(), wide.dtype()], [DType::F16, DType::F32]);
        [narrow, wide].map(|data| data.iter::<f64>().collect())
    }

    /// The norms, computed by hand, are 500; 0.01 for 10,000 numbers whose squares are 0 in f16; and 13 for
    /// both types.
    #[test]
    fn sixteen_bits_are_clipped_by_their_norm() {
        let near = |found: &[f64], expected: &[f64]| {
            for (f, e) in found.iter().zip(expected) {
                assert!((f - e).abs() <= 2e-3 * e.abs(), "{f}, not {e}");
            }
        };
        // PyTorch 2.15 gives 0.6001 and 0.8003 in f16.
        near(&clipped_pair(vec![300.0, 400.0], vec![0.0; 2], 1.0)[0], &[0.6, 0.8]);
        let small = clipped_pair(vec![1e-4; 10_000], vec![0.0; 10_000], 5e-3);
        near(&small[0], &[5e-5; 10_000]);
        let [narrow, wide] = clipped_pair(vec![3.0, 4.0], vec![12.0, 0.0], 1.0);
        near(&narrow, &[3.0 / 13.0, 4.0 / 13.0]);
        near(&wide, &[12.0 / 13.0, 0.0]);
    }

    #[test]
    fn gradients_below_the_limit_keep_their_bits() {
        assert_eq!(clipped(5.0).1, [3.0, 3.0, -1.0, -1.0, 1.0, 1.0]);
    }
}
