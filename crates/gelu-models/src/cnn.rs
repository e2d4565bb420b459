//! The nine-layer convolutional network of §3.5 and Table 1 (Figure 6).
//!
//! ```text
//! [batch, 3, 32, 32]  ZCA-whitened images, see Zca
//!   → Gaussian noise, σ 0.15, while training
//!   → 3 × [3×3 convolution, 96, same]                                 [96, 32, 32]
//!   → 2×2 max-pool → dropout 0.5                                      [96, 16, 16]
//!   → 3 × [3×3 convolution, 192, same]                                [192, 16, 16]
//!   → 2×2 max-pool → dropout 0.5                                      [192, 8, 8]
//!   → [3×3 convolution, 192, valid] → 2 × [1×1 convolution, 192]      [192, 6, 6]
//!   → global average pool → linear → batch norm → [batch, 10]
//! ```
//!
//! Every bracket is convolution → batch norm → activation. There are 1,408,244 trainable
//! parameters.
//!
//! Where the paper gives no details, this follows the authors' code: the output has a batch norm,
//! too, no layer has a bias (batch norm would cancel it), and weights are Glorot-uniform. There is
//! one deviation: batch norm's ε is 1e-5, the default of Burn and PyTorch, instead of Lasagne's
//! 1e-4, so that weights can be exchanged with a plain twin.

use crate::init::{GLOROT_UNIFORM, convolution, linear};
use burn::config::Config;
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{
    BatchNorm, BatchNormConfig, Dropout, DropoutConfig, GaussianNoise, GaussianNoiseConfig, Linear,
    LinearConfig, PaddingConfig2d,
};
use burn::tensor::{Device, Tensor};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_training::layers::{self, batch_norm, batch_norm_activation, conv2d, dropout, max_pool2d};

/// The smallest height and width of an image for which the two pools and the valid convolution
/// leave a pixel.
const SMALLEST_IMAGE: usize = 12;

/// Configuration of a [`Cnn`]; the defaults are the paper's.
///
/// ```
/// use gelu_models::CnnConfig;
/// assert_eq!(CnnConfig::new().parameter_count(), 1_408_244);
/// ```
#[derive(Config, Debug)]
pub struct CnnConfig {
    /// The number of classes.
    #[config(default = 10)]
    pub classes: usize,
    /// The number of channels of the images.
    #[config(default = 3)]
    pub channels: usize,
    /// The number of channels of the first three convolutions, and of the six that follow.
    #[config(default = "[96, 192]")]
    pub widths: [usize; 2],
    /// The standard deviation of the noise that is added to the images in training.
    #[config(default = 0.15)]
    pub noise: f64,
    /// The probability of dropping a value after each max-pool in training.
    #[config(default = 0.5)]
    pub dropout: f64,
    /// The activation after every convolution.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
}

impl CnnConfig {
    /// Creates a network with random weights from the device's generator. Biases and means are 0,
    /// scales and variances are 1.
    ///
    /// # Panics
    ///
    /// If a size is 0, `dropout` is not in `[0, 1)`, or `noise` is negative or not finite.
    pub fn init(&self, device: &Device) -> Cnn {
        let [narrow, wide] = self.widths;
        assert!(
            self.classes > 0 && self.channels > 0 && narrow > 0 && wide > 0,
            "every layer of a Cnn needs at least one channel, got {self:?}"
        );
        Cnn {
            noise: GaussianNoiseConfig::new(self.noise).init(),
            stages: self.stages().map(|stage| {
                let block = |size| ConvolutionBlock::new(size, &self.activation, device);
                stage.into_iter().map(block).collect()
            }),
            pool: MaxPool2dConfig::new([2, 2]).init(),
            dropout: DropoutConfig::new(self.dropout).init(),
            output: linear(
                LinearConfig::new(wide, self.classes).with_bias(false),
                GLOROT_UNIFORM,
                device,
            ),
            output_norm: BatchNormConfig::new(self.classes).init(device),
        }
    }

    /// Returns the number of trainable parameters: the weights, and two per channel for each batch
    /// norm. Running means and variances, and the parameters of a learnable activation, are not
    /// included.
    pub fn parameter_count(&self) -> usize {
        let convolutions: usize = self
            .stages()
            .iter()
            .flatten()
            .map(|size| size.outputs * (size.inputs * size.kernel * size.kernel + 2))
            .sum();
        convolutions + self.classes * (self.widths[1] + 2)
    }

    fn stages(&self) -> [[BlockSize; 3]; 3] {
        let [narrow, wide] = self.widths;
        let same = |inputs, outputs| BlockSize {
            inputs,
            outputs,
            kernel: 3,
            padding: PaddingConfig2d::Explicit(1, 1, 1, 1),
        };
        let valid = |kernel| BlockSize {
            inputs: wide,
            outputs: wide,
            kernel,
            padding: PaddingConfig2d::Valid,
        };
        [
            [same(self.channels, narrow), same(narrow, narrow), same(narrow, narrow)],
            [same(narrow, wide), same(wide, wide), same(wide, wide)],
            [valid(3), valid(1), valid(1)],
        ]
    }
}

struct BlockSize {
    inputs: usize,
    outputs: usize,
    kernel: usize,
    padding: PaddingConfig2d,
}

/// Convolution → batch norm → activation.
#[derive(Module, Debug)]
struct ConvolutionBlock {
    conv: Conv2d,
    norm: BatchNorm,
    activation: ActivationLayer,
}

