use super::Channels;
use super::width::{cast, ends, is_in_f32, widened};
use crate::{Unit, functional};
use burn::config::Config;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::Initializer;

/// Configuration of a [`LearnableSwish`].
#[derive(Config, Debug)]
pub struct LearnableSwishConfig {
    /// Whether the layer has one β, or one per channel, and which dimension the channels are in.
    #[config(default = "Channels::Shared")]
    pub channels: Channels,
    /// The start value of β.
    #[config(default = 1.0)]
    pub beta: f64,
}

impl LearnableSwishConfig {
    /// Creates the layer.
    ///
    /// # Panics
    ///
    /// If there are no channels, or β is not finite in f32.
    pub fn init(&self, device: &Device) -> LearnableSwish {
        let Self { channels, beta } = *self;
        let count = channels.count_for("a learnable swish");
        assert!(
            is_in_f32(beta),
            "a learnable swish starts from a β from -3.4e38 to 3.4e38, got {beta:?}"
        );
        LearnableSwish {
            beta: Initializer::Constant { value: beta }.init([count], device),
            channels,
        }
    }
}

/// Swish with a learnable β, `x·σ(β·x)` (Ramachandran, Zoph & Le, arXiv 1710.05941, §4). It is SiLU
/// for β = 1, x/2 for β = 0, and tends to the ReLU for β → ∞.
///
/// For β > 0 the layer returns −0 for −∞ and +∞ for +∞. It returns NaN for NaN, and computes 16-bit
/// types in f32. Create it with [`LearnableSwishConfig`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::LearnableSwishConfig;
///
/// let device = Device::default();
/// let layer = LearnableSwishConfig::new().with_beta(0.0).init(&device);
/// let y = layer.forward(Tensor::<2>::from_floats([[-2.0, 3.0]], &device));
/// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [-1.0, 1.5]);
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct LearnableSwish {
    /// The factors β, `[channels]`.
    pub beta: Param<Tensor<1>>,
    #[module(skip)]
    pub(super) channels: Channels,
}

impl LearnableSwish {
    /// Applies the function elementwise.
    ///
    /// # Shapes
    ///
    /// - input and output: any with [`Channels::Shared`], `[batch, channels, ...]` with
    ///   [`Channels::First`], `[..., channels]` with [`Channels::Last`]
    ///
    /// # Panics
    ///
    /// If the input has a different number of channels.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        /// The argument beyond which σ is 0 or 1 in every type.
        const FAR: f64 = 800.0;
        let shape = self.channels.broadcast(input.dims(), "a learnable swish");
        let (dtype, input) = (input.dtype(), widened(input));
        let (_, most) = ends(input.dtype());
        // An infinite factor times zero would be NaN, here and in the backward pass.
        let beta = cast(self.beta.val(), input.dtype()).reshape(shape).clamp(-most, most);
        let finite = input.clone().clamp(-most, most);
        let gate = functional::unit((finite.clone() * beta).clamp(-FAR, FAR), Unit::Sigmoid);
        let closed = gate.clone().detach().equal_elem(0.0);
        cast(input.mask_where(closed, finite) * gate, dtype)
    }
}

impl ModuleDisplay for LearnableSwish {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content.add("channels", &alloc::format!("{:?}", self.channels)).optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use burn_core::tensor::{DType, FloatDType};

    fn layer(beta: f64, device: &Device) -> LearnableSwish {
        LearnableSwishConfig::new().with_beta(beta).init(device)
    }

