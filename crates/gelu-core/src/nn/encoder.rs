use super::FeedForward;
use crate::Activation;
use alloc::vec::Vec;
use burn::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn::tensor::{Bool, Tensor};
use burn_core as burn;
use burn_nn::attention::{MhaInput, MultiHeadAttention};
use burn_nn::transformer::{TransformerEncoder, TransformerEncoderLayer};
use burn_nn::{Dropout, LayerNorm};

/// A layer of a transformer's encoder with any [`Activation`]: `burn::nn::transformer::TransformerEncoderLayer`
/// with a [`FeedForward`] inside. Convert one of Burn's layers, or a whole encoder into an [`Encoder`].
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct EncoderLayer {
    /// The self-attention.
    pub mha: MultiHeadAttention,
    /// The position-wise network.
    pub pwff: FeedForward,
    /// The norm before the position-wise network, or after the attention if `norm_first` is false.
    pub norm_1: LayerNorm,
    /// The norm before the attention, or after the position-wise network if `norm_first` is false.
    pub norm_2: LayerNorm,
    /// The dropout of the branches that are added to the shortcuts, in training.
    pub dropout: Dropout,
    /// Whether each norm comes before its branch, instead of after the branch's sum with the shortcut.
    pub norm_first: bool,
}

impl From<TransformerEncoderLayer> for EncoderLayer {
    fn from(layer: TransformerEncoderLayer) -> Self {
        let TransformerEncoderLayer { mha, pwff, norm_1, norm_2, dropout, norm_first } = layer;
        Self { mha, pwff: pwff.into(), norm_1, norm_2, dropout, norm_first }
    }
}

impl EncoderLayer {
    /// Returns the layer with another activation and the same weights.
    pub fn with_activation(self, activation: &Activation) -> Self {
        Self { pwff: self.pwff.with_activation(activation), ..self }
    }

    /// Returns the layer's outputs. The attention ignores positions that are true in a mask.
    ///
    /// # Shapes
    ///
    /// - input and output: `[batch, sequence, d_model]`
    /// - mask_pad: `[batch, sequence]`
    /// - mask_attn: `[batch, sequence, sequence]`
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is not `d_model`.
    pub fn forward(
        &self,
        input: Tensor<3>,
        mask_pad: Option<Tensor<2, Bool>>,
        mask_attn: Option<Tensor<3, Bool>>,
    ) -> Tensor<3> {
        let attend = |x| {
            let mut input = MhaInput::self_attn(x);
            if let Some(mask) = mask_pad {
                input = input.mask_pad(mask);
            }
            if let Some(mask) = mask_attn {
                input = input.mask_attn(mask);
            }
            self.dropout.forward(self.mha.forward(input).context)
        };
        let feed = |x| self.dropout.forward(self.pwff.forward(x));
        if self.norm_first {
            let x = input.clone() + attend(self.norm_2.forward(input));
            x.clone() + feed(self.norm_1.forward(x))
        } else {
            let x = self.norm_1.forward(input.clone() + attend(input));
            self.norm_2.forward(x.clone() + feed(x))
        }
    }
}

impl ModuleDisplay for EncoderLayer {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [d_model, d_ff] = self.pwff.linear_inner.weight.dims();
        content
            .add("d_model", &d_model)
            .add("d_ff", &d_ff)
            .add("n_heads", &self.mha.n_heads)
            .add("activation", &self.pwff.activation.name())
            .add("dropout", &self.dropout.prob)
            .add("norm_first", &self.norm_first)
            .optional()
    }
}

/// A transformer's encoder with any [`Activation`]: `burn::nn::transformer::TransformerEncoder` with
/// [`EncoderLayer`]s, because Burn's own list of activations is closed. Convert one of Burn's encoders, whether
/// new, trained or pretrained. Records load in both directions.
///
/// Burn's cache for token-by-token inference is closed, too, so this encoder has none.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::transformer::TransformerEncoderConfig;
/// use burn::tensor::{Device, Tensor};
/// use gelu_core::{Activation, Encoder};
///
/// let device = Device::default();
/// let config = TransformerEncoderConfig::new(8, 32, 2, 3);
/// let pretrained = config.init(&device);
/// let record = pretrained.clone().into_record();
///
/// let encoder = Encoder::from(pretrained).with_activation(&Activation::SquaredRelu);
/// let y = encoder.forward(Tensor::ones([2, 5, 8], &device), None, None);
/// assert_eq!(y.dims(), [2, 5, 8]);
///
/// let encoder = encoder.load_record(record);
/// let burns = config.init(&device).load_record(encoder.into_record());
/// # let _ = burns;
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Encoder {
    /// The layers, beginning with the one next to the input.
    pub layers: Vec<EncoderLayer>,
}

impl From<TransformerEncoder> for Encoder {
    fn from(encoder: TransformerEncoder) -> Self {
        Self { layers: encoder.layers.into_iter().map(EncoderLayer::from).collect() }
    }
}

impl Encoder {
    /// Returns the encoder with another activation in every layer and the same weights.
    pub fn with_activation(self, activation: &Activation) -> Self {
        let layers = self.layers.into_iter();
        Self { layers: layers.map(|layer| layer.with_activation(activation)).collect() }
    }

    /// Returns the last layer's outputs. The attention ignores positions that are true in a mask.
    ///
    /// # Shapes
    ///
    /// - input and output: `[batch, sequence, d_model]`
    /// - mask_pad: `[batch, sequence]`
    /// - mask_attn: `[batch, sequence, sequence]`
    ///
    /// # Panics
    ///
    /// If the last dimension of the input is not `d_model`.
    pub fn forward(
        &self,
        input: Tensor<3>,
        mask_pad: Option<Tensor<2, Bool>>,
        mask_attn: Option<Tensor<3, Bool>>,
    ) -> Tensor<3> {
        let next = |x, layer: &EncoderLayer| layer.forward(x, mask_pad.clone(), mask_attn.clone());
        self.layers.iter().fold(input, next)
    }
}

impl ModuleDisplay for Encoder {
    fn custom_content(&self, content: Content) -> Option<Content> {
        content.add("layers", &self.layers).optional()
    }
}

#[cfg(test)]
mod tests;
