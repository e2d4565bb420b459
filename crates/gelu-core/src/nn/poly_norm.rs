use super::width::{cast, widened};
use burn::config::Config;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_nn::Initializer;

/// Configuration of a [`PolyNorm`].
#[derive(Config, Debug)]
pub struct PolyNormConfig {
    /// The number that is added to the mean of squares under the root.
    #[config(default = 1e-6)]
    pub epsilon: f64,
}

impl PolyNormConfig {
    /// Creates the layer, with weights of 1/3 and a bias of 0.
    ///
    /// # Panics
    ///
    /// If ε is not a positive number.
    pub fn init(&self, device: &Device) -> PolyNorm {
        let Self { epsilon } = *self;
        assert!(
            epsilon.is_finite() && epsilon > 0.0,
            "the ε of a PolyNorm is a positive number, got {epsilon}"
        );
        PolyNorm {
            weight: Initializer::Constant { value: 1.0 / 3.0 }.init([3], device),
            bias: Initializer::Zeros.init([1], device),
            epsilon,
        }
    }
}

/// Powers of the features, each normalised by its root mean square over the features, in learnable proportions
/// (Zhuo et al., arXiv 2411.03884):
///
/// ```text
/// w₁·N(x³) + w₂·N(x²) + w₃·N(x) + b        N(u) = u/√(mean(u²) + ε)
/// ```
///
/// The mean is over the last dimension, so this is not a function of one number, and therefore not an
/// [`Activation`](crate::Activation). Use it as a module after a linear layer. [`watch`](crate::watch()) reports it
/// like an activation layer. Its parameters have the order and names of the paper's code.
///
/// The layer divides the features by their largest magnitude before it takes powers, so that none overflows: a row of
/// finite numbers gives finite results. NaN and ±∞ turn their row into NaN. The layer computes 16-bit types in f32.
/// Create it with [`PolyNormConfig`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::PolyNormConfig;
///
/// let device = Device::default();
/// let layer = PolyNormConfig::new().init(&device);
/// let y = layer.forward(Tensor::<2>::from_floats([[-2.0, 2.0]], &device));
/// // The powers, normalised, are ±1.
/// let y = y.into_data().try_to_vec::<f32>().unwrap();
/// assert!((y[0] + 1.0 / 3.0).abs() < 1e-6 && (y[1] - 1.0).abs() < 1e-6);
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct PolyNorm {
    /// The weights `w₁`, `w₂` and `w₃` of the third, second and first power: `[3]`.
    pub weight: Param<Tensor<1>>,
    /// The bias `b`, `[1]`.
    pub bias: Param<Tensor<1>>,
    #[module(skip)]
    epsilon: f64,
}

impl PolyNorm {
    /// Applies the layer to every row of features.
    ///
    /// # Shapes
    ///
    /// - input and output: `[..., features]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        #[cfg(feature = "std")]
        if crate::watch::is_watching() {
            return crate::watch::through(input, |input| self.apply(input));
        }
        self.apply(input)
    }

    fn apply<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let (dtype, input) = (input.dtype(), widened(input));
        if input.dims().iter().product::<usize>() == 0 {
            return cast(input, dtype);
        }
        // The divisor cancels in the result, so no gradient has to pass through it.
        let largest = input.clone().detach().abs().max_dim(D - 1).clamp_min(1.0);
        let share = largest.clone().recip();
        let x = input / largest;
        let normalised = |power: Tensor<D>, share: Tensor<D>| {
            let square = (power.clone() * power.clone()).mean_dim(D - 1);
            power / (square + share.clone() * share * self.epsilon).sqrt()
        };
        let square = x.clone() * x.clone();
        let share_2 = share.clone() * share.clone();
        let [weight, bias] =
            [&self.weight, &self.bias].map(|learned| cast(learned.val(), x.dtype()));
        let term = |index: usize, power: Tensor<D>, share: Tensor<D>| {
            let weight = weight.clone().narrow(0, index, 1).reshape([1; D]);
            normalised(power, share) * weight
        };
        let cubic = term(0, square.clone() * x.clone(), share_2.clone() * share.clone());
        let sum = cubic + term(1, square, share_2) + term(2, x, share);
        cast(sum + bias.reshape([1; D]), dtype)
    }
}

impl ModuleDisplay for PolyNorm {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content.add("epsilon", &self.epsilon).optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use burn_core::tensor::{DType, FloatDType};

    /// Returns the formula, in f64 and without rearrangement.
    fn exact(x: &[f64], weight: [f64; 3], bias: f64) -> Vec<f64> {
        let normalised = |power: i32| {
            let mean = x.iter().map(|x| x.powi(2 * power)).sum::<f64>() / x.len() as f64;
            x.iter().map(move |x| x.powi(power) / (mean + 1e-6).sqrt())
        };
        let powers = normalised(3).zip(normalised(2)).zip(normalised(1));
        powers
            .map(|((cube, square), x)| weight[0] * cube + weight[1] * square + weight[2] * x + bias)
            .collect()
    }

    fn learned(values: &[f64], device: &Device) -> Param<Tensor<1>> {
        Param::from_tensor(Tensor::from_data(values, device).set_require_grad(device.is_autodiff()))
    }

    const X: [f64; 4] = [-1.5, 0.25, 0.75, 2.5];

