//! A small decoder-only GPT.

mod attention;
mod block;
mod sample;

use block::{Block, Norm};
use burn::config::Config;
use burn::module::Module;
use burn::nn::{Embedding, EmbeddingConfig, Initializer};
use burn::tensor::{Device, Int, Tensor};
use gelu_core::Activation;
use gelu_core::dispatch::reshaped;

/// The standard deviation of weights that do not write into the residual stream (Radford et al., 2019).
const WRITES: f64 = 0.02;

/// The normalisation before attention, before the position-wise network and before the logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GptNorm {
    /// Layer norm without a bias: `(x − mean)/√(variance + 1e-5)·γ`.
    Layer,
    /// Root mean square norm: `x/√(mean(x²) + 1e-5)·γ`.
    Rms,
}

/// The structure of a position-wise network.
#[derive(Config, Debug, PartialEq)]
pub enum GptMlp {
    /// A hidden layer that is 4 times as wide as its input, `down(f(up(x)))`.
    Plain(Activation),
    /// A gated unit, `down(f(gate(x))·up(x))`: GEGLU for GELU, SwiGLU for SiLU. Its hidden width is ⅔ of the
    /// plain network's. For widths of 64 and more, the numbers of parameters then differ by less than 1%.
    Gated(Activation),
    /// Like the plain network, with a [`PolyNorm`](gelu_core::PolyNorm) instead of the function.
    PolyNorm,
}

/// Configuration of a [`Gpt`]; the defaults are nanoGPT's for characters on a CPU.
#[derive(Config, Debug)]
pub struct GptConfig {
    /// The number of different tokens.
    pub vocabulary: usize,
    /// The number of tokens that the network sees at once.
    #[config(default = 64)]
    pub context: usize,
    /// The number of blocks.
    #[config(default = 4)]
    pub layers: usize,
    /// The number of attention heads in each block.
    #[config(default = 4)]
    pub heads: usize,
    /// The number of features of a token.
    #[config(default = 128)]
    pub width: usize,
    /// The structure of the position-wise networks.
    #[config(default = "GptMlp::Plain(Activation::Gelu)")]
    pub mlp: GptMlp,
    /// The normalisation.
    #[config(default = "GptNorm::Layer")]
    pub norm: GptNorm,
}

impl GptConfig {
    /// Creates a network with random weights from the device's generator: N(0, 0.02²), and N(0,
    /// 0.02²/(2·layers)) for weights that write into the residual stream.
    ///
    /// # Panics
    ///
    /// If a size is 0, or the width is not a multiple of the number of heads.
    pub fn init(&self, device: &Device) -> Gpt {
        let sizes = [self.vocabulary, self.context, self.heads, self.width];
        assert!(
            sizes.iter().all(|&size| size > 0) && self.width.is_multiple_of(self.heads),
            "a Gpt has a vocabulary, a context and a width that its heads share evenly, got {self:?}"
        );
        let embedding = |count| {
            let config = EmbeddingConfig::new(count, self.width);
            config.with_initializer(normal(WRITES)).init(device).materialize()
        };
        Gpt {
            tokens: embedding(self.vocabulary),
            positions: embedding(self.context),
            blocks: (0..self.layers).map(|_| Block::new(self, device)).collect(),
            norm: Norm::new(self, device),
        }
    }

    /// Returns the number of trainable parameters, without those of a learnable activation.
    pub fn parameter_count(&self) -> usize {
        let Self { vocabulary, context, layers, width, .. } = *self;
        let attention = 4 * width * width;
        let products = if matches!(self.mlp, GptMlp::Gated(_)) { 3 } else { 2 };
        let mlp = products * width * self.hidden();
        (vocabulary + context) * width + layers * (attention + mlp + 2 * width) + width
    }

    /// Returns the number of a block's hidden neurons: 4 times the width, or 8/3 times for gated units.
    fn hidden(&self) -> usize {
        match self.mlp {
            GptMlp::Gated(_) => (8 * self.width + 1) / 3,
            GptMlp::Plain(_) | GptMlp::PolyNorm => 4 * self.width,
        }
    }

