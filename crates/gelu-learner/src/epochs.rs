//! The training loop, as a learning strategy for Burn's learner.
//!
//! Beside Burn's own single-device strategy it measures every split as the recipe says, ends the
//! run where the loss is no number any more, stops after an epoch when asked to, and commits each
//! epoch to the run's folder before it counts.

use crate::checkpoint::Parts;
use crate::measurement::LOSS;
use crate::probe::probe;
use crate::session::Session;
use crate::tally::{Score, Tally, unreadable};
use crate::{Error, Measured, Result};
use burn::data::dataloader::{DataLoader, Progress};
use burn::tensor::{Bool, Device, Tensor};
use burn::train::{
    EventProcessorTraining, InferenceStep, Learner, LearnerEvent, LearnerModel,
    SupervisedLearningStrategy, SupervisedTrainingEventProcessor, TrainLoader, TrainStep,
    TrainingComponents, TrainingItem, ValidLoader,
};
use gelu_compare::measure::{Bits, EpochMetrics, Split};
use gelu_compare::runs::{Phase, RunStatus, Spec};
use std::sync::Arc;

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

/// The splits as they are measured, in order, with dropout off.
pub struct Measuring<M: Trainable> {
    /// What is trained on; without it the batches count as they were trained on, dropout on.
    pub train: Option<ValidLoader<M>>,
    /// What settings are chosen on.
    pub valid: Option<ValidLoader<M>>,
    /// What is reported.
    pub test: Option<ValidLoader<M>>,
    /// Where given, it is measured on the first batch of this what the layers do,
    /// [`LayerMeasure`](gelu_compare::measure::LayerMeasure).
    pub probed: Option<ValidLoader<M>>,
}

impl<M: Trainable> std::fmt::Debug for Measuring<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Measuring").finish_non_exhaustive()
    }
}

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

    /// One pass over the training batches: the mean of their losses, and all else that they measure where
    /// the training set is not measured by itself.
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
        let by_batches = self.measuring.train.is_none();
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
                let (loss, done) = (tally.score()?.loss(), batches.progress().items_processed);
                self.session.progress.update(|progress| {
                    (progress.done, progress.batch_loss) = (done, Some(loss));
                });
            }
            if self.shown {
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

    /// Measures every split with dropout off, and which test examples are wrong where that is kept.
    fn measure(
        &self,
        epoch: usize,
        trained: Score,
        events: &mut Events<M>,
        learner: &Learner<M>,
    ) -> Result<(EpochMetrics, Option<Bits>)> {
        let model = learner.model().valid();
        let Measuring { train, valid, test, .. } = &self.measuring;
        let splits = [train.as_ref(), valid.as_ref(), test.as_ref()];
        let total = splits.iter().flatten().map(|split| split.num_items()).sum();
        self.session.progress.update(|progress| {
            (progress.phase, progress.done, progress.total) = (Phase::Evaluate, 0, total);
        });
        let count = |examples| self.session.progress.update(|progress| progress.done += examples);
        // Burn's own display has one curve beside the training's: validation where there is one,
        // else the test set.
        let on_display = match (self.shown, valid) {
            (false, _) => None,
            (true, Some(_)) => Some(Split::Valid),
            (true, None) => Some(Split::Test),
        };
        let mut wrong = Vec::new();
        let mut measure = |split: Split, loader: Option<&ValidLoader<M>>| -> Result<Score> {
            let Some(loader) = loader else { return Ok(Score::default()) };
            if on_display == Some(split) {
                self.tell_valid(
                    events,
                    LearnerEvent::StartSplit {
                        epoch_number: epoch,
                        total_items: loader.num_items(),
                    },
                )?;
            }
            let (mut done, mut batches) = (0, 0);
            let score = evaluate(&model, loader.as_ref(), |examples, output| {
                count(examples);
                if split == Split::Test && self.session.plan().outcomes {
                    wrong.extend(output.wrong());
                }
                if on_display != Some(split) {
                    return Ok(());
                }
                (done, batches) = (done + examples, batches + 1);
                let progress = Progress::new(done, loader.num_items(), Some("examples".to_owned()));
                let item = TrainingItem::new(output, progress, Some(batches), None);
                self.tell_valid(events, LearnerEvent::ProcessedItem(item))
            })?;
            if on_display == Some(split) {
                self.tell_valid(events, LearnerEvent::EndSplit(epoch))?;
            }
            Ok(score)
        };
        let batch_loss = trained.loss();
        let train = match train {
            None => trained,
            train => measure(Split::Train, train.as_ref())?,
        };
        let valid = measure(Split::Valid, valid.as_ref())?;
        let test = measure(Split::Test, test.as_ref())?;
        let mut metrics = EpochMetrics::new(epoch)
            .with("learning_rate", learner.lr_current().base())
            .with("batch_loss", batch_loss);
        let declared = <M as InferenceStep>::Output::measures();
        let names = || std::iter::once(LOSS).chain(declared.iter().map(|m| m.name.as_str()));
        for (split, score) in Split::ALL.into_iter().zip([train, valid, test]) {
            for name in names() {
                metrics.set(&format!("{split}_{name}"), score.get(name));
            }
        }
        for (column, value) in self.probed(learner)? {
            metrics.set(&column, value);
        }
        Ok((metrics, bits(wrong)?))
    }

    /// What the layers do, where that is asked for.
    fn probed(&self, learner: &Learner<M>) -> Result<Vec<(String, Option<f64>)>> {
        match &self.measuring.probed {
            Some(loader) => probe(&learner.model(), loader.as_ref(), &self.device),
            None => Ok(Vec::new()),
        }
    }

    fn tell_valid(
        &self,
        events: &mut Events<M>,
        event: LearnerEvent<<M as InferenceStep>::Output>,
    ) -> Result<()> {
        report(events.process_valid(event))
    }

    /// Tells Burn's metrics, where Burn's display shows them.
    fn show_train(&self, events: &mut Events<M>, event: TrainEvent<M>) -> Result<()> {
        match self.shown {
            true => report(events.process_train(event)),
            false => Ok(()),
        }
    }
}

/// Measures `model` on everything `loader` yields. `seen` hears the number of examples of every
/// batch and its output.
///
/// # Errors
///
/// When the loader fails, yields nothing, or a result cannot be read back from the device; that of `seen`.
pub fn evaluate<M: InferenceStep<Output: Measured>>(
    model: &M,
    loader: &dyn DataLoader<M::Input>,
    mut seen: impl FnMut(usize, M::Output) -> Result<()>,
) -> Result<Score> {
    let mut tally = Tally::default();
    for batch in loader.iter() {
        let batch = batch.map_err(|error| Error::Failed(error.to_string()))?;
        let output = model.step(batch);
        let measurement = output.measure();
        let examples = measurement.examples;
        tally.push(measurement);
        seen(examples, output)?;
    }
    tally.score()
}

/// What is true of examples batch by batch, as bits; `None` without a batch.
///
/// # Errors
///
/// When a result cannot be read back from the device.
pub fn bits(batches: Vec<Tensor<1, Bool>>) -> Result<Option<Bits>> {
    if batches.is_empty() {
        return Ok(None);
    }
    let all = Tensor::cat(batches, 0).try_into_data().map_err(unreadable)?;
    Ok(Some(all.iter::<bool>().collect()))
}

/// What a batch made of the network, as Burn's metrics are told of it.
type TrainEvent<M> = LearnerEvent<<M as TrainStep>::Output>;

fn report<E: std::fmt::Display>(result: std::result::Result<(), E>) -> Result<()> {
    result.map_err(|error| Error::Failed(error.to_string()))
}
