//! The training loop, as a learning strategy for Burn's learner.
//!
//! Beside Burn's own single-device strategy it measures every split as the recipe says, ends the
//! run where the loss is no number any more, stops after an epoch when asked to, and commits each
//! epoch to the run's folder before it counts.

mod display;
mod measuring;
mod train;

pub use measuring::{Apart, Measuring, bits, evaluate};

use crate::checkpoint::Parts;
use crate::session::Session;
use crate::{Result, Trainable};
use burn::tensor::Device;
use burn::train::{
    Learner, LearnerEvent, SupervisedLearningStrategy, SupervisedTrainingEventProcessor,
    TrainLoader, TrainingComponents, ValidLoader,
};
use gelu_compare::runs::{RunStatus, Spec};
use std::sync::Arc;

/// See the [module](self).
pub(crate) struct EpochByEpoch<M: Trainable, S> {
    pub(crate) session: Arc<Session<S>>,
    pub(crate) parts: Arc<Parts>,
    pub(crate) measuring: Measuring<M>,
    /// Hears which epoch begins, from 1.
    pub(crate) clock: Clock,
    pub(crate) device: Device,
    /// Whether Burn's display shows the training.
    pub(crate) shown: bool,
}

/// Hears which epoch begins, from 1.
pub type Clock = Box<dyn Fn(usize) + Send + Sync>;

type Events<M> = SupervisedTrainingEventProcessor<M>;

/// How the epoch loop goes on.
enum Next {
    Epoch,
    End(RunStatus),
}

impl<M: Trainable, S: Spec> SupervisedLearningStrategy<M> for EpochByEpoch<M, S> {
    fn fit(
        &self,
        mut components: TrainingComponents<M>,
        mut learner: Learner<M>,
        train: TrainLoader<M>,
        _valid: ValidLoader<M>,
        starting_epoch: usize,
    ) -> (M, Events<M>) {
        let device = self.device.clone().autodiff();
        let train = train.to_device(&device);
        learner.fork(&device);
        let mut epochs = starting_epoch..=components.num_epochs;
        let end = epochs.find_map(|epoch| {
            match self.epoch(epoch, &mut components, &mut learner, &train) {
                Ok(Next::Epoch) => None,
                Ok(Next::End(status)) => Some(Ok(status)),
                Err(error) => Some(Err(error)),
            }
        });
        self.session.end(end.unwrap_or(Ok(RunStatus::Finished)));
        (learner.model(), components.event_processor)
    }
}

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    fn epoch(
        &self,
        epoch: usize,
        components: &mut TrainingComponents<M>,
        learner: &mut Learner<M>,
        train: &TrainLoader<M>,
    ) -> Result<Next> {
        self.session.begin_epoch(epoch, &self.device);
        (self.clock)(epoch);
        let events = &mut components.event_processor;
        let trained = self.train(epoch, events, learner, train)?;
        if self.session.stops_now() {
            return Ok(Next::End(RunStatus::Interrupted));
        }
        let (metrics, wrong) = self.measure(epoch, trained, events, learner)?;
        if self.session.is_lost(&metrics)? {
            return Ok(Next::End(RunStatus::Diverged { epoch }));
        }
        self.show_train(events, LearnerEvent::EndEpoch(epoch))?;
        let checkpointer = components.checkpointer.as_mut();
        let checkpointer = checkpointer.expect("a run is always given its checkpointers");
        checkpointer.checkpoint(learner, epoch, &components.event_store);
        self.session.end_epoch(metrics, wrong, |folder| self.parts.write_to(folder))?;
        match self.session.stops_after_epoch() && epoch < components.num_epochs {
            true => Ok(Next::End(RunStatus::Interrupted)),
            false => Ok(Next::Epoch),
        }
    }
}
