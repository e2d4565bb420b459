//! The TIMIT frame classifier of §3.4 (Figure 5).
//!
//! ```text
//! [batch, 286]  11 frames of 26 coefficients, the frame to label in the middle
//!   → 5 × (linear to 2048 → activation → dropout 0.5) → linear → [batch, 39]
//! ```
//!
//! It is an [`Mlp`](crate::Mlp) with these sizes, [unit-norm](crate::unit_norm_linear) weights and
//! 17,453,095 parameters.

use crate::MlpConfig;

/// The number of frames that the classifier sees at once.
const FRAMES: usize = 11;
/// The number of features per frame: 12 mel-frequency cepstral coefficients and the energy, and the
/// derivative of each.
const COEFFICIENTS: usize = 26;
/// The number of classes: TIMIT's 61 phones, merged in the standard way.
const PHONES: usize = 39;

impl MlpConfig {
    /// Returns the configuration of the frame classifier of §3.4: 286 inputs, five layers of 2048,
    /// dropout 0.5, 39 phones.
    ///
    /// ```
    /// use gelu_models::MlpConfig;
    /// assert_eq!(MlpConfig::frame_classifier().parameter_count(), 17_453_095);
    /// ```
    pub fn frame_classifier() -> Self {
        Self::new(FRAMES * COEFFICIENTS, PHONES).with_depth(5).with_width(2048).with_dropout(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::Module;
    use burn::tensor::{Device, Tensor};

    #[test]
    fn paper_size_has_the_documented_parameters() {
        let config = MlpConfig::frame_classifier();
        let count = 287 * 2048 + 4 * 2049 * 2048 + 2049 * 39;
        assert_eq!(config.parameter_count(), count);
        assert_eq!(config.init(&Device::default()).num_params(), 17_453_095);
        assert_eq!(config.dropout, 0.5);
    }

    #[test]
    fn eleven_frames_make_39_logits() {
        let device = Device::default();
        let model = MlpConfig::frame_classifier().with_width(3).init(&device);
        assert_eq!(model.forward(Tensor::<2>::ones([4, 286], &device)).dims(), [4, 39]);
    }
}
