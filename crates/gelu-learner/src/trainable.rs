use crate::Measured;
use burn::train::{InferenceStep, LearnerModel, TrainStep};

/// What a model has to be to be trained here: the same batches for training and measuring, and
/// outputs that say what is measured of them.
pub trait Trainable:
    LearnerModel
    + TrainStep<Input = <Self as InferenceStep>::Input, Output: Measured>
    + InferenceStep<Output: Measured>
{
}

impl<M> Trainable for M where
    M: LearnerModel
        + TrainStep<Input = <M as InferenceStep>::Input, Output: Measured>
        + InferenceStep<Output: Measured>
{
}
