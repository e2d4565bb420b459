use super::limits;
use crate::{Error, Result};
use gelu_learner::activation::{NamedActivation, Nonlinearity};
use gelu_models::{BlockOrder, GptNorm};
use serde::{Deserialize, Serialize};

/// Layers that nobody can mean to go beyond, and neurons or channels in one.
const DEEPEST: u64 = 10_000;
const WIDEST: u64 = 1_000_000;
/// Characters at once: attention has a gigabyte of weights a head, of one window, at so many.
const LONGEST: u64 = 16_384;
/// 40 GB of them.
const MOST_WEIGHTS: u128 = 10_000_000_000;

/// Which network. How many inputs and outputs it has is said by the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkRecipe {
    /// The fully connected classifier, [`gelu_models::Mlp`], unit-norm rows: of digits, of the
    /// words of tweets, of the frames of speech.
    Classifier {
        /// Hidden layers.
        depth: usize,
        /// Neurons in each.
        width: usize,
    },
    /// The same network with one output, a number, [`gelu_models::Mlp`]: a formula's value, or the number that a row of a
    /// table has.
    Regression {
        /// Hidden layers.
        depth: usize,
        /// Neurons in each.
        width: usize,
    },
    /// The deep autoencoder, [`gelu_models::Autoencoder`], unit-norm rows.
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
        /// Layers as the literature counts them, 6n + 4.
        depth: usize,
        /// Widening factor.
        width: usize,
        /// What stands in a block, and in which order.
        order: BlockOrder,
    },
    /// The network of the shape of airbench94, [`gelu_models::Airbench`], behind a whitening of the patches of
    /// the first 5,000 training pictures.
    Airbench {
        /// Channels of the three blocks.
        widths: [usize; 3],
    },
    /// The small decoder-only transformer of a text's characters, [`gelu_models::Gpt`]; its position-wise
    /// networks are gated where the activation is a gate.
    Gpt {
        /// Blocks.
        layers: usize,
        /// Heads of attention in each.
        heads: usize,
        /// Features of a character.
        width: usize,
        /// Characters that it sees at once.
        context: usize,
        /// What is normalised.
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
    /// Checks every value that a type cannot.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the value, and what it has to be.
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

    /// How many weights there are between its hidden layers, roughly: what the sizes of data add is
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

    /// What it is called in recipes.
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

    /// What it is trained to make small on these data.
    pub(crate) fn loss_on(&self, data: &super::DataRecipe) -> crate::measure::LossKind {
        match self {
            Self::Regression { .. } if data.is_of_tables() => {
                crate::measure::LossKind::UnexplainedVariance
            }
            _ => self.loss(),
        }
    }

    /// What it is trained to make small; a regression, on points.
    fn loss(&self) -> crate::measure::LossKind {
        match self {
            Self::Autoencoder { .. } => crate::measure::LossKind::SquaredError,
            Self::Regression { .. } => crate::measure::LossKind::ScaledSquaredError,
            _ => crate::measure::LossKind::LogLoss,
        }
    }

    /// Whether it names classes, so that there are errors to count.
    pub fn classifies(&self) -> bool {
        !matches!(self, Self::Autoencoder { .. } | Self::Regression { .. })
    }

    /// Whether it predicts numbers: a formula's values, or those of a table.
    pub fn is_regression(&self) -> bool {
        matches!(self, Self::Regression { .. })
    }

    /// Characters that it sees at once, where it takes a text.
    pub fn context(&self) -> Option<usize> {
        match self {
            Self::Gpt { context, .. } => Some(*context),
            _ => None,
        }
    }

    /// Whether it has what an activation is for: a gate only where there are gated units, and what is of all
    /// features only where nothing else is in its place.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] saying which networks have them.
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

    /// Whether it is made of convolutions, and so takes pictures alone.
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
