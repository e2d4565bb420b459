use crate::TrainingOps;
use burn_autodiff::{Autodiff, checkpoint::strategy::CheckpointStrategy};

impl<B: TrainingOps, C: CheckpointStrategy> TrainingOps for Autodiff<B, C> {}