    #[test]
    fn values_are_those_of_arbitrary_precision() {
        // Values of the formula in 40 digits (mpmath).
        const START: [f64; 4] = [
            -0.246_749_352_842_338_57,
            0.062_075_063_899_381_17,
            0.239_358_697_427_392_6,
            1.828_142_407_517_206_8,
        ];
        const OTHER: [f64; 4] = [
            -0.727_729_626_506_560_1,
            0.163_826_457_307_999_72,
            0.301_810_727_266_586_03,
            1.755_052_186_646_583_4,
        ];
        let device = Device::default();
        let mut layer = PolyNormConfig::new().init(&device);
        let x = Tensor::<1>::from_data(X, &device);
        let check = |layer: &PolyNorm, expected: [f64; 4]| {
            for (got, y) in layer.forward(x.clone()).into_data().iter::<f64>().zip(expected) {
                assert!((got - y).abs() <= 1e-6, "{got}, {y}");
            }
        };
        check(&layer, START);
        layer.weight = learned(&[0.7, -0.2, 0.4], &device);
        layer.bias = learned(&[0.1], &device);
        check(&layer, OTHER);
    }

    #[test]
    fn gradients_are_the_difference_quotients() {
        let device = Device::default().autodiff();
        let (weight, bias, h) = ([0.7, -0.2, 0.4], 0.1, 1e-6);
        let mut layer = PolyNormConfig::new().init(&device);
        (layer.weight, layer.bias) = (learned(&weight, &device), learned(&[bias], &device));
        let input = Tensor::<1>::from_data(X, &device).require_grad();
        // The weights make the gradients differ between elements.
        let factors = [0.3, -1.1, 0.9, 0.4];
        let loss = layer.forward(input.clone()) * Tensor::from_data(factors, &device);
        let gradients = loss.sum().backward();
        let of = |x: &[f64], weight, bias| -> f64 {
            exact(x, weight, bias).iter().zip(factors).map(|(y, factor)| y * factor).sum()
        };
        let numbers = |gradient: Option<Tensor<1>>| {
            gradient.unwrap().into_data().iter::<f64>().collect::<Vec<_>>()
        };
        for (i, got) in numbers(input.grad(&gradients)).into_iter().enumerate() {
            let moved =
                |h: f64| X.iter().enumerate().map(move |(k, x)| if k == i { x + h } else { *x });
            let [up, down] = [h, -h].map(|h| of(&moved(h).collect::<Vec<_>>(), weight, bias));
            let quotient = (up - down) / (2.0 * h);
            assert!((got - quotient).abs() < 2e-6, "x{i}: {got}, {quotient}");
        }
        for (i, got) in numbers(layer.weight.val().grad(&gradients)).into_iter().enumerate() {
            let mut moved = [weight; 2];
            (moved[0][i], moved[1][i]) = (weight[i] + h, weight[i] - h);
            let quotient = (of(&X, moved[0], bias) - of(&X, moved[1], bias)) / (2.0 * h);
            assert!((got - quotient).abs() < 2e-6, "w{i}: {got}, {quotient}");
        }
        let sum: f64 = factors.iter().sum();
        let got = numbers(layer.bias.val().grad(&gradients))[0];
        assert!((got - sum).abs() < 1e-6, "{got}, {sum}");
    }

    #[test]
    fn every_row_is_its_own_and_none_overflows() {
        let device = Device::default();
        let layer = PolyNormConfig::new().init(&device);
        // The rows are zeros, small numbers that ε outweighs, and numbers whose powers overflow in f32.
        for scale in [0.0, 1e-3, 1.0, 1e4, 1e12, 1e38] {
            let x = X.map(|x| x * scale);
            let rows = Tensor::<2>::from_data([x, [1.0; 4]], &device);
            let y: Vec<f64> = layer.forward(rows).into_data().iter::<f64>().collect();
            // In f64 the powers of 1e38 are finite.
            let expected = exact(&x, [1.0 / 3.0; 3], 0.0);
            for (got, y) in y.iter().zip(expected) {
                assert!((got - y).abs() <= 1e-6, "{scale}: {got}, {y}");
            }
            assert!(y[4..].iter().all(|y| (y - 1.0).abs() < 2e-6), "{y:?}");
        }
        assert_eq!(layer.forward(Tensor::<2>::zeros([0, 4], &device)).dims(), [0, 4]);
    }

    #[test]
    fn sixteen_bits_are_computed_in_f32() {
        let device = Device::default();
        for (dtype, rounding) in [(FloatDType::F16, 5e-4), (FloatDType::BF16, 4e-3)] {
            if !device.supports_dtype(DType::from(dtype)) {
                std::eprintln!("skipped: the device has no {dtype:?}");
                continue;
            }
            // 200³ overflows in f16.
            let x = X.map(|x| 80.0 * x);
            let input = Tensor::<1>::from_data(x, &device).cast(dtype);
            let y = PolyNormConfig::new().init(&device).forward(input);
            assert_eq!(y.dtype(), DType::from(dtype));
            for (got, y) in y.into_data().iter::<f64>().zip(exact(&x, [1.0 / 3.0; 3], 0.0)) {
                assert!((got - y).abs() <= rounding, "{dtype:?}: {got}, {y}");
            }
        }
    }

    #[test]
    fn display_names_epsilon() {
        let layer = PolyNormConfig::new().init(&Device::default());
        assert_eq!(alloc::format!("{layer}"), "PolyNorm {epsilon: 0.000001, params: 4}");
    }

    #[test]
    #[should_panic(expected = "the ε of a PolyNorm is a positive number, got 0")]
    fn no_epsilon_is_refused() {
        PolyNormConfig::new().with_epsilon(0.0).init(&Device::default());
    }
}
