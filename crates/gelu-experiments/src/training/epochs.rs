//! The training loop, as a learning strategy for Burn's learner.
//!
//! Beside Burn's own single-device strategy it measures every split as the recipe says, ends the
//! run where the loss is no number any more, stops after an epoch when asked to, and commits each
//! epoch to the run's folder before it counts.

use super::Display;
use super::checkpoint::Parts;
use super::evaluate::{Measured, Score, evaluate};
use super::optimizer::EpochClock;
use super::session::Session;
use super::tally::Tally;
use crate::measure::EpochMetrics;
use crate::recipe::TrainLoss;
use crate::runs::{Phase, RunStatus};
use crate::{Error, Result};
use burn::data::dataloader::Progress;
use burn::tensor::Device;
use burn::train::{
    EventProcessorTraining, InferenceStep, Learner, LearnerEvent, LearnerModel,
    SupervisedLearningStrategy, SupervisedTrainingEventProcessor, TrainLoader, TrainStep,
    TrainingComponents, TrainingItem, ValidLoader,
};
use std::sync::Arc;

/// What a model has to be to be trained here: the same batches for training and measuring, and
/// outputs that can be scored.
pub(super) trait Trainable:
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

/// The splits as they are measured, in order, with dropout off.
pub(super) struct Measuring<M: Trainable> {
    pub(super) train: ValidLoader<M>,
    pub(super) valid: Option<ValidLoader<M>>,
    pub(super) test: Option<ValidLoader<M>>,
}

/// See the [module](self).
pub(super) struct EpochByEpoch<M: Trainable> {
    pub(super) session: Arc<Session>,
    pub(super) parts: Arc<Parts>,
    pub(super) measuring: Measuring<M>,
    pub(super) clock: EpochClock,
    pub(super) device: Device,
    pub(super) display: Display,
}

type Events<M> = SupervisedTrainingEventProcessor<M>;

/// How the epoch loop goes on.
enum Next {
    Epoch,
    End(RunStatus),
}

impl<M: Trainable> SupervisedLearningStrategy<M> for EpochByEpoch<M> {
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

impl<M: Trainable> EpochByEpoch<M> {
    fn epoch(
        &self,
        epoch: usize,
        components: &mut TrainingComponents<M>,
        learner: &mut Learner<M>,
        train: &TrainLoader<M>,
    ) -> Result<Next> {
        self.session.begin_epoch(epoch, &self.device);
        self.clock.begin(epoch);
        let events = &mut components.event_processor;
        let trained = self.train(epoch, events, learner, train)?;
        if self.session.stops_now() {
            return Ok(Next::End(RunStatus::Interrupted));
        }
        let metrics = self.measure(epoch, trained, events, learner)?;
        let is_lost = |(name, loss): (&str, f64)| name.ends_with("_loss") && !loss.is_finite();
        if metrics.measured().any(is_lost) {
            return Ok(Next::End(RunStatus::Diverged { epoch }));
        }
        self.show_train(events, LearnerEvent::EndEpoch(epoch))?;
        let checkpointer = components.checkpointer.as_mut();
        let checkpointer = checkpointer.expect("a run is always given its checkpointers");
        checkpointer.checkpoint(learner, epoch, &components.event_store);
        self.session.end_epoch(metrics, |folder| self.parts.write_to(folder))?;
        match self.session.stops_after_epoch() && epoch < components.num_epochs {
            true => Ok(Next::End(RunStatus::Interrupted)),
            false => Ok(Next::Epoch),
        }
    }

    /// One pass over the training batches: the mean of their losses, and the share of wrongly
    /// classified examples where the recipe wants those of the batches.
    fn train(
        &self,
        epoch: usize,
        events: &mut Events<M>,
        learner: &mut Learner<M>,
        loader: &TrainLoader<M>,
    ) -> Result<Score> {
        let total_items = loader.num_items();
        self.session.progress.update(|progress| {
            (progress.epoch, progress.phase) = (epoch, Phase::Train);
            (progress.done, progress.total) = (0, total_items);
        });
        self.show_train(events, LearnerEvent::StartSplit { epoch_number: epoch, total_items })?;
        let by_batches = self.session.spec().training.train_loss == TrainLoss::Batches;
        let (mut tally, mut steps) = (Tally::default(), 0);
        let mut batches = loader.iter();
        while let Some(batch) = batches.next() {
            let batch = batch.map_err(|error| Error::Failed(error.to_string()))?;
            let output = learner.train_step(batch);
            learner.lr_step();
            learner.optimizer_step(output.grads);
            steps += 1;
            tally.push(match by_batches {
                true => output.item.measure(),
                false => output.item.measure_loss(),
            });
            // Reading a loss back waits for the device, so only as often as somebody looks.
            if self.session.progress.is_due() {
                let (loss, done) = (tally.mean_loss()?, batches.progress().items_processed);
                self.session.progress.update(|progress| {
                    (progress.done, progress.batch_loss) = (done, Some(loss));
                });
            }
            if self.display == Display::Burn {
                let (progress, rate) = (batches.progress(), learner.lr_current());
                let item = TrainingItem::new(output.item, progress, Some(steps), Some(rate));
                self.show_train(events, LearnerEvent::ProcessedItem(item))?;
            }
            if self.session.stops_now() {
                break;
            }
        }
        self.show_train(events, LearnerEvent::EndSplit(epoch))?;
        tally.score()
    }

