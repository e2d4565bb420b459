//! Batches that are overwritten where they are, for training steps that are recorded and replayed.

use super::{BatchInputs, Examples, Targets};
use gelu_training::{FixedBatch, NotCaptured};

impl FixedBatch for Examples {
    fn is_like(&self, other: &Self) -> bool {
        self.inputs.is_like(&other.inputs)
            && self.labels.is_like(&other.labels)
            && self.targets.is_like(&other.targets)
    }

    fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured> {
        self.inputs.overwrite(other.inputs)?;
        self.labels.overwrite(other.labels)?;
        self.targets.overwrite(other.targets)
    }

    fn copied(&self) -> Self {
        let Self { inputs, labels, targets } = self;
        Self { inputs: inputs.copied(), labels: labels.copied(), targets: targets.copied() }
    }
}

impl FixedBatch for BatchInputs {
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Numbers(this), Self::Numbers(other)) => this.is_like(other),
            (Self::Tokens(this), Self::Tokens(other)) => this.is_like(other),
            _ => false,
        }
    }

    fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured> {
        match (self, other) {
            (Self::Numbers(this), Self::Numbers(other)) => this.overwrite(other),
            (Self::Tokens(this), Self::Tokens(other)) => this.overwrite(other),
            _ => Err(NotCaptured::new("batches of numbers and of tokens take turns")),
        }
    }

    fn copied(&self) -> Self {
        match self {
            Self::Numbers(numbers) => Self::Numbers(numbers.copied()),
            Self::Tokens(tokens) => Self::Tokens(tokens.copied()),
        }
    }
}

impl FixedBatch for Targets {
    fn is_like(&self, other: &Self) -> bool {
        self.variance == other.variance && self.numbers.is_like(&other.numbers)
    }

    fn overwrite(&mut self, other: Self) -> Result<(), NotCaptured> {
        self.numbers.overwrite(other.numbers)
    }

    fn copied(&self) -> Self {
        Self { numbers: self.numbers.copied(), ..*self }
    }
}
