use super::limits;
use crate::{Error, Result};
use gelu_learner::activation::{NamedActivation, Nonlinearity};
use gelu_models::{BlockOrder, GptNorm};
use serde::{Deserialize, Serialize};

/// The most layers, and the most neurons or channels in one.
const DEEPEST: u64 = 10_000;
const WIDEST: u64 = 1_000_000;
/// The longest context in characters. At this length, attention needs a gigabyte of weights per head and window.
const LONGEST: u64 = 16_384;
/// The most weights: 40 GB.
const MOST_WEIGHTS: u128 = 10_000_000_000;

/// The network. The data determine its numbers of inputs and outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkRecipe {
    /// The fully connected classifier, [`gelu_models::Mlp`], with unit-norm rows: for digits, the words of tweets,
    /// and the frames of speech.
    Classifier {
        /// Number of hidden layers.
        depth: usize,
        /// Neurons in each hidden layer.
        width: usize,
    },
    /// The same network with one output, a number, [`gelu_models::Mlp`]: a formula's value, or the number in a row of
    /// a table.
    Regression {
        /// Number of hidden layers.
        depth: usize,
        /// Neurons in each hidden layer.
        width: usize,
    },
    /// The deep autoencoder, [`gelu_models::Autoencoder`], with unit-norm rows.
    Autoencoder {
        /// Neurons of the encoder's layers, the code last; the decoder mirrors them.
        encoder: Vec<usize>,
    },
    /// The convolutional network of Table 1, [`gelu_models::Cnn`].
    Cnn {
        /// Channels of the first three convolutions, and of the six that follow.
        widths: [usize; 2],
        /// Standard deviation of the noise added to the inputs in training.
        noise: f64,
    },
    /// The wide residual network, [`gelu_models::WideResNet`].
    WideResNet {
        /// Number of layers as in the literature, 6n + 4.
        depth: usize,
        /// Widening factor.
        width: usize,
        /// The order of the layers in a block.
        order: BlockOrder,
    },
    /// A network with the shape of airbench94, [`gelu_models::Airbench`], after a whitening of the patches of the
    /// first 5,000 training images.
    Airbench {
        /// Channels of the three blocks.
        widths: [usize; 3],
    },
    /// The small decoder-only transformer for the characters of a text, [`gelu_models::Gpt`]; its position-wise
    /// networks are gated if the activation is a gate.
    Gpt {
        /// Number of blocks.
        layers: usize,
        /// Attention heads per block.
        heads: usize,
        /// Features per character.
        width: usize,
        /// Length of the context in characters.
        context: usize,
        /// The normalisation.
        #[serde(default = "layer_norm", skip_serializing_if = "is_layer_norm")]
        norm: GptNorm,
    },
}

fn layer_norm() -> GptNorm {
    GptNorm::Layer
}

fn is_layer_norm(norm: &GptNorm) -> bool {
    *norm == GptNorm::Layer
}

impl NetworkRecipe {
    /// Checks the values that the types do not restrict.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the value and the allowed values.
    pub(crate) fn validate(&self) -> Result<()> {
        let widths = |what: &str, widths: &[usize]| {
            let what = format!("a width of {what}");
            widths.iter().try_for_each(|&width| limits::count(&what, width as u64, WIDEST))
        };
        match self {
            Self::Classifier { depth, width } | Self::Regression { depth, width } => {
                limits::count_or_none("network.depth", *depth as u64, DEEPEST)?;
                limits::count("network.width", *width as u64, WIDEST)
            }
            Self::Autoencoder { encoder } => {
                let layers = encoder.len() as u64;
                limits::count("the number of layers in network.encoder", layers, DEEPEST)?;
                widths("network.encoder", encoder)
            }
            Self::Cnn { widths: channels, noise } => {
                widths("network.widths", channels)?;
                limits::single("network.noise", *noise, 0.0..=f64::from(f32::MAX))
            }
            Self::Airbench { widths: channels } => widths("network.widths", channels),
            Self::WideResNet { depth, width, .. } => {
                limits::count("network.width", *width as u64, WIDEST)?;
                limits::count("network.depth", *depth as u64, DEEPEST)?;
                match *depth >= 10 && (depth - 4).is_multiple_of(6) {
                    true => Ok(()),
                    false => Err(Error::Usage(format!(
                        "network.depth {depth} is no depth of a wide residual network; it has to \
                         be 6n + 4: 10, 16, 22, 28, 34, 40, …"
                    ))),
                }
            }
            Self::Gpt { layers, heads, width, context, .. } => {
                limits::count("network.layers", *layers as u64, DEEPEST)?;
                limits::count("network.heads", *heads as u64, WIDEST)?;
                limits::count("network.width", *width as u64, WIDEST)?;
                limits::count("network.context", *context as u64, LONGEST)?;
                match width.is_multiple_of(*heads) {
                    true => Ok(()),
                    false => Err(Error::Usage(format!(
                        "network.width {width} is no multiple of network.heads {heads}; every head has its \
                         share of the width"
                    ))),
                }
            }
        }?;
        match self.weights() > MOST_WEIGHTS {
            true => Err(Error::Usage(format!(
                "the network would have {} weights; at most {MOST_WEIGHTS} can be trained",
                self.weights()
            ))),
            false => Ok(()),
        }
    }

