use crate::ModelOutput;
use burn::train::{InferenceStep, LearnerModel, TrainStep};

/// A model that this crate can train: training and measuring use the same type of batch, and the outputs report
/// metrics.
pub trait Trainable:
    LearnerModel
    + TrainStep<Input = <Self as InferenceStep>::Input, Output: ModelOutput>
    + InferenceStep<Output: ModelOutput>
{
}

impl<M> Trainable for M where
    M: LearnerModel
        + TrainStep<Input = <M as InferenceStep>::Input, Output: ModelOutput>
        + InferenceStep<Output: ModelOutput>
{
}
