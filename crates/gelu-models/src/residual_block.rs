//! The two kinds of residual blocks of [`WideResNet`](crate::WideResNet): the GELU paper's and the
//! original one.

use crate::init::{HE_NORMAL, HE_NORMAL_LINEAR, convolution};
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, PaddingConfig2d};
use burn::tensor::{Device, Tensor};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_training::layers::{batch_norm, batch_norm_activation, conv2d, dropout};

/// The layers of a residual block and their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockOrder {
    /// The order of the GELU paper, "to be charitable to ELUs" (§3.5):
    ///
    /// ```text
    /// y = norm(act(conv(dropout(act(conv(x)))))) + shortcut(x)
    /// ```
    Paper,
    /// The original order of Zagoruyko and Komodakis (arXiv 1605.07146):
    ///
    /// ```text
    /// h = act(norm(x));  y = conv(dropout(act(norm(conv(h))))) + (x, or shortcut(h) if widened)
    /// ```
    PreActivation,
}

/// The position of a block in the network.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlace {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) stride: usize,
    /// Whether the block is the first of its group.
    pub(crate) first: bool,
}

impl BlockOrder {
    /// Returns the number of trainable parameters of one block.
    pub(crate) fn parameter_count(self, place: BlockPlace) -> usize {
        let BlockPlace { inputs, outputs, .. } = place;
        let weights = 9 * (inputs + outputs) * outputs;
        let shortcut = if self.projects(place) { inputs * outputs } else { 0 };
        let others = match self {
            Self::Paper => 2 * outputs + 2 * outputs,
            Self::PreActivation => 2 * inputs + 2 * outputs,
        };
        weights + shortcut + others
    }

    /// Returns whether the shortcut is a 1×1 convolution. It is one where the shape changes, and in
    /// the paper's order also in the very first block.
    fn projects(self, place: BlockPlace) -> bool {
        match self {
            Self::Paper => place.first,
            Self::PreActivation => place.inputs != place.outputs,
        }
    }
}

/// Two 3×3 convolutions and the shortcut around them.
#[derive(Module, Debug)]
pub(crate) struct ResidualBlock {
    conv1: Conv2d,
    conv2: Conv2d,
    /// The paper's order has one norm, at the end; the original order has one before each
    /// convolution.
    norms: Vec<BatchNorm>,
    shortcut: Option<Conv2d>,
    dropout: Dropout,
    activations: [ActivationLayer; 2],
    #[module(skip)]
    order: BlockOrder,
}

impl ResidualBlock {
    /// Creates a block with He-normal convolutions. In the paper's order they have biases, because
    /// no norm comes between them and their activation; the shortcut has no bias.
    pub(crate) fn new(
        order: BlockOrder,
        place: BlockPlace,
        dropout: f64,
        activation: &Activation,
        device: &Device,
    ) -> Self {
        let BlockPlace { inputs, outputs, stride, .. } = place;
        let three_by_three = |inputs, stride| {
            let config = Conv2dConfig::new([inputs, outputs], [3, 3])
                .with_stride([stride, stride])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .with_bias(order == BlockOrder::Paper);
            convolution(config, HE_NORMAL, device)
        };
        let one_by_one = || {
            let config = Conv2dConfig::new([inputs, outputs], [1, 1])
                .with_stride([stride, stride])
                .with_bias(false);
            convolution(config, HE_NORMAL_LINEAR, device)
        };
        let (normed, activated) = match order {
            BlockOrder::Paper => (vec![outputs], [outputs, outputs]),
            BlockOrder::PreActivation => (vec![inputs, outputs], [inputs, outputs]),
        };
        Self {
            conv1: three_by_three(inputs, stride),
            conv2: three_by_three(outputs, 1),
            norms: normed.into_iter().map(|n| BatchNormConfig::new(n).init(device)).collect(),
            shortcut: order.projects(place).then(one_by_one),
            dropout: DropoutConfig::new(dropout).init(),
            activations: activated
                .map(|channels| activation.init(Channels::First(channels), device)),
            order,
        }
    }

    /// Returns the output of the block.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, inputs, height, width]`
    /// - output: `[batch, outputs, ⌈height / stride⌉, ⌈width / stride⌉]`
    pub(crate) fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let [first, second] = &self.activations;
        match self.order {
            BlockOrder::Paper => {
                let h = first.forward(conv2d(&self.conv1, x.clone()));
                let h = second.forward(conv2d(&self.conv2, dropout(&self.dropout, h)));
                batch_norm(&self.norms[0], h) + self.shortcut(x)
            }
            BlockOrder::PreActivation => {
                let h = batch_norm_activation(&self.norms[0], first, x.clone());
                let past = self.shortcut(if self.shortcut.is_some() { h.clone() } else { x });
                let h = batch_norm_activation(&self.norms[1], second, conv2d(&self.conv1, h));
                conv2d(&self.conv2, dropout(&self.dropout, h)) + past
            }
        }
    }

    fn shortcut(&self, x: Tensor<4>) -> Tensor<4> {
        match &self.shortcut {
            Some(projection) => conv2d(projection, x),
            None => x,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(order: BlockOrder, place: BlockPlace) -> ResidualBlock {
        ResidualBlock::new(order, place, 0.0, &Activation::Gelu, &Device::default())
    }

    fn place(inputs: usize, outputs: usize, stride: usize, first: bool) -> BlockPlace {
        BlockPlace { inputs, outputs, stride, first }
    }

    #[test]
    fn counted_parameters_are_those_a_block_has() {
        for order in [BlockOrder::Paper, BlockOrder::PreActivation] {
            for place in [place(3, 4, 1, true), place(4, 4, 1, false), place(4, 8, 2, true)] {
                let block = block(order, place);
                // Burn also counts the running mean and variance of each batch norm.
                let running: usize = block.norms.iter().map(|norm| 2 * norm.gamma.dims()[0]).sum();
                assert_eq!(block.num_params(), order.parameter_count(place) + running);
            }
        }
    }

    #[test]
    fn stride_halves_rounding_up() {
        for order in [BlockOrder::Paper, BlockOrder::PreActivation] {
            let device = Device::default();
            let block = block(order, place(2, 4, 2, true));
            let output = block.forward(Tensor::ones([1, 2, 8, 5], &device));
            assert_eq!(output.dims(), [1, 4, 4, 3]);
        }
    }

    #[test]
    fn identity_shortcut_passes_the_input_where_the_convolutions_give_nothing() {
        let device = Device::default();
        let mut block = block(BlockOrder::PreActivation, place(2, 2, 1, false));
        block.conv2.weight = block.conv2.weight.map(|weight| weight.zeros_like());
        let x = Tensor::<4>::random([2, 2, 3, 3], burn::tensor::Distribution::Default, &device);
        let output = block.forward(x.clone());
        assert_eq!((output - x).abs().max().into_scalar::<f32>(), 0.0);
    }

    #[test]
    fn first_block_of_the_paper_projects_though_no_shape_changes() {
        let projected = |order, place| block(order, place).shortcut.is_some();
        assert!(projected(BlockOrder::Paper, place(4, 4, 1, true)));
        assert!(!projected(BlockOrder::PreActivation, place(4, 4, 1, true)));
        assert!(!projected(BlockOrder::Paper, place(4, 4, 1, false)));
        assert!(projected(BlockOrder::PreActivation, place(4, 8, 2, true)));
    }
}
