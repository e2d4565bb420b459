//! A training, once all of it is known, as the loop wants it.

use super::loader::{Checked, Loader, refuse};
use super::{Course, Input, Training};
use crate::learn::Lesson;
use crate::loader::Order;
use crate::{Measuring, Result, Trainable};
use burn::tensor::Device;
use burn::train::ValidLoader;

impl<M: Trainable> Training<M> {
    /// All that the loop needs, after so many epochs that are done.
    ///
    /// # Errors
    ///
    /// When there is nothing to train on, or a number makes no sense.
    pub(crate) fn lesson(self, seed: u64, done: usize, device: &Device) -> Result<Lesson<M>> {
        let Some(train) = self.train else {
            return refuse(
                "there is no data to train on; give some by .train(Loader::new(…))".to_owned(),
            );
        };
        let Checked { batch_size, batches } = train.checked("train", None)?;
        if self.epochs == 0 {
            return refuse(
                "0 epochs are to be trained; it has to be at least 1, as in .epochs(10)".to_owned(),
            );
        }
        let measured = |split: &str, loader: Option<Loader<Input<M>>>| {
            let Some(loader) = loader else { return Ok(None) };
            if loader.drops_last() {
                return refuse(format!(
                    ".{split}(…) measures all examples, and .drop_last() would leave some out; use it for \
                     .train(…) alone"
                ));
            }
            let of = loader.checked(split, Some(batch_size))?;
            Ok(Some(loader.batches(of, Order::Sequential, device)))
        };
        let of = Checked { batch_size, batches };
        let [as_trained, valid, test]: [Option<ValidLoader<M>>; 3] = [
            measured("measure_train", self.measure_train)?,
            measured("valid", self.valid)?,
            measured("test", self.test)?,
        ];
        let rates = match self.course {
            Course::Burn(scheduler) => scheduler,
            Course::Refused => {
                return refuse(
                    "Training::scheduled(…) takes its learning rate from Burn's scheduler, and \
                     .schedule(…) would need one to begin with; leave one of them out"
                        .to_owned(),
                );
            }
            Course::Schedule { rate, schedule } => {
                if !(rate.is_finite() && rate > 0.0) {
                    return refuse(format!(
                        "the learning rate is {}; it has to be above 0",
                        gelu_compare::names::number(rate)
                    ));
                }
                schedule.validate()?;
                schedule.rates(rate, self.epochs, batches).into()
            }
        };
        let probed = self.probes.then(|| {
            let measured = [&valid, &test, &as_trained].into_iter().flatten().next().cloned();
            measured.unwrap_or_else(|| train.batches(of, Order::Sequential, device))
        });
        Ok(Lesson {
            model: self.model,
            optimizer: self.optimizer,
            rates,
            epochs: self.epochs,
            train: train.batches(of, Order::shuffled(seed, done + 1), device),
            measuring: Measuring { train: as_trained, valid, test, probed, apart: Vec::new() },
            clock: Box::new(|_| ()),
            shown: self.shown,
        })
    }
}