impl ConvolutionBlock {
    fn new(size: BlockSize, activation: &Activation, device: &Device) -> Self {
        let config = Conv2dConfig::new([size.inputs, size.outputs], [size.kernel, size.kernel])
            .with_padding(size.padding)
            .with_bias(false);
        Self {
            conv: convolution(config, GLOROT_UNIFORM, device),
            norm: BatchNormConfig::new(size.outputs).init(device),
            activation: activation.init(Channels::First(size.outputs), device),
        }
    }
}

/// The convolutional classifier of Table 1. Create it with [`CnnConfig`].
#[derive(Module, Debug)]
pub struct Cnn {
    noise: GaussianNoise,
    stages: [Vec<ConvolutionBlock>; 3],
    pool: MaxPool2d,
    dropout: Dropout,
    output: Linear,
    output_norm: BatchNorm,
}

impl Cnn {
    /// Returns the logits of a batch. Noise, dropout and the statistics of the batch are only used
    /// on autodiff devices, as everywhere in Burn.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, channels, height, width]`, whitened
    /// - output: `[batch, classes]`
    ///
    /// # Panics
    ///
    /// If the images are smaller than 12 × 12, or have a different number of channels.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let [_, _, height, width] = images.dims();
        assert!(
            height >= SMALLEST_IMAGE && width >= SMALLEST_IMAGE,
            "a Cnn needs images of at least {SMALLEST_IMAGE} × {SMALLEST_IMAGE}, \
             got {height} × {width}"
        );
        let [first, second, third] = &self.stages;
        let x = stage(first, self.noise.forward(images));
        let x = dropout(&self.dropout, max_pool2d(&self.pool, x));
        let x = stage(second, x);
        let x = dropout(&self.dropout, max_pool2d(&self.pool, x));
        let x = stage(third, x).mean_dims(&[2, 3]).squeeze_dims::<2>(&[2, 3]);
        batch_norm(&self.output_norm, layers::linear(&self.output, x))
    }
}

fn stage(blocks: &[ConvolutionBlock], input: Tensor<4>) -> Tensor<4> {
    blocks.iter().fold(input, |x, ConvolutionBlock { conv, norm, activation }| {
        batch_norm_activation(norm, activation, conv2d(conv, x))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> CnnConfig {
        CnnConfig::new().with_widths([2, 3]).with_classes(4)
    }

    #[test]
    fn paper_size_has_the_documented_parameters() {
        let config = CnnConfig::new();
        let weights = 27 * 96 + 2 * 864 * 96 + 864 * 192 + 3 * 1728 * 192 + 2 * 192 * 192 + 1920;
        let normed_channels = 3 * 96 + 6 * 192 + 10;
        assert_eq!(config.parameter_count(), weights + 2 * normed_channels);
        // Burn also counts the running means and variances.
        assert_eq!(config.init(&Device::default()).num_params(), 1_408_244 + 2 * normed_channels);
    }

    #[test]
    fn every_image_size_maps_to_logits() {
        let device = Device::default();
        let model = tiny().init(&device);
        for (height, width) in [(12, 12), (13, 17), (32, 32)] {
            let logits = model.forward(Tensor::ones([2, 3, height, width], &device));
            assert_eq!(logits.dims(), [2, 4]);
        }
    }

    #[test]
    fn spatial_sizes_are_those_of_table_1() {
        let device = Device::default();
        let model = tiny().init(&device);
        let [first, second, third] = &model.stages;
        let x = stage(first, Tensor::ones([1, 3, 32, 32], &device));
        assert_eq!(x.dims(), [1, 2, 32, 32]);
        let x = stage(second, model.pool.forward(x));
        assert_eq!(x.dims(), [1, 3, 16, 16]);
        let x = stage(third, model.pool.forward(x));
        assert_eq!(x.dims(), [1, 3, 6, 6]);
    }

    /// Returns the largest change of a logit between two passes over one batch. A batch of two
    /// would show no change, because the batch norm of the output turns any two numbers into ±1.
    fn change(model: &Cnn, device: &Device) -> f32 {
        let ramp = Tensor::arange(0..4 * 3 * 12 * 12, device).float() / 100.0;
        let images: Tensor<4> = ramp.reshape([4, 3, 12, 12]);
        let change = model.forward(images.clone()) - model.forward(images);
        change.abs().max().into_scalar::<f32>()
    }

    #[test]
    fn noise_and_dropout_act_in_training_alone() {
        let training = Device::default().autodiff();
        let exact = tiny().with_noise(0.0).with_dropout(0.0);
        assert_eq!(change(&exact.init(&training), &training), 0.0);
        for random in [exact.clone().with_noise(0.15), exact.with_dropout(0.5)] {
            let model = random.init(&training);
            assert!(change(&model, &training) > 1e-6, "nothing random in {random:?}");
            assert_eq!(change(&model.valid(), &Device::default()), 0.0);
        }
    }

    #[test]
    fn learnable_activation_has_a_mean_and_a_width_for_every_channel() {
        let count = |activation| tiny().with_activation(activation).init(&Device::default());
        let more = count(Activation::LearnableGelu).num_params();
        assert_eq!(more - count(Activation::Gelu).num_params(), 2 * (3 * 2 + 6 * 3));
    }

    #[test]
    #[should_panic(expected = "at least 12 × 12, got 11 × 32")]
    fn too_small_images_are_refused() {
        let device = Device::default();
        tiny().init(&device).forward(Tensor::ones([1, 3, 11, 32], &device));
    }
}
