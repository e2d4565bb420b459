use super::Channels;
use super::width::{cast, ends, is_in_f32, widened};
use crate::functional;
use burn::config::Config;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::Initializer;

/// Configuration of a [`LearnableGelu`].
#[derive(Config, Debug)]
pub struct LearnableGeluConfig {
    /// Whether the layer has one μ and σ, or one pair per channel, and which dimension the channels are
    /// in.
    #[config(default = "Channels::Shared")]
    pub channels: Channels,
    /// The start value of μ.
    #[config(default = 0.0)]
    pub mean: f64,
    /// The start value of σ.
    #[config(default = 1.0)]
    pub standard_deviation: f64,
}

impl LearnableGeluConfig {
    /// Creates the layer.
    ///
    /// # Panics
    ///
    /// If there are no channels, μ is not finite in f32, or σ is not a finite positive number.
    pub fn init(&self, device: &Device) -> LearnableGelu {
        let Self { channels, mean, standard_deviation } = *self;
        let count = channels.count_for("a learnable GELU");
        assert!(
            is_in_f32(mean) && standard_deviation.is_finite() && standard_deviation > 0.0,
            "a learnable GELU starts from a μ from -3.4e38 to 3.4e38 and a finite positive σ, got \
             {mean:?} and {standard_deviation:?}"
        );
        let log_standard_deviation = libm::log(standard_deviation);
        LearnableGelu {
            mean: Initializer::Constant { value: mean }.init([count], device),
            log_standard_deviation: Initializer::Constant { value: log_standard_deviation }
                .init([count], device),
            channels,
        }
    }
}

/// `x·Φ((x − μ)/σ)` with learnable μ and σ (§2: the CDF of N(μ, σ²) instead of Φ).
///
/// The layer stores the logarithm of σ, so σ stays positive. With μ = 0 the layer is the GELU for σ = 1
/// and tends to the ReLU for σ → 0 (§4). It returns −0 for −∞, +∞ for +∞, and NaN for NaN. It computes
/// 16-bit types in f32. Create it with [`LearnableGeluConfig`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::LearnableGeluConfig;
///
/// let device = Device::default();
/// let layer = LearnableGeluConfig::new().with_standard_deviation(1e-3).init(&device);
/// let y = layer.forward(Tensor::<2>::from_floats([[-2.0, 3.0]], &device));
/// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [-0.0, 3.0]);
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct LearnableGelu {
    /// The means μ, `[channels]`.
    pub mean: Param<Tensor<1>>,
    /// The logarithms ln σ, `[channels]`.
    pub log_standard_deviation: Param<Tensor<1>>,
    #[module(skip)]
    pub(super) channels: Channels,
}

impl LearnableGelu {
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
        /// The limit of |ln σ|. `e^±60` is finite in f32, and beyond it σ is effectively 0 or ∞.
        const LOG_MAX: f64 = 60.0;
        /// The argument beyond which Φ is 0 or 1 in every type.
        const FAR: f64 = 40.0;
        let shape = self.channels.broadcast(input.dims(), "a learnable GELU");
        let (dtype, input) = (input.dtype(), widened(input));
        let (_, most) = ends(input.dtype());
        let mean = cast(self.mean.val(), input.dtype()).reshape(shape);
        // This is computed in the parameter's own type, not the input's, because shaders have no
        // exponential in f64.
        let slope = widened(self.log_standard_deviation.val()).clamp(-LOG_MAX, LOG_MAX).neg().exp();
        let slope = cast(slope, input.dtype()).reshape(shape);
        // An infinite factor times zero would be NaN, here and in the backward pass.
        let finite = input.clone().clamp(-most, most);
        let input = input.clone().mask_fill(input.lower_elem(-most), -most);
        // The clamp keeps ∞ far from every μ. The code halves the distance because the whole distance
        // may overflow.
        let mean = mean.clamp(-0.999 * most, 0.999 * most);
        let half = finite * 0.5 - mean * 0.5;
        let standardised = (half * (slope * 2.0)).clamp(-FAR, FAR);
        cast(input * functional::normal_cdf(standardised), dtype)
    }
}

