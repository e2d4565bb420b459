use burn::module::{Module, RunningState};
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor};

/// The height and width of a patch.
pub(super) const PATCH: usize = 2;

/// A convolution that whitens the 2×2 patches of an image, together with its negation: the fixed first layer of
/// an [`Airbench`](super::Airbench).
///
/// Patches are vectors of `4 · channels` numbers, with mean m and covariance U·Λ·Uᵀ. For every patch p, the
/// layer outputs (Λ + ε)^(−1/2)·Uᵀ·(p − m), followed by the negation of these numbers, so that an activation
/// that drops one sign loses nothing. The rows of Uᵀ are sorted by descending eigenvalues.
///
/// `PatchWhitening::fit`, with the feature `zca-fit`, fits it. It is a module without trainable parameters, so
/// it is saved and loaded as part of its network. Source: Jordan, arXiv 2404.00498, section 3.2, after Page's
/// "How to train your ResNet 8" (2019).
#[derive(Module, Debug)]
pub struct PatchWhitening {
    weight: RunningState<Tensor<4>>,
    bias: RunningState<Tensor<1>>,
}

impl PatchWhitening {
    /// Creates the whitening from filters, and from the numbers that are added to the filters' outputs.
    ///
    /// # Shapes
    ///
    /// - weight: `[4 · channels, channels, 2, 2]`
    /// - bias: `[4 · channels]`
    ///
    /// # Panics
    ///
    /// If the shapes differ from these.
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

    /// Creates filters that copy one pixel and channel each. Load a saved whitening into this one.
    pub fn identity(channels: usize, device: &Device) -> Self {
        let filters = PATCH * PATCH * channels;
        let weight = Tensor::<2>::eye(filters, device).reshape([filters, channels, PATCH, PATCH]);
        Self::from_parts(weight, Tensor::zeros([filters], device))
    }

    /// Returns the number of channels of the images.
    pub fn channels(&self) -> usize {
        self.weight.value().dims()[1]
    }

    /// Returns the number of channels of the result: `8 · channels`.
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
    /// If the images have a different number of channels, or are smaller than a patch.
    pub fn forward(&self, pictures: Tensor<4>) -> Tensor<4> {
        let options = ConvOptions::new([1, 1], [0, 0], [1, 1], 1);
        let white = conv2d(pictures, self.weight.value(), Some(self.bias.value()), options);
        Tensor::cat(vec![white.clone(), white.neg()], 1)
    }
}
