//! The wide residual network of §3.5 (Figure 7), and the original network that it is compared with.
//!
//! ```text
//! [batch, 3, 32, 32]
//!   → stem: 3×3 convolution, 16                                       [16, 32, 32]
//!       (paper's order: → batch norm → activation → batch norm)
//!   → n residual blocks, 16 · width, stride 1                         [64, 32, 32]
//!   → n residual blocks, 32 · width, stride 2 in the first            [128, 16, 16]
//!   → n residual blocks, 64 · width, stride 2 in the first            [256, 8, 8]
//!   → batch norm → activation → global average pool → linear → [batch, classes]
//! ```
//!
//! Shapes are for width 4, and n = (depth − 4) / 6, so 40 layers have groups of 6 blocks. See
//! [`BlockOrder`] for the blocks. With 100 classes the 40-4 network has 8,972,884 trainable
//! parameters in the paper's order and 8,972,340 in the original order.
//!
//! Where the paper gives no details, this follows the authors' code: the stem, the projection in
//! the very first block, and the biases in the paper's blocks. There are two deviations. Shortcuts
//! are He-normal like all other weights; the code left them at Lasagne's default, Glorot-uniform.
//! Batch norm's ε is 1e-5, the default of Burn and PyTorch, instead of Lasagne's 1e-4, so that
//! weights can be exchanged with a plain twin.

use crate::init::{HE_NORMAL, HE_NORMAL_LINEAR, convolution, linear};
use crate::residual_block::{BlockOrder, BlockPlace, ResidualBlock};
use burn::config::Config;
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::{Device, Tensor};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_training::layers::{self, batch_norm, batch_norm_activation, conv2d};

/// Configuration of a [`WideResNet`]; the defaults are the paper's.
///
/// ```
/// use gelu_models::{BlockOrder, WideResNetConfig};
/// let paper = WideResNetConfig::wrn_40_4(100);
/// assert_eq!(paper.parameter_count(), 8_972_884);
/// let original = paper.with_order(BlockOrder::PreActivation).with_dropout(0.0);
/// assert_eq!(original.parameter_count(), 8_972_340);
/// ```
#[derive(Config, Debug)]
pub struct WideResNetConfig {
    /// The number of classes.
    pub classes: usize,
    /// The number of layers as the literature counts them: 6n + 4.
    #[config(default = 40)]
    pub depth: usize,
    /// The widening factor.
    #[config(default = 4)]
    pub width: usize,
    /// The number of channels of the images.
    #[config(default = 3)]
    pub channels: usize,
    /// The number of channels of the stem; the groups have `width`, `2 · width` and `4 · width`
    /// times as many.
    #[config(default = 16)]
    pub stem: usize,
    /// The probability of dropping a value between a block's convolutions in training.
    #[config(default = 0.3)]
    pub dropout: f64,
    /// The order of layers in the residual blocks.
    #[config(default = "BlockOrder::Paper")]
    pub order: BlockOrder,
    /// The activation.
    #[config(default = "Activation::Gelu")]
    pub activation: Activation,
}

impl WideResNetConfig {
    /// Returns the configuration of the paper's network for CIFAR-100: 40 layers, four times as
    /// wide.
    pub fn wrn_40_4(classes: usize) -> Self {
        Self::new(classes)
    }