    /// Returns the standard deviation of weights that write into the residual stream, which happens twice
    /// per block.
    fn residual_deviation(&self) -> f64 {
        WRITES / (2.0 * self.layers as f64).sqrt()
    }
}

fn normal(std: f64) -> Initializer {
    Initializer::Normal { mean: 0.0, std }
}

/// A small decoder-only transformer like nanoGPT (Radford et al., 2019), without biases or dropout.
///
/// ```text
/// [batch, length] → embedding of token + embedding of position
///   → layers × (x + attention(norm(x)), then x + mlp(norm(x)))
///   → norm → logits, by the weights of the tokens' embedding: [batch, length, vocabulary]
/// ```
///
/// With 65 tokens and the defaults it has 804,096 parameters. Create it with [`GptConfig`].
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use gelu_core::Activation;
/// use gelu_models::{GptConfig, GptMlp, GptNorm};
///
/// let device = Device::default();
/// let swiglu = GptMlp::Gated(Activation::Silu);
/// let llama_like = GptConfig::new(65).with_mlp(swiglu).with_norm(GptNorm::Rms);
/// let tokens = Tensor::<2, Int>::zeros([2, 64], &device);
/// assert_eq!(llama_like.init(&device).forward(tokens).dims(), [2, 64, 65]);
/// ```
///
/// The following code loads nanoGPT's weights, of a network with `bias=False`:
///
/// ```no_run
/// # use burn::tensor::Device;
/// # use gelu_models::{GptConfig, StateDict};
/// # let mut model = GptConfig::new(65).init(&Device::default());
/// StateDict::open("nanogpt.safetensors")?
///     .map_names(|name| {
///         let ours = [
///             ("transformer.", ""), ("wte.", "tokens."), ("wpe.", "positions."), ("h.", "blocks."),
///             ("ln_1.", "attention_norm."), ("attn.c_attn.", "attention.qkv."),
///             ("attn.c_proj.", "attention.output."), ("ln_2.", "mlp_norm."),
///             ("mlp.c_fc.", "mlp.linear_inner."), ("mlp.c_proj.", "mlp.linear_outer."),
///             ("ln_f.", "norm."),
///         ];
///         let rename = |name: String, (theirs, ours): &(&str, &str)| name.replace(theirs, ours);
///         // The head has the embedding's weights.
///         (!name.starts_with("lm_head")).then(|| ours.iter().fold(name.to_owned(), rename))
///     })?
///     .load_into(&mut model)?;
/// # Ok::<(), gelu_models::StateDictError>(())
/// ```
#[derive(Module, Debug)]
pub struct Gpt {
    tokens: Embedding,
    positions: Embedding,
    blocks: Vec<Block>,
    norm: Norm,
}

impl Gpt {
    /// Returns, for each position, the logits of the token that follows it.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, length]`, each smaller than the vocabulary
    /// - output: `[batch, length, vocabulary]`
    ///
    /// # Panics
    ///
    /// If there are more tokens than the context allows.
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [batch, length] = tokens.dims();
        let context = self.context();
        assert!(length <= context, "a Gpt of {context} places got {length} tokens");
        // The positions are cut from a row, because Burn cannot make a row of an empty tensor.
        let row = Tensor::<1, Int>::arange(0..context as i64, &tokens.device()).unsqueeze::<2>();
        let places = row.slice([0..1, 0..length]);
        let x = self.tokens.forward(tokens) + self.positions.forward(places);
        let x = self.norm.forward(self.blocks.iter().fold(x, |x, block| block.forward(x)));
        let [vocabulary, width] = self.tokens.weight.dims();
        let logits =
            reshaped(x, [batch * length, width]).matmul(self.tokens.weight.val().transpose());
        reshaped(logits, [batch, length, vocabulary])
    }

    /// Returns the number of tokens that the network sees at once.
    pub fn context(&self) -> usize {
        self.positions.weight.dims()[0]
    }
}

#[cfg(test)]
mod tests;
