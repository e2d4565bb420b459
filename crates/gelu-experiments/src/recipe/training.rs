use super::Schedule;
use super::limits::{self, MOST_EPOCHS, MOST_EXAMPLES};
use crate::Result;
use gelu_training::EpsilonPlace;
use serde::{Deserialize, Serialize};

/// The training of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRecipe {
    /// Passes over the training set.
    pub epochs: usize,
    /// Examples (or units of `batch_of`) per batch; the last batch of an epoch holds the rest.
    pub batch_size: usize,
    /// The unit of the batch size.
    #[serde(default, skip_serializing_if = "BatchUnit::is_example")]
    pub batch_of: BatchUnit,
    /// Batches per epoch if examples are sampled at random, as the windows of a text are. For a table it is the least
    /// number: the rows of a small table are repeated, in a new order, until there are that many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<usize>,
    /// The measurement of the training loss.
    pub train_loss: TrainLoss,
    /// The parameter s of the targets in training: 1 − s + s/K for the right class and s/K for each other of K
    /// classes. Losses are measured without it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub label_smoothing: f64,
    /// Whether to measure the layers after every epoch.
    #[serde(default, skip_serializing_if = "is_off")]
    pub probes: bool,
    /// The course of the learning rate after its initial value.
    #[serde(default)]
    pub schedule: Schedule,
    /// The optimiser.
    pub optimizer: OptimizerRecipe,
}

impl TrainingRecipe {
    /// Checks the values that the types do not restrict.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) naming the value and the allowed values.
    pub(crate) fn validate(&self) -> Result<()> {
        limits::count("the number of epochs", self.epochs as u64, MOST_EPOCHS)?;
        limits::count("the batch size", self.batch_size as u64, MOST_EXAMPLES)?;
        let batches = self.batches.unwrap_or(1) as u64;
        limits::count("training.batches", batches, MOST_EXAMPLES / self.batch_size as u64)?;
        limits::share("training.label_smoothing", self.label_smoothing)?;
        self.schedule.validate()?;
        self.optimizer.validate()
    }
}

fn is_none(smoothing: &f64) -> bool {
    *smoothing == 0.0
}

fn is_off(probes: &bool) -> bool {
    !probes
}

/// The unit of a batch size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchUnit {
    /// Examples: images, words, frames.
    #[default]
    Examples,
    /// Whole tweets, sentences or recordings, with all their examples.
    Groups,
}

impl BatchUnit {
    fn is_example(&self) -> bool {
        *self == Self::Examples
    }
}

/// The optimiser, with all its constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OptimizerRecipe {
    /// Adam (Kingma & Ba, 2015).
    Adam {
        /// Decay of the first moment.
        beta_1: f64,
        /// Decay of the second moment.
        beta_2: f64,
        /// The number that keeps the divisor, the root of the second moment, above 0.
        epsilon: f64,
        /// Where ε is added. Inside the root, it bounds the divisor by √ε, as in the authors' code for CIFAR-10.
        #[serde(default = "outside", skip_serializing_if = "is_outside")]
        epsilon_place: EpsilonPlace,
        /// A change of the first moment's decay during training.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beta_1_change: Option<BetaChange>,
    },
    /// AdamW (Loshchilov & Hutter, 2019), on gradients that are clipped by their common norm.
    #[serde(rename = "adamw")]
    AdamW {
        /// Decay of the first moment.
        beta_1: f64,
        /// Decay of the second moment.
        beta_2: f64,
        /// The number that keeps the divisor, the root of the second moment, above 0.
        epsilon: f64,
        /// λ of `w ← (1 − η·λ)·w`, only for parameters of two or more dimensions: not for scales, biases and learned
        /// constants of activations.
        weight_decay: f64,
        /// The largest norm of all gradients together; larger gradients are scaled down to it.
        clip_norm: f64,
    },
    /// Stochastic gradient descent with Nesterov's momentum.
    Sgd {
        /// Decay of the velocity.
        momentum: f64,
        /// λ of the penalty λ·Σw² added to the loss, over parameters of two or more dimensions and the scales of
        /// norms (not biases or learned constants of activations); its gradient is 2λw.
        l2: f64,
    },
}

impl OptimizerRecipe {
    /// Returns the largest norm of all gradients together, if they are clipped.
    pub fn clip_norm(&self) -> Option<f64> {
        match self {
            Self::AdamW { clip_norm, .. } => Some(*clip_norm),
            _ => None,
        }
    }

    fn validate(&self) -> Result<()> {
        let positive = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
        match self {
            Self::Adam { beta_1, beta_2, epsilon, beta_1_change, .. } => {
                limits::share("optimizer.beta_1", *beta_1)?;
                limits::share("optimizer.beta_2", *beta_2)?;
                limits::single("optimizer.epsilon", *epsilon, positive)?;
                if let Some(change) = beta_1_change {
                    limits::share("optimizer.beta_1_change.to", change.to)?;
                    limits::share("optimizer.beta_1_change.after", change.after)?;
                }
                Ok(())
            }
            Self::AdamW { beta_1, beta_2, epsilon, weight_decay, clip_norm } => {
                limits::share("optimizer.beta_1", *beta_1)?;
                limits::share("optimizer.beta_2", *beta_2)?;
                limits::single("optimizer.epsilon", *epsilon, positive.clone())?;
                limits::single("optimizer.weight_decay", *weight_decay, 0.0..=f64::from(f32::MAX))?;
                limits::single("optimizer.clip_norm", *clip_norm, positive)
            }
            Self::Sgd { momentum, l2 } => {
                limits::share("optimizer.momentum", *momentum)?;
                limits::single("optimizer.l2", *l2, 0.0..=f64::from(f32::MAX))
            }
        }
    }
}

fn outside() -> EpsilonPlace {
    EpsilonPlace::Outside
}

fn is_outside(place: &EpsilonPlace) -> bool {
    *place == EpsilonPlace::Outside
}

/// A change of Adam's β₁ during training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BetaChange {
    /// The value after the change.
    pub to: f64,
    /// The share of the epochs before the change.
    pub after: f64,
}

/// The measurement of an epoch's training loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainLoss {
    /// After the epoch, over the whole training set, with dropout off: the paper's curves.
    DropoutOff,
    /// The mean over the epoch's training batches, with dropout on: the source script's curves. Needs no further pass
    /// over the data.
    Batches,
}