    /// Creates a network with random weights from the device's generator. They are He-normal (with
    /// gain 1 where no nonlinearity follows), biases and means are 0, scales and variances are 1.
    ///
    /// # Panics
    ///
    /// If `depth` is not 6n + 4 with n ≥ 1, a size is 0, or `dropout` is not in `[0, 1)`.
    pub fn init(&self, device: &Device) -> WideResNet {
        assert!(
            self.depth >= 10 && (self.depth - 4).is_multiple_of(6),
            "the depth of a WideResNet has to be 6n + 4 (10, 16, 22, 28, 34, 40, …), got {}",
            self.depth
        );
        assert!(
            self.classes > 0 && self.width > 0 && self.channels > 0 && self.stem > 0,
            "every layer of a WideResNet needs at least one channel, got {self:?}"
        );
        let norm = |channels| BatchNormConfig::new(channels).init(device);
        let stem = Conv2dConfig::new([self.channels, self.stem], [3, 3])
            .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
            .with_bias(false);
        let stem_norms = match self.order {
            BlockOrder::Paper => vec![norm(self.stem), norm(self.stem)],
            BlockOrder::PreActivation => Vec::new(),
        };
        let block =
            |place| ResidualBlock::new(self.order, place, self.dropout, &self.activation, device);
        let activated = match self.order {
            BlockOrder::Paper => vec![self.stem, self.features()],
            BlockOrder::PreActivation => vec![self.features()],
        };
        WideResNet {
            stem: convolution(stem, HE_NORMAL, device),
            stem_norms,
            groups: self.groups().map(|places| places.into_iter().map(block).collect()),
            norm: norm(self.features()),
            output: linear(
                LinearConfig::new(self.features(), self.classes),
                HE_NORMAL_LINEAR,
                device,
            ),
            activations: activated
                .iter()
                .map(|&n| self.activation.init(Channels::First(n), device))
                .collect(),
        }
    }

    /// Returns the number of trainable parameters: weights, biases, and two per channel for each
    /// batch norm. Running means and variances, and the parameters of a learnable activation, are
    /// not included.
    pub fn parameter_count(&self) -> usize {
        let stem = self.stem * 9 * self.channels
            + match self.order {
                BlockOrder::Paper => 2 * 2 * self.stem,
                BlockOrder::PreActivation => 0,
            };
        let places = self.groups();
        let blocks = places.iter().flatten().map(|&place| self.order.parameter_count(place));
        let features = self.features();
        stem + blocks.sum::<usize>() + 2 * features + (features + 1) * self.classes
    }

    /// Returns the number of channels after the last group.
    fn features(&self) -> usize {
        4 * self.width * self.stem
    }

    /// Returns the position of each block of the three groups.
    fn groups(&self) -> [Vec<BlockPlace>; 3] {
        let blocks = self.depth.saturating_sub(4) / 6;
        let narrow = self.width * self.stem;
        [(self.stem, narrow, 1), (narrow, 2 * narrow, 2), (2 * narrow, 4 * narrow, 2)].map(
            |(inputs, outputs, stride)| {
                let first = BlockPlace { inputs, outputs, stride, first: true };
                let next = BlockPlace { inputs: outputs, outputs, stride: 1, first: false };
                (0..blocks).map(|index| if index == 0 { first } else { next }).collect()
            },
        )
    }
}

/// A wide residual network (Zagoruyko and Komodakis, arXiv 1605.07146), with or without the paper's
/// changes. Create it with [`WideResNetConfig`].
#[derive(Module, Debug)]
pub struct WideResNet {
    stem: Conv2d,
    /// The paper's order has one norm before the stem's activation and one after it; the original
    /// order has none.
    stem_norms: Vec<BatchNorm>,
    groups: [Vec<ResidualBlock>; 3],
    norm: BatchNorm,
    output: Linear,
    /// In the paper's order, the stem's activation comes first. The last one acts after the groups.
    activations: Vec<ActivationLayer>,
}

