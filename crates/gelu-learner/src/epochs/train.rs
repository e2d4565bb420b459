use super::{CapturedSteps, EpochByEpoch, Events};
use crate::split_metrics::{MetricSums, SplitMetrics};
use crate::training::check_rate;
use crate::{Error, ModelOutput, Result, Trainable};
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::train::{Learner, LearnerEvent, TrainLoader, TrainingItem};
use gelu_compare::runs::{Phase, Spec};
use gelu_training::clip_by_global_norm;

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    /// Trains for one pass over the training batches. Returns the mean of their losses, and the other metrics too if
    /// the training set is not measured separately.
    pub(super) fn train(
        &self,
        epoch: usize,
        events: &mut Events<M>,
        learner: &mut Learner<M>,
        loader: &TrainLoader<M>,
        mut steps: Option<&mut (dyn CapturedSteps<M> + 'static)>,
    ) -> Result<SplitMetrics> {
        let total_items = loader.num_items();
        self.session.progress.update(|progress| {
            (progress.epoch, progress.phase) = (epoch, Phase::Train);
            (progress.done, progress.total) = (0, total_items);
        });
        self.show_train(events, LearnerEvent::StartSplit { epoch_number: epoch, total_items })?;
        let by_batches = self.measured.train.is_none();
        let (mut sums, mut iterations) = (MetricSums::default(), 0);
        let (mut accumulator, mut accumulated) = (GradientsAccumulator::new(), 0);
        let mut batches = loader.iter();
        while let Some(batch) = batches.next() {
            let batch = batch.map_err(|error| Error::Failed(error.to_string()))?;
            iterations += 1;
            let (metrics, item) = match steps.as_deref_mut() {
                Some(steps) => (self.captured_step(steps, learner, batch)?, None),
                None => {
                    let output = learner.train_step(batch);
                    match self.steps.grads_accumulation {
                        1 => self.step(learner, output.grads)?,
                        per_step => {
                            accumulator.accumulate(&learner.model(), output.grads);
                            accumulated += 1;
                            if accumulated == per_step {
                                self.step(learner, accumulator.grads())?;
                                accumulated = 0;
                            }
                        }
                    }
                    let metrics = match by_batches {
                        true => output.item.measure(),
                        false => output.item.measure_loss(),
                    };
                    (metrics, Some(output.item))
                }
            };
            sums.push(metrics);
            // Reading a loss back waits for the device, so do it only when a display update is due.
            if self.session.progress.is_due() {
                let (loss, done) = (sums.finish()?.loss(), batches.progress().items_processed);
                self.session.progress.update(|progress| {
                    (progress.done, progress.batch_loss) = (done, Some(loss));
                });
            }
            if let Some(item) = item.filter(|_| self.shown) {
                let (progress, rate) = (batches.progress(), learner.lr_current());
                let item = TrainingItem::new(item, progress, Some(iterations), Some(rate));
                self.show_train(events, LearnerEvent::ProcessedItem(item))?;
            }
            if self.session.stops_now() {
                break;
            }
        }
        if accumulated > 0 {
            self.step(learner, accumulator.grads())?;
        }
        self.show_train(events, LearnerEvent::EndSplit(epoch))?;
        sums.finish()
    }

    /// Takes one step of the optimiser and of the learning rate.
    fn step(&self, learner: &mut Learner<M>, gradients: GradientsParams) -> Result<()> {
        learner.lr_step();
        check_rate(learner.lr_current().base())?;
        learner.optimizer_step(match self.steps.clip_norm {
            Some(largest) => clip_by_global_norm(gradients, &learner.model(), largest),
            None => gradients,
        });
        Ok(())
    }
}
