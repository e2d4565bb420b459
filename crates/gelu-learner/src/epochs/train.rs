use super::{EpochByEpoch, Events};
use crate::tally::{Score, Tally};
use crate::{Error, Measured, Result, Trainable};
use burn::train::{Learner, LearnerEvent, TrainLoader, TrainingItem};
use gelu_compare::runs::{Phase, Spec};

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    /// One pass over the training batches: the mean of their losses, and all else that they measure where
    /// the training set is not measured by itself.
    pub(super) fn train(
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
}
