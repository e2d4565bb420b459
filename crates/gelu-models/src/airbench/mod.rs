//! Our own implementation of a network with the structure of airbench94, with half of airbench94's widths by
//! default.
//!
//! ```text
//! [batch, 3, 32, 32]
//!   → 2×2 convolution, 24, fixed: whitened patches and their negation → activation    [24, 31, 31]
//!   → block 32                                                                        [32, 15, 15]
//!   → block 128                                                                       [128, 7, 7]
//!   → block 128                                                                       [128, 3, 3]
//!   → the largest value of each channel → linear, no bias → · 1/9 → [batch, 10]
//! ```
//!
//! A block is 3×3 convolution → 2×2 max-pool → batch norm → activation → 3×3 convolution → batch norm → activation.
//! The convolutions have "same" padding and no bias. There are 497,792 trainable parameters; airbench94 has 64, 256
//! and 256 channels (Jordan, arXiv 2404.00498).
//!
//! There are three differences from airbench94. Batch norms are Burn's, with trained scales. All weights are
//! He-normal. The whitening subtracts the mean patch instead of having a bias that is trained for a while.

#[cfg(feature = "zca-fit")]
mod fit;
mod whitening;

pub use whitening::PatchWhitening;

use crate::init::{HE_NORMAL, HE_NORMAL_LINEAR, convolution, linear};
use burn::config::Config;
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::{Device, Tensor};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_training::layers::{self, batch_norm_activation, conv2d, max_pool2d};

/// The smallest height and width of an image for which the whitening and three pools leave a pixel.
const SMALLEST_IMAGE: usize = 9;

/// Configuration of an [`Airbench`]; the defaults are half of airbench94's widths.
///
/// ```
/// use gelu_models::AirbenchConfig;
/// assert_eq!(AirbenchConfig::new().parameter_count(), 497_792);
/// ```
#[derive(Config, Debug)]
pub struct AirbenchConfig {
    /// The number of classes.
    #[config(default = 10)]
    pub classes: usize,
    /// The number of channels of the images.
    #[config(default = 3)]
    pub channels: usize,
    /// The numbers of channels of the three blocks.
    #[config(default = "[32, 128, 128]")]
    pub widths: [usize; 3],
    /// The factor of the outputs. It is so small that all classes have nearly equal probabilities at the start of
    /// training.
    #[config(default = "1.0 / 9.0")]
    pub scale: f64,
    /// The activation after every convolution.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
}

impl AirbenchConfig {
    /// Creates a network after `whitening`, with random weights from the device's generator. If you load a record,
    /// use [`PatchWhitening::identity`] instead of a fitted whitening.
    ///
    /// # Panics
    ///
    /// If a size is 0, the scale is not finite, or the whitening has a different number of channels.
    pub fn init(&self, whitening: PatchWhitening, device: &Device) -> Airbench {
        assert!(
            self.classes > 0
                && self.widths.iter().all(|&width| width > 0)
                && self.scale.is_finite(),
            "every layer of an Airbench needs at least one channel, and a scale, got {self:?}"
        );
        assert_eq!(
            whitening.channels(),
            self.channels,
            "the whitening was fitted to pictures of other channels"
        );
        let first = Channels::First(whitening.outputs());
        let mut inputs = whitening.outputs();
        let blocks = self.widths.map(|width| {
            let block = Block::new(inputs, width, &self.activation, device);
            inputs = width;
            block
        });
        let output = LinearConfig::new(inputs, self.classes).with_bias(false);
        Airbench {
            whitening,
            activation: self.activation.init(first, device),
            blocks,
            output: linear(output, HE_NORMAL_LINEAR, device),
            scale: self.scale,
        }
    }

    /// Returns the number of trainable parameters: the weights, and two per channel for each batch norm. The
    /// whitening is not trained. The parameters of a learnable activation are not included.
    pub fn parameter_count(&self) -> usize {
        let mut inputs = 8 * self.channels;
        let blocks = self.widths.map(|width| {
            let weights = 9 * (inputs + width) * width + 4 * width;
            inputs = width;
            weights
        });
        blocks.iter().sum::<usize>() + inputs * self.classes
    }
}

#[derive(Module, Debug)]
struct Block {
    convolutions: [Conv2d; 2],
    norms: [BatchNorm; 2],
    activations: [ActivationLayer; 2],
    pool: MaxPool2d,
}

