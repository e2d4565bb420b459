//! A small GPT, decoder-only.

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

/// Standard deviation of the weights that do not write into the residual stream (Radford et al., 2019).
const WRITES: f64 = 0.02;

/// What is normalised before attention, before the position-wise network and before the logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GptNorm {
    /// Layer norm without a bias: `(x − mean)/√(variance + 1e-5)·γ`.
    Layer,
    /// Root mean square norm: `x/√(mean(x²) + 1e-5)·γ`.
    Rms,
}

/// What a position-wise network is made of.
#[derive(Config, Debug, PartialEq)]
pub enum GptMlp {
    /// A hidden layer 4 times as wide as its input, `down(f(up(x)))`.
    Plain(Activation),
    /// A gated unit, `down(f(gate(x))·up(x))`: GEGLU for GELU, SwiGLU for SiLU. Its hidden width is ⅔ of the
    /// plain one, which makes the parameters as many within 1 % from a width of 64 on.
    Gated(Activation),
    /// As the plain one, with a [`PolyNorm`](gelu_core::PolyNorm) in the function's place.
    PolyNorm,
}

/// Configuration of a [`Gpt`]; the defaults are nanoGPT's for characters on a CPU.
#[derive(Config, Debug)]
pub struct GptConfig {
    /// How many different tokens there are.
    pub vocabulary: usize,
    /// How many tokens it sees at once.
    #[config(default = 64)]
    pub context: usize,
    /// Number of blocks.
    #[config(default = 4)]
    pub layers: usize,
    /// Heads of attention in each.
    #[config(default = 4)]
    pub heads: usize,
    /// Features of a token.
    #[config(default = 128)]
    pub width: usize,
    /// The position-wise networks.
    #[config(default = "GptMlp::Plain(Activation::Gelu)")]
    pub mlp: GptMlp,
    /// The normalisation.
    #[config(default = "GptNorm::Layer")]
    pub norm: GptNorm,
}

impl GptConfig {
    /// A network whose weights are drawn from the device's generator: N(0, 0.02²), those that write into
    /// the residual stream N(0, 0.02²/(2·layers)).
    ///
    /// # Panics
    ///
    /// If a size is 0, or the width is no multiple of the number of heads.
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

    /// Number of trainable parameters; a nonlinearity that learns adds its own.
    pub fn parameter_count(&self) -> usize {
        let Self { vocabulary, context, layers, width, .. } = *self;
        let attention = 4 * width * width;
        let products = if matches!(self.mlp, GptMlp::Gated(_)) { 3 } else { 2 };
        let mlp = products * width * self.hidden();
        (vocabulary + context) * width + layers * (attention + mlp + 2 * width) + width
    }

    /// Hidden neurons of a block: 4 times the width, or 8/3 where each has a gate.
    fn hidden(&self) -> usize {
        match self.mlp {
            GptMlp::Gated(_) => (8 * self.width + 1) / 3,
            GptMlp::Plain(_) | GptMlp::PolyNorm => 4 * self.width,
        }
    }

    /// Standard deviation of the weights that write into the residual stream, twice a block.
    fn residual_deviation(&self) -> f64 {
        WRITES / (2.0 * self.layers as f64).sqrt()
    }
}

fn normal(std: f64) -> Initializer {
    Initializer::Normal { mean: 0.0, std }
}

/// A small decoder-only transformer, as nanoGPT has it (Radford et al., 2019), without biases or dropout.
///
/// ```text
/// [batch, length] → embedding of token + embedding of place
///   → layers × (x + attention(norm(x)), then x + mlp(norm(x)))
///   → norm → logits, by the weights of the tokens' embedding: [batch, length, vocabulary]
/// ```
///
/// With 65 tokens and the defaults it has 804,096 parameters. Made by [`GptConfig`].
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
/// nanoGPT's names, of a network with `bias=False`, are translated by
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
    /// Logits of the token that follows each place.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, length]`, each below the vocabulary
    /// - output: `[batch, length, vocabulary]`
    ///
    /// # Panics
    ///
    /// If there are more tokens than the context has places.
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [batch, length] = tokens.dims();
        let context = self.context();
        assert!(length <= context, "a Gpt of {context} places got {length} tokens");
        // Cut from a row, since Burn makes no row of an empty tensor.
        let row = Tensor::<1, Int>::arange(0..context as i64, &tokens.device()).unsqueeze::<2>();
        let places = row.slice([0..1, 0..length]);
        let x = self.tokens.forward(tokens) + self.positions.forward(places);
        let x = self.norm.forward(self.blocks.iter().fold(x, |x, block| block.forward(x)));
        let [vocabulary, width] = self.tokens.weight.dims();
        let logits =
            reshaped(x, [batch * length, width]).matmul(self.tokens.weight.val().transpose());
        reshaped(logits, [batch, length, vocabulary])
    }

    /// How many tokens it sees at once.
    pub fn context(&self) -> usize {
        self.positions.weight.dims()[0]
    }
}

#[cfg(test)]
mod tests;
