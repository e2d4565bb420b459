use super::{Key, draw_of};
use burn_core::backend::{Backend, tensor::IntTensor};
use burn_core::tensor::Tensor;
use burn_nn::Dropout;
use gelu_kernels::random::Mask;

/// Dropout with a mask that depends on ([`Key`], position) alone: nothing is stored for the
/// backward pass, and every backend drops the same elements.
///
/// Element `i` of a tensor, counted in row-major order, is dropped if number `i` of the key's
/// sequence is less than probability · 2³², and otherwise multiplied by `1/(1 − probability)`.
#[derive(Clone, Debug)]
pub struct DropoutMask {
    pub(crate) key: Key,
    pub(crate) threshold: u32,
}

impl DropoutMask {
    /// Creates a mask with this probability, rounded to a multiple of 2⁻³².
    ///
    /// # Panics
    ///
    /// If the probability is not in `[0, 1)`.
    pub fn new(probability: f64, key: Key) -> Self {
        Self { key, threshold: Mask::threshold_of(probability) }
    }

    /// Returns a new mask for a forward pass of `input` through a layer if dropout is active by
    /// Burn's own conditions: in training, on an autodiff device.
    ///
    /// # Panics
    ///
    /// If the layer's probability is not in `[0, 1)`.
    pub fn due<const D: usize>(layer: &Dropout, input: &Tensor<D>) -> Option<Self> {
        let device = input.device();
        let due = layer.prob > 0.0 && layer.training.is_enabled() && device.is_autodiff();
        due.then(|| Self::new(layer.prob, Key::next(&device)))
    }
}

/// Returns the mask on the host. Reads the key, as [`draw_of`] does.
pub(crate) fn mask_of<B: Backend>(key: IntTensor<B>, threshold: u32) -> Mask {
    Mask::below(threshold, draw_of::<B>(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::Device;

    #[test]
    #[should_panic(expected = "lies in [0, 1), got 1")]
    fn dropping_everything_is_refused() {
        let _ = DropoutMask::new(1.0, Key::next(&Device::default()));
    }
}
