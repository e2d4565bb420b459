//! The tweet part-of-speech tagger of §3.3.
//!
//! ```text
//! [batch, 3 · d_word]  vectors of the left word, the word to tag, the right word
//!   → 2 × (linear to 256 → activation → dropout 0.2) → linear → [batch, 25]
//! ```
//!
//! It is an [`Mlp`](crate::Mlp) with these sizes and [unit-norm](crate::unit_norm_linear) weights.
//! With the word vectors of Owoputi et al. (2013), which have 50 numbers per word, it has 110,873
//! parameters.

use crate::MlpConfig;

/// The number of words that the tagger sees at once: the word to tag and its neighbours.
const WINDOW: usize = 3;
/// The number of tags in the annotated tweets of Gimpel et al. (2011).
const TAGS: usize = 25;

impl MlpConfig {
    /// Returns the configuration of the tweet tagger of §3.3 for word vectors of `d_word` numbers:
    /// `3 · d_word` inputs, two layers of 256, dropout 0.2, 25 tags.
    ///
    /// ```
    /// use gelu_models::MlpConfig;
    /// assert_eq!(MlpConfig::tagger(50).parameter_count(), 110_873);
    /// ```
    pub fn tagger(d_word: usize) -> Self {
        Self::new(WINDOW * d_word, TAGS).with_depth(2).with_width(256).with_dropout(0.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::Module;
    use burn::tensor::{Device, Tensor};

    #[test]
    fn paper_size_has_the_documented_parameters() {
        let config = MlpConfig::tagger(50);
        assert_eq!(config.parameter_count(), 151 * 256 + 257 * 256 + 257 * 25);
        assert_eq!(config.init(&Device::default()).num_params(), 110_873);
        assert_eq!(config.dropout, 0.2);
    }

    #[test]
    fn three_vectors_make_25_logits() {
        let device = Device::default();
        let logits =
            MlpConfig::tagger(4).init(&device).forward(Tensor::<2>::ones([7, 12], &device));
        assert_eq!(logits.dims(), [7, 25]);
    }
}
