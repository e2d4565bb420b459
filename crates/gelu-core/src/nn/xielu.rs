use super::Channels;
use super::width::{cast, ends, is_in_f32, widened};
use crate::{Unit, functional};
use burn::config::Config;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::Initializer;

/// Configuration of a [`Xielu`].
#[derive(Config, Debug)]
pub struct XieluConfig {
    /// Whether the layer has one αₚ and αₙ, or one pair per channel, and which dimension the channels are in.
    #[config(default = "Channels::Shared")]
    pub channels: Channels,
    /// The start value of αₚ.
    #[config(default = 0.8)]
    pub alpha_p: f64,
    /// The start value of αₙ, which has to be above β.
    #[config(default = 0.8)]
    pub alpha_n: f64,
    /// The slope β at 0, which is not learned.
    #[config(default = 0.5)]
    pub beta: f64,
}

impl XieluConfig {
    /// Creates the layer.
    ///
    /// # Panics
    ///
    /// If there are no channels, αₚ is not above 0, αₙ is not above β, or one of the three is not finite in f32.
    pub fn init(&self, device: &Device) -> Xielu {
        let Self { channels, alpha_p, alpha_n, beta } = *self;
        let count = channels.count_for("a xIELU");
        let finite = [alpha_p, alpha_n, beta].into_iter().all(is_in_f32);
        assert!(
            finite && alpha_p > 0.0 && alpha_n > beta,
            "a xIELU starts from an αₚ above 0 and an αₙ above its β, all three from -3.4e38 to 3.4e38, \
             got {alpha_p:?}, {alpha_n:?} and {beta:?}"
        );
        // Returns the number whose softplus is `alpha`.
        let raw = |alpha: f64| alpha + libm::log(-libm::expm1(-alpha));
        let parameter = |value| Initializer::Constant { value }.init([count], device);
        Xielu {
            alpha_p: parameter(raw(alpha_p)),
            alpha_n: parameter(raw(alpha_n - beta)),
            beta,
            channels,
        }
    }
}

/// The expanded integral of ELU with two learnable curvatures (Huang & Schlag, arXiv 2411.13010, transformers'
/// `xielu`):
///
/// ```text
/// αₚ·x² + β·x                  for x > 0
/// αₙ·(e^x − 1 − x) + β·x       for x ≤ 0
/// ```
///
/// The layer stores αₚ and αₙ − β as the inputs of a [softplus](Unit::Softplus), so that αₚ > 0 and αₙ > β hold: αₚ and
/// αₙ − β are at least the smallest normal number of the type that the layer computes in, 1.2e-38 in f32. β = 0.5 is
/// not learned. For `−10⁻⁶ < x ≤ 0` transformers uses `e^−10⁻⁶` instead of e^x, with an error of up to αₙ·10⁻⁶; this
/// layer uses the formula. The parameters and their names are those of transformers.
///
/// The layer returns +∞ for ±∞ and NaN for NaN, and computes 16-bit types in f32. Create it with [`XieluConfig`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::XieluConfig;
///
/// let device = Device::default();
/// let layer = XieluConfig::new().init(&device);
/// let y = layer.forward(Tensor::<1>::from_floats([0.0, 1.0, 2.0], &device));
/// assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [0.0, 1.3, 4.2]);
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Xielu {
    /// The parameters `ln(e^αₚ − 1)`, `[channels]`.
    pub alpha_p: Param<Tensor<1>>,
    /// The parameters `ln(e^(αₙ − β) − 1)`, `[channels]`.
    pub alpha_n: Param<Tensor<1>>,
    #[module(skip)]
    beta: f64,
    #[module(skip)]
    pub(super) channels: Channels,
}

impl Xielu {
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
        let shape = self.channels.broadcast(input.dims(), "a xIELU");
        let (dtype, input) = (input.dtype(), widened(input));
        let (least, most) = ends(input.dtype());
        // The curvatures must not be 0 or ∞: 0 times an infinite factor would be NaN, and so would ∞ times 0, here and
        // in the backward pass.
        let [positive, excess] = [&self.alpha_p, &self.alpha_n].map(|raw| {
            let raw = cast(raw.val(), input.dtype());
            functional::unit(raw, Unit::Softplus { beta: 1.0 }).clamp(least, most).reshape(shape)
        });
        // One of the two is 0 and has no gradient. At x = 0 it is the first.
        let above = input.clone().mask_fill(input.clone().lower_equal_elem(0.0), 0.0);
        let below = input.clone().mask_fill(input.greater_elem(0.0), 0.0);
        let right = (positive * above.clone() + self.beta) * above;
        // The left side is αₙ·(e^x − 1) − (αₙ − β)·x. Both terms are finite if the sum is.
        let bend = functional::unit(below.clone(), Unit::Elu { alpha: 1.0 });
        let left = (excess.clone() + self.beta) * bend - excess * below;
        cast(right + left, dtype)
    }
}

impl ModuleDisplay for Xielu {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let channels = alloc::format!("{:?}", self.channels);
        content.add("channels", &channels).add("beta", &self.beta).optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use burn_core::tensor::{DType, FloatDType};

    /// Returns the formula for parameters as the layer stores them.
    fn exact(x: f64, [raw_p, raw_n]: [f64; 2]) -> f64 {
        let softplus = |raw: f64| Unit::Softplus { beta: 1.0 }.value(raw);
        match x > 0.0 {
            true => softplus(raw_p) * x * x + 0.5 * x,
            false => (0.5 + softplus(raw_n)) * (libm::expm1(x) - x) + 0.5 * x,
        }
    }