impl WideResNet {
    /// Returns the logits of a batch. Dropout and the statistics of the batch are only used on
    /// autodiff devices, as everywhere in Burn.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, channels, height, width]`, any size
    /// - output: `[batch, classes]`
    ///
    /// # Panics
    ///
    /// If the images have a different number of channels.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let x = conv2d(&self.stem, images);
        let (last, stem) =
            self.activations.split_last().expect("there is one after the groups in any order");
        let x = match (self.stem_norms.as_slice(), stem) {
            ([before, after], [activation]) => {
                batch_norm(after, batch_norm_activation(before, activation, x))
            }
            _ => x,
        };
        let blocks = self.groups.iter().flatten();
        let x = blocks.fold(x, |x, block| block.forward(x));
        let x = batch_norm_activation(&self.norm, last, x);
        layers::linear(&self.output, x.mean_dims(&[2, 3]).squeeze_dims::<2>(&[2, 3]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny(order: BlockOrder) -> WideResNetConfig {
        WideResNetConfig::new(5)
            .with_depth(10)
            .with_width(1)
            .with_stem(2)
            .with_dropout(0.0)
            .with_order(order)
    }

    #[test]
    fn paper_size_has_the_documented_parameters() {
        let config = WideResNetConfig::wrn_40_4(100);
        // The sum consists of the stem and two norms, of a first block and five more for each
        // group, and of the last norm and the linear layer.
        let stem = 27 * 16 + 4 * 16;
        let group = |inputs: usize, outputs: usize| {
            let next = 2 * (9 * outputs + 1) * outputs + 2 * outputs;
            let first = (9 * inputs + 1 + 9 * outputs + 1 + 2 + inputs) * outputs;
            first + 5 * next
        };
        let groups = group(16, 64) + group(64, 128) + group(128, 256);
        assert_eq!(config.parameter_count(), stem + groups + 512 + 257 * 100);
        let model = config.init(&Device::default());
        assert_eq!(model.groups.each_ref().map(Vec::len), [6, 6, 6]);
        // Burn also counts the running means and variances.
        let normed = 2 * 16 + 6 * (64 + 128 + 256) + 256;
        assert_eq!(model.num_params(), 8_972_884 + 2 * normed);
    }

    #[test]
    fn original_order_has_the_parameters_of_the_original_network() {
        // This is the count of the PyTorch twin (tests/pytorch/generate.py); the source paper says
        // "8.9M".
        let config = WideResNetConfig::wrn_40_4(100).with_order(BlockOrder::PreActivation);
        assert_eq!(config.parameter_count(), 8_972_340);
    }

    #[test]
    fn every_image_size_maps_to_logits() {
        let device = Device::default();
        for order in [BlockOrder::Paper, BlockOrder::PreActivation] {
            let model = tiny(order).with_depth(16).init(&device);
            for (height, width) in [(1, 1), (7, 10), (32, 32)] {
                let logits = model.forward(Tensor::ones([2, 3, height, width], &device));
                assert_eq!(logits.dims(), [2, 5]);
            }
        }
    }

    #[test]
    fn groups_widen_and_halve() {
        let device = Device::default();
        let model = tiny(BlockOrder::Paper).init(&device);
        let mut x = model.stem.forward(Tensor::ones([1, 3, 32, 32], &device));
        for (group, expected) in model.groups.iter().zip([[2, 32], [4, 16], [8, 8]]) {
            x = group.iter().fold(x, |x, block| block.forward(x));
            let [_, channels, height, width] = x.dims();
            assert_eq!([channels, height], expected);
            assert_eq!(height, width);
        }
    }

    #[test]
    fn dropout_acts_in_training_alone() {
        let training = Device::default().autodiff();
        let change = |model: &WideResNet, device: &Device| {
            let ramp = Tensor::arange(0..2 * 3 * 64, device).float() / 100.0;
            let images: Tensor<4> = ramp.reshape([2, 3, 8, 8]);
            let change = model.forward(images.clone()) - model.forward(images);
            change.abs().max().into_scalar::<f32>()
        };
        for order in [BlockOrder::Paper, BlockOrder::PreActivation] {
            assert_eq!(change(&tiny(order).init(&training), &training), 0.0);
            let model = tiny(order).with_dropout(0.3).init(&training);
            assert!(change(&model, &training) > 1e-6);
            assert_eq!(change(&model.valid(), &Device::default()), 0.0);
        }
    }

    #[test]
    fn learnable_activation_has_a_mean_and_a_width_for_every_channel_it_acts_on() {
        // The channels are at the stem, in three blocks of two activations, and after the groups.
        let channels = [(BlockOrder::Paper, 2 + 2 * (2 + 4 + 8) + 8)];
        let pre_activated = (BlockOrder::PreActivation, (2 + 2) + (2 + 4) + (4 + 8) + 8);
        for (order, channels) in channels.into_iter().chain([pre_activated]) {
            let count = |activation| {
                tiny(order).with_activation(activation).init(&Device::default()).num_params()
            };
            let more = count(Activation::LearnableGelu) - count(Activation::Gelu);
            assert_eq!(more, 2 * channels);
        }
    }

    #[test]
    #[should_panic(expected = "has to be 6n + 4")]
    fn other_depths_are_refused() {
        WideResNetConfig::new(10).with_depth(41).init(&Device::default());
    }
}
