//! The training loop, as a learning strategy for Burn's learner.
//!
//! Unlike Burn's own single-device strategy, it measures every split as the training says, ends the run when the loss
//! is not a finite number, stops after an epoch on request, and commits each epoch to the run's folder before the
//! epoch counts.

mod captured;
mod display;
mod measure;
mod train;

pub use measure::{evaluate, read_bools};

use crate::capture::{Capture, Steps as CapturedSteps};
use crate::checkpoint::Parts;
use crate::log::log;
use crate::session::{Session, Tested};
use crate::training::{MeasuredSplits, Steps};
use crate::{EarlyStopping, Result, Trainable};
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::tensor::Device;
use burn::train::{
    Learner, LearnerEvent, SupervisedLearningStrategy, SupervisedTrainingEventProcessor,
    TrainLoader, TrainingComponents, ValidLoader,
};
use gelu_compare::measure::EpochMetrics;
use gelu_compare::runs::{RunStatus, Spec};
use std::sync::Arc;

/// The learning strategy of this [module](self).
pub(crate) struct EpochByEpoch<M: Trainable, S> {
    pub(crate) session: Arc<Session<S>>,
    pub(crate) parts: Arc<Parts>,
    pub(crate) steps: Steps,
    pub(crate) measured: MeasuredSplits<M>,
    pub(crate) early_stopping: Option<EarlyStopping>,
    /// Called with the number of each epoch that begins, from 1.
    pub(crate) on_epoch: Box<dyn Fn(usize) + Send + Sync>,
    pub(crate) device: Device,
    /// Whether Burn's display shows the training.
    pub(crate) shown: bool,
    /// How steps are recorded and replayed, where they are to be, and for a trial of that, optimiser and learning
    /// rate as they were before the first step.
    pub(crate) capture: Option<(Capture<M>, ModuleOptimizer, ModuleLrScheduler)>,
}

type Events<M> = SupervisedTrainingEventProcessor<M>;

/// The next step of the epoch loop.
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
        let end = self.epochs(starting_epoch, &mut components, &mut learner, &train);
        self.session.end(end);
        (learner.model(), components.event_processor)
    }
}

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    /// Trains until the run ends.
    fn epochs(
        &self,
        first: usize,
        components: &mut TrainingComponents<M>,
        learner: &mut Learner<M>,
        train: &TrainLoader<M>,
    ) -> Result<RunStatus> {
        let mut steps = self.begin_capture(learner)?;
        for epoch in first..=components.num_epochs {
            let steps = steps.as_deref_mut();
            if let Next::End(status) = self.epoch(epoch, components, learner, train, steps)? {
                return Ok(status);
            }
        }
        Ok(RunStatus::Finished)
    }

    fn epoch(
        &self,
        epoch: usize,
        components: &mut TrainingComponents<M>,
        learner: &mut Learner<M>,
        train: &TrainLoader<M>,
        steps: Option<&mut (dyn CapturedSteps<M> + 'static)>,
    ) -> Result<Next> {
        self.session.begin_epoch(epoch, &self.device);
        (self.on_epoch)(epoch);
        let events = &mut components.event_processor;
        let trained = self.train(epoch, events, learner, train, steps)?;
        if self.session.stops_now() {
            return Ok(Next::End(RunStatus::Interrupted));
        }
        let is_measured =
            epoch.is_multiple_of(self.measured.every) || epoch == components.num_epochs;
        let rate = learner.lr_current().base();
        let (mut metrics, tested) = match is_measured {
            true => {
                let events = self.shown.then_some(&mut *events);
                self.measure(epoch, trained, events, &learner.model(), rate)?
            }
            false => (self.trained_alone(epoch, &trained, rate), Tested::default()),
        };
        if self.has_diverged(&metrics, is_measured)? {
            return Ok(Next::End(RunStatus::Diverged { epoch }));
        }
        let stops = self.stops_early(&mut metrics, is_measured)?;
        self.show_train(events, LearnerEvent::EndEpoch(epoch))?;
        let checkpointer = components.checkpointer.as_mut();
        let checkpointer = checkpointer.expect("a run is always given its checkpointers");
        checkpointer.checkpoint(learner, epoch, &components.event_store);
        self.session.end_epoch((metrics, tested), self.parts.take()?)?;
        Ok(match self.session.stops_after_epoch() && epoch < components.num_epochs {
            _ if stops => Next::End(RunStatus::Finished),
            true => Next::End(RunStatus::Interrupted),
            false => Next::Epoch,
        })
    }

    /// Returns whether a metric that has to be a number is none; if so, the run's log says which.
    pub(crate) fn has_diverged(&self, metrics: &EpochMetrics, is_measured: bool) -> Result<bool> {
        let Some(name) = self.session.lost(metrics, is_measured)? else { return Ok(false) };
        log::<S>(&format!(
            "{name} is no finite number in epoch {}, so the run has diverged; lower the learning rate, limit gradients \
             with .clip_norm(1.0), or look for such numbers in the data",
            metrics.epoch
        ));
        Ok(true)
    }

    /// Returns whether the run ends with this epoch, and records the epoch to restore as a column of `metrics`.
    pub(crate) fn stops_early(
        &self,
        metrics: &mut EpochMetrics,
        is_measured: bool,
    ) -> Result<bool> {
        let Some(strategy) = &self.early_stopping else { return Ok(false) };
        if is_measured {
            self.session.check_reported(strategy.metric(), metrics)?;
        }
        let mut all = self.session.metrics();
        all.push(metrics.clone());
        let best = strategy.best(&all).unwrap_or(metrics.epoch);
        metrics.set(EpochMetrics::RESTORED, best as f64);
        Ok(strategy.should_stop(&all))
    }
}