    #[test]
    fn values_are_those_of_transformers() {
        /// Values of transformers' `XIELUActivation` with its initial parameters, in 40 digits (mpmath).
        const VALUES: [(f64, f64); 7] = [
            (-40.0, 11.2),
            (-3.0, 0.139_829_654_694_291_15),
            (-1.0, -0.205_696_447_062_846_15),
            (-0.25, -0.101_959_373_542_876_11),
            (0.5, 0.45),
            (2.0, 4.2),
            (12.0, 121.2),
        ];
        let device = Device::default();
        let layer = XieluConfig::new().init(&device);
        for (x, y) in VALUES {
            let got = layer.forward(Tensor::<1>::from_data([x], &device)).into_scalar::<f32>();
            assert!((f64::from(got) - y).abs() <= 3e-7 * y.abs(), "{x}: {got}, {y}");
        }
    }

    #[test]
    fn gradients_are_the_difference_quotients() {
        let (raw, h) = ([0.4, -0.7], 1e-5);
        let device = Device::default().autodiff();
        for x in [-30.0, -2.0, -0.4, -1e-3, 0.0, 1e-3, 0.3, 1.7] {
            let mut layer = XieluConfig::new().init(&device);
            let learned = |value: f64| {
                Param::from_tensor(Tensor::<1>::from_data([value], &device).require_grad())
            };
            (layer.alpha_p, layer.alpha_n) = (learned(raw[0]), learned(raw[1]));
            let input = Tensor::<1>::from_data([x], &device).require_grad();
            let gradients = layer.forward(input.clone()).sum().backward();
            let scalar =
                |gradient: Option<Tensor<1>>| f64::from(gradient.unwrap().into_scalar::<f32>());
            let x = f64::from(x as f32);
            for (got, quotient) in [
                (scalar(input.grad(&gradients)), exact(x + h, raw) - exact(x - h, raw)),
                (
                    scalar(layer.alpha_p.val().grad(&gradients)),
                    exact(x, [raw[0] + h, raw[1]]) - exact(x, [raw[0] - h, raw[1]]),
                ),
                (
                    scalar(layer.alpha_n.val().grad(&gradients)),
                    exact(x, [raw[0], raw[1] + h]) - exact(x, [raw[0], raw[1] - h]),
                ),
            ] {
                let quotient = quotient / (2.0 * h);
                // Where the second derivative jumps, the quotient averages both sides.
                let room = 1e-6 * quotient.abs() + if x == 0.0 { h } else { 1e-7 };
                assert!((got - quotient).abs() <= room, "{got}, quotient {quotient} at {x}");
            }
        }
    }

    #[test]
    fn infinite_inputs_are_infinite_and_nan_stays_nan() {
        let device = Device::default();
        let layer = XieluConfig::new().init(&device);
        let x = [f32::NEG_INFINITY, f32::MIN, f32::MAX, f32::INFINITY, f32::NAN];
        let y = layer.forward(Tensor::<1>::from_floats(x, &device)).into_data();
        let y: Vec<f32> = y.try_to_vec().unwrap();
        assert_eq!((y[0], y[2], y[3]), (f32::INFINITY, f32::INFINITY, f32::INFINITY));
        assert!((y[1] / f32::MAX - 0.3).abs() < 1e-6 && y[4].is_nan(), "{y:?}");
    }

    #[test]
    fn sixteen_bits_are_computed_in_f32() {
        let device = Device::default();
        for (dtype, rounding) in [(FloatDType::F16, 5e-4), (FloatDType::BF16, 4e-3)] {
            if !device.supports_dtype(DType::from(dtype)) {
                std::eprintln!("skipped: the device has no {dtype:?}");
                continue;
            }
            let layer = XieluConfig::new().init(&device);
            let raw = [&layer.alpha_p, &layer.alpha_n]
                .map(|raw| f64::from(raw.val().into_scalar::<f32>()));
            let x = Tensor::<1>::from_floats([-9.0, -0.01, 1.5, 100.0], &device).cast(dtype);
            let y = layer.forward(x.clone());
            assert_eq!(y.dtype(), DType::from(dtype));
            for (x, y) in x.into_data().iter::<f64>().zip(y.into_data().iter::<f64>()) {
                let exact = exact(x, raw);
                assert!((y - exact).abs() <= rounding * exact.abs(), "{dtype:?} {x}: {y}, {exact}");
            }
        }
    }

    #[test]
    fn each_channel_has_its_own_curvatures() {
        let device = Device::default();
        let mut layer = XieluConfig::new().with_channels(Channels::First(2)).init(&device);
        // softplus(−200) underflows to 0 in f32.
        layer.alpha_p = Param::from_tensor(Tensor::from_floats([-200.0, 100.0], &device));
        let y = layer.forward(Tensor::<3>::ones([1, 2, 2], &device)).into_data();
        assert_eq!(y.try_to_vec::<f32>().unwrap(), [0.5, 0.5, 100.5, 100.5]);
        assert_eq!(alloc::format!("{layer}"), "Xielu {channels: First(2), beta: 0.5, params: 4}");
    }

    #[test]
    #[should_panic(
        expected = "an αₙ above its β, all three from -3.4e38 to 3.4e38, got 0.8, 0.4 and 0.5"
    )]
    fn curvatures_out_of_bounds_are_refused() {
        XieluConfig::new().with_alpha_n(0.4).init(&Device::default());
    }
}