impl ModuleDisplay for LearnableGelu {
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
    use crate::Unit;
    use alloc::vec::Vec;
    use burn_core::tensor::{DType, FloatDType};

    fn layer(mean: f64, standard_deviation: f64, device: &Device) -> LearnableGelu {
        LearnableGeluConfig::new()
            .with_mean(mean)
            .with_standard_deviation(standard_deviation)
            .init(device)
    }

    fn values(layer: &LearnableGelu, x: &[f32]) -> Vec<f32> {
        let x = Tensor::<1>::from_floats(x, &Device::default());
        layer.forward(x).into_data().try_to_vec().unwrap()
    }

    #[test]
    fn starts_as_the_gelu() {
        let layer = LearnableGeluConfig::new().init(&Device::default());
        for x in [-6.0f32, -1.0, 0.0, 2.5] {
            let (got, exact) = (values(&layer, &[x])[0], Unit::Gelu.value(f64::from(x)));
            assert!((f64::from(got) - exact).abs() <= 2e-7 * exact.abs(), "{got} {exact}");
        }
    }

    #[test]
    fn tends_to_the_relu_as_sigma_vanishes() {
        let x: Vec<f32> = (-40..=40).map(|i| i as f32 * 0.1).collect();
        let distance = |sigma| {
            let y = values(&layer(0.0, sigma, &Device::default()), &x);
            y.iter().zip(&x).map(|(y, x)| (y - x.max(0.0)).abs()).fold(0.0, f32::max)
        };
        // The maximum over x of x·Φ(−x/σ) is 0.1699…·σ, at x = 0.7518·σ.
        assert!(distance(1.0) > 0.15 && distance(0.1) < 0.017_1);
        assert_eq!(distance(1e-4), 0.0);
        assert_eq!(distance(1e-300), 0.0);
    }

    #[test]
    fn gradients_are_the_difference_quotients() {
        let (mean, sigma) = (0.3, 0.7);
        let exact = |x: f64, mean: f64, log: f64| x * Unit::NormalCdf.value((x - mean) / log.exp());
        let (h, log) = (1e-5, f64::ln(sigma));
        let device = Device::default().autodiff();
        for x in [-2.0f64, -0.4, 0.3, 1.7] {
            let layer = layer(mean, sigma, &device);
            let input = Tensor::<1>::from_data([x], &device).require_grad();
            let gradients = layer.forward(input.clone()).sum().backward();
            let scalar =
                |gradient: Option<Tensor<1>>| f64::from(gradient.unwrap().into_scalar::<f32>());
            for (got, quotient) in [
                (scalar(input.grad(&gradients)), exact(x + h, mean, log) - exact(x - h, mean, log)),
                (
                    scalar(layer.mean.val().grad(&gradients)),
                    exact(x, mean + h, log) - exact(x, mean - h, log),
                ),
                (
                    scalar(layer.log_standard_deviation.val().grad(&gradients)),
                    exact(x, mean, log + h) - exact(x, mean, log - h),
                ),
            ] {
                let quotient = quotient / (2.0 * h);
                assert!((got - quotient).abs() < 1e-5, "{got}, quotient {quotient} at {x}");
            }
        }
    }

    #[test]
    fn infinite_inputs_give_the_limits_and_finite_gradients() {
        let device = Device::default().autodiff();
        for sigma in [1e-30, 1e-3, 1.0, 1e3] {
            let layer = layer(0.5, sigma, &device);
            let x = [f32::NEG_INFINITY, f32::MIN, f32::MAX, f32::INFINITY];
            let input = Tensor::<1>::from_floats(x, &device).require_grad();
            let output = layer.forward(input.clone());
            let y = output.clone().into_data().try_to_vec::<f32>().unwrap();
            assert_eq!(y, [0.0, 0.0, f32::MAX, f32::INFINITY], "{sigma}");
            assert!(y[0].is_sign_negative() && y[1].is_sign_negative());
            let gradients = output.sum().backward();
            let slopes = input.grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap();
            assert_eq!(slopes, [0.0, 0.0, 1.0, 1.0], "{sigma}");
            for learned in [&layer.mean, &layer.log_standard_deviation] {
                assert_eq!(learned.val().grad(&gradients).unwrap().into_scalar::<f32>(), 0.0);
            }
        }
        assert!(values(&layer(0.5, 1.0, &Device::default()), &[f32::NAN])[0].is_nan());
    }

