use super::Schedule;
use super::limits::{self, MOST_EPOCHS, MOST_EXAMPLES};
use crate::Result;
use gelu_training::EpsilonPlace;
use serde::{Deserialize, Serialize};

/// How a network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRecipe {
    /// Passes over the training set.
    pub epochs: usize,
    /// Examples (or what `batch_of` says) in a batch; the last batch of an epoch holds what is
    /// left.
    pub batch_size: usize,
    /// What a batch is a number of.
    #[serde(default, skip_serializing_if = "BatchUnit::is_example")]
    pub batch_of: BatchUnit,
    /// Batches in an epoch of what is drawn at random, the windows of a text; of a table, the least: the rows of a small one
    /// are shown again, in a new order, until there are that many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<usize>,
    /// How the training loss is measured.
    pub train_loss: TrainLoss,
    /// s of the targets that training has, 1 − s + s/K for the class and s/K for each other of K classes; losses
    /// are measured without.
    #[serde(default, skip_serializing_if = "is_none")]
    pub label_smoothing: f64,
    /// Whether it is measured after every epoch what the layers do.
    #[serde(default, skip_serializing_if = "is_off")]
    pub probes: bool,
    /// How the learning rate goes on from its initial value.
    #[serde(default)]
    pub schedule: Schedule,
    /// The optimiser.
    pub optimizer: OptimizerRecipe,
}

impl TrainingRecipe {
    /// Checks every value that a type cannot.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) naming the value, and what it has to be.
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

/// What a batch is a number of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchUnit {
    /// Examples: pictures, words, frames.
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

/// Which optimiser, with all its constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OptimizerRecipe {
    /// Adam (Kingma & Ba, 2015).
    Adam {
        /// Decay of the first moment.
        beta_1: f64,
        /// Decay of the second moment.
        beta_2: f64,
        /// What keeps the divisor, the root of the second moment, from 0.
        epsilon: f64,
        /// Where ε is added: inside of the root it bounds the divisor by √ε, as the authors' code for CIFAR-10 has it.
        #[serde(default = "outside", skip_serializing_if = "is_outside")]
        epsilon_place: EpsilonPlace,
        /// Another decay of the first moment later on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beta_1_change: Option<BetaChange>,
    },
    /// AdamW (Loshchilov & Hutter, 2019), on gradients that are clipped together.
    #[serde(rename = "adamw")]
    AdamW {
        /// Decay of the first moment.
        beta_1: f64,
        /// Decay of the second moment.
        beta_2: f64,
        /// What keeps the divisor, the root of the second moment, from 0.
        epsilon: f64,
        /// λ of `w ← (1 − η·λ)·w`, for parameters of two or more dimensions alone: not for scales, biases and
        /// what an activation learns.
        weight_decay: f64,
        /// The largest norm of all gradients together; larger ones are scaled down to it.
        clip_norm: f64,
    },
    /// Stochastic gradient descent with Nesterov's momentum.
    Sgd {
        /// Decay of the velocity.
        momentum: f64,
        /// λ of the penalty λ·Σw² added to the loss, over parameters of two or more dimensions and the
        /// scales of norms (not biases, nor what an activation learns): its gradient is 2λw.
        l2: f64,
    },
}

impl OptimizerRecipe {
    /// The largest norm of all gradients together, where they are clipped.
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

/// A change of Adam's β₁ in the middle of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BetaChange {
    /// The later value.
    pub to: f64,
    /// The share of the epochs before it.
    pub after: f64,
}

/// How the training loss of an epoch is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainLoss {
    /// After the epoch, over the whole training set, dropout off: the paper's curves.
    DropoutOff,
    /// The mean over the epoch's batches as they were trained on, dropout on: the source
    /// script's curves. Needs no further pass over the data.
    Batches,
}
