use crate::ModelOutput;
use burn::train::{InferenceStep, LearnerModel, TrainStep};

/// A model that can be trained here: the same batches for training and measuring, and
/// outputs that report their metrics.
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