    #[test]
    fn sixteen_bits_are_computed_in_f32() {
        for dtype in [FloatDType::F16, FloatDType::BF16] {
            let device = Device::default().autodiff();
            if !device.supports_dtype(DType::from(dtype)) {
                std::eprintln!("skipped: the device has no {dtype:?}");
                continue;
            }
            for sigma in [1e-20, 1e-3, 0.5, 1e20] {
                let mut layer = layer(1.0, sigma, &device);
                for learned in [&mut layer.mean, &mut layer.log_standard_deviation] {
                    *learned = Param::from_tensor(learned.val().detach().cast(dtype).detach());
                }
                let x = Tensor::<1>::from_floats([-3.0, 1.0, 1.5, 200.0], &device).cast(dtype);
                let x = x.detach().require_grad();
                let y = layer.forward(x.clone());
                assert_eq!(y.dtype(), DType::from(dtype));
                let gradients = y.clone().sum().backward();
                // The slopes are as steep as 16 bits can represent.
                let slopes = x.grad(&gradients).unwrap().into_data();
                assert!(!slopes.iter::<f32>().any(f32::is_nan), "{dtype:?} {sigma}: {slopes:?}");
                // At μ, Φ is 1/2 for every σ.
                let log = layer.log_standard_deviation.val().into_scalar::<f32>();
                for (x, y) in [-3.0f64, 1.0, 1.5, 200.0].iter().zip(y.into_data().iter::<f64>()) {
                    let sigma = f64::from(log).clamp(-60.0, 60.0).exp();
                    let exact = x * Unit::NormalCdf.value((x - 1.0) / sigma);
                    let rounding = if dtype == FloatDType::F16 { 6e-4 } else { 5e-3 };
                    let off = (y - exact).abs();
                    assert!(off <= rounding * exact.abs() + 1e-7, "{dtype:?} {sigma} {x}: {y}");
                }
            }
        }
    }

    #[test]
    fn each_channel_has_its_own_parameters() {
        let device = Device::default();
        let mut layer = LearnableGeluConfig::new().with_channels(Channels::First(2)).init(&device);
        layer.mean = Param::from_tensor(Tensor::from_floats([0.0, 100.0], &device));
        let y = layer.forward(Tensor::<3>::ones([1, 2, 3], &device));
        let y = y.into_data().try_to_vec::<f32>().unwrap();
        assert!(y[..3].iter().all(|&y| (y - 0.841_344_8).abs() < 1e-6) && y[3..] == [0.0; 3]);
        assert_eq!(layer.num_params(), 4);
    }

    #[test]
    fn features_are_channels_where_they_are_last() {
        let device = Device::default();
        let mut layer = LearnableGeluConfig::new().with_channels(Channels::Last(2)).init(&device);
        layer.mean = Param::from_tensor(Tensor::from_floats([0.0, 100.0], &device));
        // Dimension 1 also has length 2, so that a wrong dimension would change the result without an
        // error.
        let y = layer.forward(Tensor::<3>::ones([1, 2, 2], &device));
        let y = y.into_data().try_to_vec::<f32>().unwrap();
        assert!((y[0] - 0.841_344_8).abs() < 1e-6 && (y[2] - 0.841_344_8).abs() < 1e-6, "{y:?}");
        assert_eq!([y[1], y[3]], [0.0; 2]);
    }

    #[test]
    fn display_names_the_channels() {
        let layer = LearnableGeluConfig::new().with_channels(Channels::Last(3));
        let display = alloc::format!("{}", layer.init(&Device::default()));
        assert_eq!(display, "LearnableGelu {channels: Last(3), params: 6}");
    }

    #[test]
    #[should_panic(expected = "2 channels got a tensor of [4, 3]")]
    fn other_channels_are_refused() {
        let device = Device::default();
        let layer = LearnableGeluConfig::new().with_channels(Channels::First(2)).init(&device);
        layer.forward(Tensor::<2>::ones([4, 3], &device));
    }
}
