//! The splits, measured after an epoch.

use super::{EpochByEpoch, Events};
use crate::measurement::LOSS;
use crate::probe::probe;
use crate::tally::{Score, Tally, unreadable};
use crate::{Error, Measured, Result, Trainable};
use burn::data::dataloader::{DataLoader, Progress};
use burn::tensor::{Bool, Tensor};
use burn::train::{InferenceStep, Learner, LearnerEvent, TrainingItem, ValidLoader};
use gelu_compare::measure::{Bits, EpochMetrics, Split};
use gelu_compare::runs::{Phase, Spec};

/// The splits as they are measured, in order, with dropout off.
pub struct Measuring<M: Trainable> {
    /// What is trained on; without it the batches count as they were trained on, dropout on.
    pub train: Option<ValidLoader<M>>,
    /// What settings are chosen on.
    pub valid: Option<ValidLoader<M>>,
    /// What is reported.
    pub test: Option<ValidLoader<M>>,
    /// Where given, it is measured on the first batch of this what the layers do,
    /// [`LayerMeasure`](gelu_compare::measure::LayerMeasure): batches of `valid`, of `test` where there is
    /// none, or else of the training set, as they are made for measuring.
    pub probed: Option<ValidLoader<M>>,
    /// Further examples that one measure of is reported, beside the splits.
    pub apart: Vec<Apart<M>>,
}

/// Examples that are measured apart from the splits: under other noise, or from another region.
pub struct Apart<M: Trainable> {
    /// The column of what is measured: `test_outside`.
    pub column: &'static str,
    /// Which measure of the network's output that is: `loss`, or what [`Measured`] calls it.
    pub measure: &'static str,
    /// The examples.
    pub examples: ValidLoader<M>,
}

impl<M: Trainable> std::fmt::Debug for Measuring<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Measuring").finish_non_exhaustive()
    }
}

impl<M: Trainable> std::fmt::Debug for Apart<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Apart").field("column", &self.column).finish_non_exhaustive()
    }
}

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    /// Measures every split with dropout off, and which test examples are wrong where that is kept.
    pub(super) fn measure(
        &self,
        epoch: usize,
        trained: Score,
        events: &mut Events<M>,
        learner: &Learner<M>,
    ) -> Result<(EpochMetrics, Option<Bits>)> {
        let model = learner.model().valid();
        let Measuring { train, valid, test, apart, .. } = &self.measuring;
        let splits = [train.as_ref(), valid.as_ref(), test.as_ref()].into_iter().flatten();
        let all = splits.chain(apart.iter().map(|apart| &apart.examples));
        let total = all.map(|split| split.num_items()).sum();
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
            self.session.begin_part(epoch, part_of(split), &self.device);
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
        let mut beside = Vec::with_capacity(apart.len());
        for (index, Apart { column, measure, examples }) in apart.iter().enumerate() {
            self.session.begin_part(epoch, Split::ALL.len() + index, &self.device);
            let score = evaluate(&model, examples.as_ref(), |examples, _| {
                count(examples);
                Ok(())
            })?;
            beside.push((*column, score.get(measure)));
        }
        let mut metrics = EpochMetrics::new(epoch)
            .with("learning_rate", learner.lr_current().base())
            .with("batch_loss", batch_loss);
        let declared = <M as InferenceStep>::Output::measures();
        let names = || std::iter::once(LOSS).chain(declared.iter().map(|m| m.name.as_str()));
        for (split, score) in Split::ALL.into_iter().zip([train, valid, test]) {
            for name in names() {
                metrics.set(&format!("{split}_{name}"), score.get(name));
            }
            // What no declaration names: of networks of one type some may measure more than others.
            for (name, value) in score.measures() {
                metrics.set(&format!("{split}_{name}"), value);
            }
        }
        for (column, value) in beside {
            metrics.set(column, value);
        }
        for (column, value) in self.probed(epoch, learner)? {
            metrics.set(&column, value);
        }
        Ok((metrics, bits(wrong)?))
    }

    /// What the layers do, where that is asked for.
    fn probed(&self, epoch: usize, learner: &Learner<M>) -> Result<Vec<(String, Option<f64>)>> {
        let Measuring { probed: Some(loader), valid, test, .. } = &self.measuring else {
            return Ok(Vec::new());
        };
        // As that part was measured, or would be: a batcher that draws makes the same first batch.
        let split = match (valid, test) {
            (Some(_), _) => Split::Valid,
            (None, Some(_)) => Split::Test,
            (None, None) => Split::Train,
        };
        self.session.begin_part(epoch, part_of(split), &self.device);
        probe(&learner.model(), loader.as_ref(), &self.device)
    }
}

/// The number of a split among the parts of the data.
fn part_of(split: Split) -> usize {
    match split {
        Split::Train => 0,
        Split::Valid => 1,
        Split::Test => 2,
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
