use gelu_models::BlockOrder;
use serde::{Deserialize, Serialize};

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
        order: Order,
    },
}

/// The order of a residual block; see [`BlockOrder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The GELU paper's.
    Paper,
    /// The original one: norm and activation before each convolution.
    PreActivation,
}

impl From<Order> for BlockOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Paper => Self::Paper,
            Order::PreActivation => Self::PreActivation,
        }
    }
}

impl NetworkRecipe {
    /// What it is trained to make small.
    pub fn loss(&self) -> crate::measure::LossKind {
        match self {
            Self::Autoencoder { .. } => crate::measure::LossKind::SquaredError,
            _ => crate::measure::LossKind::LogLoss,
        }
    }

    /// Whether it names classes, so that there are errors to count.
    pub fn classifies(&self) -> bool {
        !matches!(self, Self::Autoencoder { .. })
    }

    /// Whether it is made of convolutions, and so takes pictures alone.
    pub fn is_convolutional(&self) -> bool {
        matches!(self, Self::Cnn { .. } | Self::WideResNet { .. })
    }
}
