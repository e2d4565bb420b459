//! A training, once all of it is known, as the loop wants it.

use super::data::{Input, Loading};
use super::{Course, Training};
use crate::learn::Lesson;
use crate::loader::Order;
use crate::{Error, Measuring, Result, Trainable};
use burn::tensor::Device;
use std::sync::Arc;

impl<M: Trainable> Training<M> {
    /// All that the loop needs, after so many epochs that are done.
    ///
    /// # Errors
    ///
    /// When there is nothing to train on, or a number makes no sense.
    pub(crate) fn lesson(self, seed: u64, done: usize, device: &Device) -> Result<Lesson<M>> {
        let Some(data) = self.data else { return refuse("there is no data to train on") };
        if self.batch_size == 0 {
            return refuse("a batch is to have 0 examples; it has to be at least 1");
        }
        if self.epochs == 0 {
            return refuse("0 epochs are to be trained; it has to be at least 1");
        }
        let splits = [("train", Some(&data.train)), ("valid", data.valid.as_ref())];
        for (split, data) in splits.into_iter().chain([("test", data.test.as_ref())]) {
            match data.map(|data| data.items()) {
                Some(0) => return refuse(&format!("the data set for .{split}(…) is empty")),
                Some(items) if i32::try_from(items).is_err() => {
                    return refuse(&format!("the {items} examples for .{split}(…) are too many"));
                }
                _ => {}
            }
        }
        let batches = data.train.items().div_ceil(self.batch_size);
        let rates = match self.course {
            Course::Burn(scheduler) => scheduler,
            Course::Schedule(schedule) => {
                if !(self.rate.is_finite() && self.rate > 0.0) {
                    return refuse(&format!(
                        "the learning rate is {}; it has to be above 0",
                        gelu_compare::names::number(self.rate)
                    ));
                }
                schedule.validate()?;
                schedule.rates(self.rate, self.epochs, batches).into()
            }
        };
        let measured = |data: Arc<dyn Loading<Input<M>>>| data.measured(device);
        let probed = [&data.valid, &data.test].into_iter().flatten().next().unwrap_or(&data.train);
        let probed = self.probes.then(|| measured(probed.clone()));
        Ok(Lesson {
            model: self.model,
            optimizer: self.optimizer,
            rates,
            epochs: self.epochs,
            train: data.train.trained(Order::shuffled(seed, done + 1), device),
            measuring: Measuring {
                train: self.measure_train.then(|| measured(data.train.clone())),
                valid: data.valid.map(measured),
                test: data.test.map(measured),
                probed,
                apart: Vec::new(),
            },
            clock: Box::new(|_| ()),
            shown: self.shown,
        })
    }
}

fn refuse<T>(problem: &str) -> Result<T> {
    Err(Error::Usage(problem.to_owned()))
}
