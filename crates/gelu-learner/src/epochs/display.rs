//! Passes events of the training to Burn's display, if it is shown.

use super::{EpochByEpoch, Events};
use crate::{Error, Result, Trainable};
use burn::train::{EventProcessorTraining, InferenceStep, LearnerEvent, TrainStep};
use gelu_compare::runs::Spec;

/// An event of the training, as Burn's metrics receive it.
type TrainEvent<M> = LearnerEvent<<M as TrainStep>::Output>;

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    pub(super) fn tell_valid(
        &self,
        events: &mut Events<M>,
        event: LearnerEvent<<M as InferenceStep>::Output>,
    ) -> Result<()> {
        report(events.process_valid(event))
    }

    /// Passes `event` to Burn's metrics if Burn's display is shown.
    pub(super) fn show_train(&self, events: &mut Events<M>, event: TrainEvent<M>) -> Result<()> {
        match self.shown {
            true => report(events.process_train(event)),
            false => Ok(()),
        }
    }
}

fn report<E: std::fmt::Display>(result: std::result::Result<(), E>) -> Result<()> {
    result.map_err(|error| Error::Failed(error.to_string()))
}
