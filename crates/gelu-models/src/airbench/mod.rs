//! A network of the shape of airbench94, of our own writing, by default at half its widths.
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
//! A block is 3×3 convolution → 2×2 max-pool → batch norm → activation → 3×3 convolution → batch norm →
//! activation, the convolutions same and without bias. 497,792 trainable parameters; airbench94 has 64, 256 and
//! 256 channels (Jordan, arXiv 2404.00498).
//!
//! Unlike there, batch norms are Burn's, with scales that are trained, weights are He-normal throughout, and the
//! whitening subtracts the mean patch in place of a bias that is trained for a while.

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

/// Smallest height and width that the whitening and three pools leave a pixel of.
const SMALLEST_IMAGE: usize = 9;

/// Configuration of an [`Airbench`]; the defaults are half of airbench94's widths.
///
/// ```
/// use gelu_models::AirbenchConfig;
/// assert_eq!(AirbenchConfig::new().parameter_count(), 497_792);
/// ```
#[derive(Config, Debug)]
pub struct AirbenchConfig {
    /// Number of classes.
    #[config(default = 10)]
    pub classes: usize,
    /// Channels of the images.
    #[config(default = 3)]
    pub channels: usize,
    /// Channels of the three blocks.
    #[config(default = "[32, 128, 128]")]
    pub widths: [usize; 3],
    /// What the outputs are multiplied by: so small that training begins with next to equal
    /// probabilities.
    #[config(default = "1.0 / 9.0")]
    pub scale: f64,
    /// The nonlinearity of every convolution.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
}

impl AirbenchConfig {
    /// A network behind a whitening, with weights drawn from the device's generator. Without one that was
    /// fitted, [`PatchWhitening::identity`] is what a record is loaded into.
    ///
    /// # Panics
    ///
    /// If a size is 0, the scale is not finite, or the whitening is one of other channels.
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

    /// Number of trainable parameters: the weights, and two a channel for each batch norm. The whitening is not
    /// trained. (A learnable activation adds its own.)
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

/// A classifier of the shape of airbench94 (Jordan, arXiv 2404.00498), by default at half its widths: whitened
/// patches, three blocks of two 3×3 convolutions with a pool, the largest value of each channel, scaled logits. The
/// defaults have 497,792 trainable parameters. Made by [`AirbenchConfig`].
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
    /// Logits of a batch. The batch's own statistics act on autodiff devices alone, as everywhere in Burn.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, channels, height, width]`
    /// - output: `[batch, classes]`
    ///
    /// # Panics
    ///
    /// If the images are smaller than 9 × 9, or have another number of channels.
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
        // Two convolutions a block, two numbers a channel for each of its norms, and the output.
        let convolutions = 9 * (24 * 32 + 32 * 32 + 32 * 128 + 3 * 128 * 128);
        assert_eq!(config.parameter_count(), convolutions + 4 * (32 + 128 + 128) + 1280);
        let device = Device::default();
        let model = config.init(PatchWhitening::identity(3, &device), &device);
        // Burn counts the running means and variances, and the whitening, too.
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