    /// Returns roughly the number of weights between the hidden layers; weights whose number depends on the data are
    /// not counted.
    fn weights(&self) -> u128 {
        let product = |a: usize, b: usize| a as u128 * b as u128;
        let square = |width: usize| product(width, width);
        match self {
            Self::Classifier { depth, width } | Self::Regression { depth, width } => {
                *depth as u128 * square(*width)
            }
            Self::Autoencoder { encoder } => {
                2 * encoder.windows(2).map(|pair| product(pair[0], pair[1])).sum::<u128>()
            }
            Self::Cnn { widths, .. } => 9 * (2 * square(widths[0]) + 6 * square(widths[1])),
            Self::Airbench { widths } => {
                9 * (square(widths[0]) + 2 * square(widths[1]) + 2 * square(widths[2]))
            }
            Self::WideResNet { depth, width, .. } => 3 * *depth as u128 * square(64 * width),
            Self::Gpt { layers, width, context, .. } => {
                12 * *layers as u128 * square(*width) + product(*context, *width)
            }
        }
    }

    /// Returns the name in recipes.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Classifier { .. } => "classifier",
            Self::Regression { .. } => "regression",
            Self::Autoencoder { .. } => "autoencoder",
            Self::Cnn { .. } => "cnn",
            Self::WideResNet { .. } => "wide-res-net",
            Self::Airbench { .. } => "airbench",
            Self::Gpt { .. } => "gpt",
        }
    }

    /// Returns the loss that training minimises on these data.
    pub(crate) fn loss_on(&self, data: &super::DataRecipe) -> crate::measure::LossKind {
        match self {
            Self::Regression { .. } if data.is_of_tables() => {
                crate::measure::LossKind::UnexplainedVariance
            }
            _ => self.loss(),
        }
    }

    /// Returns the loss that training minimises; for a regression, the one on points.
    fn loss(&self) -> crate::measure::LossKind {
        match self {
            Self::Autoencoder { .. } => crate::measure::LossKind::SquaredError,
            Self::Regression { .. } => crate::measure::LossKind::ScaledSquaredError,
            _ => crate::measure::LossKind::LogLoss,
        }
    }

    /// Returns whether the network predicts classes, so that errors can be counted.
    pub fn classifies(&self) -> bool {
        !matches!(self, Self::Autoencoder { .. } | Self::Regression { .. })
    }

    /// Returns whether the network predicts numbers: a formula's values, or those of a table.
    pub fn is_regression(&self) -> bool {
        matches!(self, Self::Regression { .. })
    }

    /// Returns the length of the context in characters, if the network takes a text.
    pub fn context(&self) -> Option<usize> {
        match self {
            Self::Gpt { context, .. } => Some(*context),
            _ => None,
        }
    }

    /// Checks that the network can use an activation. A gate requires gated units; a function of all features
    /// requires that no other activation is in its position.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the networks that can use it.
    pub(crate) fn check_activation(&self, activation: &NamedActivation) -> Result<()> {
        if matches!(self, Self::Gpt { .. }) {
            return Ok(());
        }
        let what = match activation.nonlinearity() {
            Ok(Nonlinearity::Gate(_)) => "the gate of a gated unit",
            Ok(Nonlinearity::PolyNorm) => "a layer of its own",
            Ok(Nonlinearity::Function(_)) | Err(_) => return Ok(()),
        };
        Err(Error::Usage(format!(
            "{activation} is {what}, which only networks of kind gpt have; name a function of one number"
        )))
    }

    /// Returns whether the network consists of convolutions, and so only takes images.
    pub fn is_convolutional(&self) -> bool {
        matches!(self, Self::Cnn { .. } | Self::WideResNet { .. } | Self::Airbench { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_small_letters_and_others_are_refused_by_name() {
        let of = |order: &str| {
            let text =
                format!("kind = \"wide-res-net\"\ndepth = 10\nwidth = 1\norder = \"{order}\"");
            toml::from_str::<NetworkRecipe>(&text)
        };
        for (order, text) in
            [(BlockOrder::Paper, "paper"), (BlockOrder::PreActivation, "pre-activation")]
        {
            let read = of(text).unwrap();
            assert_eq!(read, NetworkRecipe::WideResNet { depth: 10, width: 1, order });
            assert!(toml::to_string(&read).unwrap().contains(&format!("order = \"{text}\"")));
        }
        for wrong in ["post", "Paper", "preactivation", ""] {
            let said = of(wrong).unwrap_err().to_string();
            let expected =
                format!("unknown variant `{wrong}`, expected `paper` or `pre-activation`");
            assert!(said.contains(&expected), "{said}");
        }
    }

    #[test]
    fn a_norm_survives_being_written_and_read() {
        for norm in [GptNorm::Layer, GptNorm::Rms] {
            let gpt = NetworkRecipe::Gpt { layers: 1, heads: 1, width: 8, context: 4, norm };
            let text = toml::to_string(&gpt).unwrap();
            assert_eq!(text.contains("norm = \"rms\""), norm == GptNorm::Rms, "{text}");
            assert_eq!(toml::from_str::<NetworkRecipe>(&text).unwrap(), gpt);
        }
    }
}