    #[test]
    fn values_and_gradients_are_those_of_the_formula() {
        let device = Device::default().autodiff();
        // The expected values are x·σ(βx) and its derivatives for x and β (mpmath).
        for (beta, x, y, slope, of_beta) in [
            (
                1.0,
                -3.0,
                -0.142_277_619_532_700_35,
                -0.088_104_106_015_169_62,
                0.406_589_937_578_209_2,
            ),
            (1.0, 2.0, 1.761_594_155_955_764_9, 1.090_784_248_784_895_5, 0.419_974_341_614_026_1),
            (0.3, 4.0, 3.074_099_133_996_070_6, 0.981_998_112_275_184_5, 2.846_311_050_348_891_3),
            (
                -1.5,
                0.7,
                0.181_457_570_572_492_2,
                0.057_596_280_497_831_25,
                0.094_093_449_482_673_55,
            ),
        ] {
            let layer = layer(beta, &device);
            let input = Tensor::<1>::from_data([x], &device).require_grad();
            let output = layer.forward(input.clone());
            let gradients = output.clone().sum().backward();
            let scalar = |tensor: Tensor<1>| f64::from(tensor.into_scalar::<f32>());
            for (got, exact) in [
                (scalar(output), y),
                (scalar(input.grad(&gradients).unwrap()), slope),
                (scalar(layer.beta.val().grad(&gradients).unwrap()), of_beta),
            ] {
                assert!((got - exact).abs() <= 5e-7 * exact.abs(), "{beta} {x}: {got}, {exact}");
            }
        }
    }

    #[test]
    fn infinite_inputs_give_the_limits_and_no_nan_in_any_gradient() {
        let device = Device::default().autodiff();
        let x = [f32::NEG_INFINITY, f32::MIN, f32::MAX, f32::INFINITY];
        let infinite = f32::INFINITY;
        for (beta, values, slopes) in [
            (1e-20, [-0.0, -0.0, f32::MAX, infinite], [0.0, 0.0, 1.0, 1.0]),
            (1.0, [-0.0, -0.0, f32::MAX, infinite], [0.0, 0.0, 1.0, 1.0]),
            (1e30, [-0.0, -0.0, f32::MAX, infinite], [0.0, 0.0, 1.0, 1.0]),
            (-1.0, [-infinite, f32::MIN, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]),
        ] {
            let layer = layer(beta, &device);
            let input = Tensor::<1>::from_floats(x, &device).require_grad();
            let output = layer.forward(input.clone());
            let y = output.clone().into_data().try_to_vec::<f32>().unwrap();
            assert_eq!(y, values, "{beta}");
            let gradients = output.sum().backward();
            let got = input.grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap();
            assert_eq!(got, slopes, "{beta}");
            let of_beta = layer.beta.val().grad(&gradients).unwrap().into_scalar::<f32>();
            assert_eq!(of_beta, 0.0, "{beta}");
        }
        let nan = Tensor::<1>::from_floats([f32::NAN], &device);
        assert!(layer(1.0, &device).forward(nan).into_scalar::<f32>().is_nan());
    }

    #[test]
    fn sixteen_bits_are_computed_in_f32() {
        let device = Device::default();
        for (dtype, rounding) in [(FloatDType::F16, 5e-4), (FloatDType::BF16, 4e-3)] {
            if !device.supports_dtype(DType::from(dtype)) {
                std::eprintln!("skipped: the device has no {dtype:?}");
                continue;
            }
            let x = Tensor::<1>::from_floats([-9.0, -0.5, 1.5, 300.0], &device).cast(dtype);
            let y = layer(1.0, &device).forward(x.clone());
            assert_eq!(y.dtype(), DType::from(dtype));
            for (x, y) in x.into_data().iter::<f64>().zip(y.into_data().iter::<f64>()) {
                let exact = Unit::Silu.value(x);
                assert!((y - exact).abs() <= rounding * exact.abs(), "{dtype:?} {x}: {y}");
            }
        }
    }

    #[test]
    fn each_feature_has_its_own_beta() {
        let device = Device::default();
        let mut layer = LearnableSwishConfig::new().with_channels(Channels::Last(2)).init(&device);
        layer.beta = Param::from_tensor(Tensor::from_floats([0.0, 1.0], &device));
        // Dimension 1 also has length 2, so that a wrong dimension would change the result without an
        // error.
        let y = layer.forward(Tensor::<3>::ones([1, 2, 2], &device)).into_data();
        let y: Vec<f32> = y.try_to_vec().unwrap();
        assert!([y[0], y[2]] == [0.5; 2] && (y[1] - 0.731_058_6).abs() < 1e-6 && y[3] == y[1]);
        assert_eq!(alloc::format!("{layer}"), "LearnableSwish {channels: Last(2), params: 2}");
    }

    #[test]
    #[should_panic(expected = "starts from a β from -3.4e38 to 3.4e38, got NaN")]
    fn no_number_is_refused() {
        layer(f64::NAN, &Device::default());
    }
}