impl Block {
    fn new(inputs: usize, outputs: usize, activation: &Activation, device: &Device) -> Self {
        let same = |inputs| {
            let config = Conv2dConfig::new([inputs, outputs], [3, 3])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .with_bias(false);
            convolution(config, HE_NORMAL, device)
        };
        Self {
            convolutions: [inputs, outputs].map(same),
            norms: [(); 2].map(|()| BatchNormConfig::new(outputs).init(device)),
            activations: [(); 2].map(|()| activation.init(Channels::First(outputs), device)),
            pool: MaxPool2dConfig::new([2, 2]).init(),
        }
    }

    fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let Self { convolutions, norms, activations, pool } = self;
        let x = max_pool2d(pool, conv2d(&convolutions[0], input));
        let x = batch_norm_activation(&norms[0], &activations[0], x);
        batch_norm_activation(&norms[1], &activations[1], conv2d(&convolutions[1], x))
    }
}

/// A classifier with the structure of airbench94 (Jordan, arXiv 2404.00498), with half of its widths by default:
/// whitened patches, three blocks of two 3×3 convolutions with a pool, the largest value of each channel, and
/// scaled logits. The defaults have 497,792 trainable parameters. Create it with [`AirbenchConfig`].
#[derive(Module, Debug)]
pub struct Airbench {
    whitening: PatchWhitening,
    activation: ActivationLayer,
    blocks: [Block; 3],
    output: Linear,
    #[module(skip)]
    scale: f64,
}

impl Airbench {
    /// Returns the logits of a batch. The statistics of the batch are only used on autodiff devices, as everywhere
    /// in Burn.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, channels, height, width]`
    /// - output: `[batch, classes]`
    ///
    /// # Panics
    ///
    /// If the images are smaller than 9 × 9, or have a different number of channels.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let [_, _, height, width] = images.dims();
        assert!(
            height >= SMALLEST_IMAGE && width >= SMALLEST_IMAGE,
            "an Airbench needs images of at least {SMALLEST_IMAGE} × {SMALLEST_IMAGE}, got {height} × {width}"
        );
        let x = self.activation.forward(self.whitening.forward(images));
        let x = self.blocks.iter().fold(x, |x, block| block.forward(x));
        let largest = x.max_dim(3).max_dim(2).squeeze_dims::<2>(&[2, 3]);
        layers::linear(&self.output, largest) * self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_airbench94_has_the_documented_parameters() {
        let config = AirbenchConfig::new();
        // There are two convolutions per block, two numbers per channel for each of the block's norms, and the
        // output.
        let convolutions = 9 * (24 * 32 + 32 * 32 + 32 * 128 + 3 * 128 * 128);
        assert_eq!(config.parameter_count(), convolutions + 4 * (32 + 128 + 128) + 1280);
        let device = Device::default();
        let model = config.init(PatchWhitening::identity(3, &device), &device);
        // Burn also counts the running means and variances, and the whitening.
        let fixed = 2 * 2 * (32 + 128 + 128) + 12 * 12 + 12;
        assert_eq!(model.num_params(), 497_792 + fixed);
    }

    #[test]
    fn any_size_maps_to_logits_and_the_whitening_is_part_of_the_record() {
        let device = Device::default();
        let config = AirbenchConfig::new().with_widths([3, 4, 5]).with_channels(1).with_classes(7);
        let fitted = PatchWhitening::from_parts(
            Tensor::<4>::ones([4, 1, 2, 2], &device) * 0.5,
            Tensor::ones([4], &device),
        );
        let model = config.init(fitted, &device);
        let empty = config.init(PatchWhitening::identity(1, &device), &device);
        let loaded = empty.load_record(model.clone().into_record());
        for (height, width) in [(9, 9), (10, 17), (32, 32)] {
            let images =
                Tensor::<1, burn::tensor::Int>::arange(0..(2 * height * width) as i64, &device);
            let images = images.float().reshape([2, 1, height, width]) / 100.0;
            let logits = model.forward(images.clone());
            assert_eq!(logits.dims(), [2, 7]);
            loaded.forward(images).into_data().assert_eq(&logits.into_data(), true);
        }
    }

    #[test]
    #[should_panic(expected = "at least 9 × 9, got 8 × 32")]
    fn smaller_images_are_refused() {
        let device = Device::default();
        let model = AirbenchConfig::new().init(PatchWhitening::identity(3, &device), &device);
        model.forward(Tensor::ones([1, 3, 8, 32], &device));
    }
}