    /// Measures every split of the recipe with dropout off.
    fn measure(
        &self,
        epoch: usize,
        trained: Score,
        events: &mut Events<M>,
        learner: &Learner<M>,
    ) -> Result<EpochMetrics> {
        let model = learner.model().valid();
        let Measuring { train, valid, test } = &self.measuring;
        let train = match self.session.spec().training.train_loss {
            TrainLoss::DropoutOff => Some(train),
            TrainLoss::Batches => None,
        };
        let splits = [train, valid.as_ref(), test.as_ref()];
        let total = splits.iter().flatten().map(|split| split.num_items()).sum();
        self.session.progress.update(|progress| {
            (progress.phase, progress.done, progress.total) = (Phase::Evaluate, 0, total);
        });
        let count = |examples| self.session.progress.update(|progress| progress.done += examples);
        let measure = |split: Option<&ValidLoader<M>>| -> Result<Option<Score>> {
            split.map(|split| evaluate(&model, split.as_ref(), |n, _| count(n))).transpose()
        };
        let train = measure(train)?;
        // Burn's own display has one curve beside the training's: validation where there is one,
        // else the test set.
        let (valid, test) = match (self.display, valid) {
            (Display::Folder, valid) => (measure(valid.as_ref())?, measure(test.as_ref())?),
            (Display::Burn, Some(valid)) => {
                (Some(self.show(epoch, events, &model, valid, count)?), measure(test.as_ref())?)
            }
            (Display::Burn, None) => {
                let show = |test| self.show(epoch, events, &model, test, count);
                (None, test.as_ref().map(show).transpose()?)
            }
        };
        let (loss, error) = (|s: Score| s.loss, |s: Score| s.error);
        Ok(EpochMetrics::new(epoch)
            .with("learning_rate", learner.lr_current().base())
            .with("batch_loss", trained.loss)
            .with("train_loss", train.map_or(trained.loss, loss))
            .with("train_error", train.map_or(trained.error, error))
            .with("valid_loss", valid.map(loss))
            .with("valid_error", valid.and_then(error))
            .with("test_loss", test.map(loss))
            .with("test_error", test.and_then(error)))
    }

    /// Tells Burn's metrics, where Burn's display shows them.
    fn show_train(&self, events: &mut Events<M>, event: TrainEvent<M>) -> Result<()> {
        match self.display {
            Display::Burn => report(events.process_train(event)),
            Display::Folder => Ok(()),
        }
    }

    /// Measures a split and tells Burn's metrics about every batch of it.
    fn show(
        &self,
        epoch: usize,
        events: &mut Events<M>,
        model: &M,
        split: &ValidLoader<M>,
        count: impl Fn(usize),
    ) -> Result<Score> {
        let total_items = split.num_items();
        report(
            events.process_valid(LearnerEvent::StartSplit { epoch_number: epoch, total_items }),
        )?;
        let (mut done, mut batches, mut told) = (0, 0, Ok(()));
        let score = evaluate(model, split.as_ref(), |examples, output| {
            done += examples;
            batches += 1;
            count(examples);
            let progress = Progress::new(done, total_items, Some("examples".to_owned()));
            let item = TrainingItem::new(output, progress, Some(batches), None);
            let result = report(events.process_valid(LearnerEvent::ProcessedItem(item)));
            if told.is_ok() {
                told = result;
            }
        })?;
        told?;
        report(events.process_valid(LearnerEvent::EndSplit(epoch)))?;
        Ok(score)
    }
}

/// What a batch made of the network, as Burn's metrics are told of it.
type TrainEvent<M> = LearnerEvent<<M as TrainStep>::Output>;

fn report<E: std::fmt::Display>(result: std::result::Result<(), E>) -> Result<()> {
    result.map_err(|error| Error::Failed(error.to_string()))
}
