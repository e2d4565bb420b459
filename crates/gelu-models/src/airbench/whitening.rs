use burn::module::{Module, RunningState};
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor};

/// Height and width of a patch.
pub(super) const PATCH: usize = 2;

/// A convolution that whitens the patches of 2×2 pixels of a picture, and its negation: the fixed first layer
/// of an [`Airbench`](super::Airbench).
///
/// With the mean m of all patches, seen as vectors of `4 · channels` numbers, and their covariance U·Λ·Uᵀ it
/// computes (Λ + ε)^(−1/2)·Uᵀ·(p − m) of every patch p, and behind it the same negated, so that an activation
/// that loses one sign loses nothing. The rows of Uᵀ stand in the order of falling eigenvalues.
///
/// Fitted by `PatchWhitening::fit` of the feature `zca-fit`. It is a module without parameters to train, so that
/// it is saved and loaded as a part of its network. Source: Jordan, arXiv 2404.00498, section 3.2, after Page's
/// "How to train your ResNet 8" (2019).
#[derive(Module, Debug)]
pub struct PatchWhitening {
    weight: RunningState<Tensor<4>>,
    bias: RunningState<Tensor<1>>,
}

impl PatchWhitening {
    /// The whitening with these filters, and what is added to each one's output.
    ///
    /// # Shapes
    ///
    /// - weight: `[4 · channels, channels, 2, 2]`
    /// - bias: `[4 · channels]`
    ///
    /// # Panics
    ///
    /// If the shapes are others.
    pub fn from_parts(weight: Tensor<4>, bias: Tensor<1>) -> Self {
        let [filters, channels, height, width] = weight.dims();
        assert!(
            [height, width] == [PATCH; 2]
                && filters == PATCH * PATCH * channels
                && bias.dims() == [filters],
            "a whitening of patches has filters of shape [4 · channels, channels, 2, 2] and as many biases, \
             got {:?} and {:?}",
            weight.dims(),
            bias.dims()
        );
        Self { weight: RunningState::new(weight), bias: RunningState::new(bias) }
    }

    /// One filter a pixel and channel, as they are: what a saved whitening is loaded into.
    pub fn identity(channels: usize, device: &Device) -> Self {
        let filters = PATCH * PATCH * channels;
        let weight = Tensor::<2>::eye(filters, device).reshape([filters, channels, PATCH, PATCH]);
        Self::from_parts(weight, Tensor::zeros([filters], device))
    }

    /// Channels of the pictures.
    pub fn channels(&self) -> usize {
        self.weight.value().dims()[1]
    }

    /// Channels that it makes: `8 · channels`.
    pub fn outputs(&self) -> usize {
        2 * self.weight.value().dims()[0]
    }

    /// Whitens the patches of a batch.
    ///
    /// # Shapes
    ///
    /// - input: `[batch, channels, height, width]`
    /// - output: `[batch, 8 · channels, height − 1, width − 1]`
    ///
    /// # Panics
    ///
    /// If the pictures have other channels, or no patch.
    pub fn forward(&self, pictures: Tensor<4>) -> Tensor<4> {
        let options = ConvOptions::new([1, 1], [0, 0], [1, 1], 1);
        let white = conv2d(pictures, self.weight.value(), Some(self.bias.value()), options);
        Tensor::cat(vec![white.clone(), white.neg()], 1)
    }
}
