//! A complete, checked training, ready for the training loop.

use super::display::registered;
use super::{Input, OnEpoch, Probes, Register, Training};
use crate::capture::Capture;
use crate::checkpoint::{ATTACHED, CLASS_NAMES, Metadata};
use crate::loader::{BatchSource, Order, refuse};
use crate::metrics::Recorder;
use crate::{EarlyStopping, ModelOutput, Result, Trainable};
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::tensor::Device;
use burn::train::{InferenceStep, SupervisedTraining, TrainLoader, ValidLoader};
use gelu_compare::measure::{Direction, Measure, Split};
use gelu_compare::names::number;

/// A training whose numbers are valid, with its loaders on the device.
pub(crate) struct Prepared<M: Trainable> {
    pub(crate) model: M,
    pub(crate) optimizer: ModuleOptimizer,
    pub(crate) learning_rate: ModuleLrScheduler,
    pub(crate) num_epochs: usize,
    /// The batches of the remaining epochs, one pass after the other.
    pub(crate) train: TrainLoader<M>,
    pub(crate) steps: Steps,
    pub(crate) measured: MeasuredSplits<M>,
    pub(crate) early_stopping: Option<EarlyStopping>,
    pub(crate) on_epoch: OnEpoch,
    pub(crate) capture: Option<Capture<M>>,
    /// Values saved with the network.
    pub(crate) metadata: Metadata,
    display: Vec<Register<M>>,
}

/// The rules by which batches become steps of the optimiser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// Batches per step.
    pub(crate) grads_accumulation: usize,
    /// The largest norm of all gradients together.
    pub(crate) clip_norm: Option<f64>,
}

/// The measured splits, with dropout off.
pub(crate) struct MeasuredSplits<M: Trainable> {
    /// Number of epochs from one measurement to the next.
    pub(crate) every: usize,
    /// The training set; `None` if the training metrics come from the training batches, with dropout on.
    pub(crate) train: Option<ValidLoader<M>>,
    pub(crate) valid: Option<ValidLoader<M>>,
    pub(crate) test: Option<ValidLoader<M>>,
    /// The loader whose first batch the layers are probed on.
    pub(crate) probed: Option<ValidLoader<M>>,
    pub(crate) further: Vec<Further<M>>,
    pub(crate) recorders: Vec<Box<dyn Recorder<M>>>,
    /// The names of the classes; empty if they have none.
    pub(crate) class_names: Vec<String>,
}

/// Examples on which one metric is measured, besides the splits.
pub(crate) struct Further<M: Trainable> {
    pub(crate) column: String,
    pub(crate) metric: &'static str,
    pub(crate) examples: ValidLoader<M>,
}

impl<M: Trainable> std::fmt::Debug for Prepared<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("num_epochs", &self.num_epochs).finish_non_exhaustive()
    }
}

impl<M: Trainable> Prepared<M> {
    pub(crate) fn has_display(&self) -> bool {
        !self.display.is_empty()
    }

    /// Registers the metrics of Burn's display.
    pub(crate) fn registered(&mut self, training: SupervisedTraining<M>) -> SupervisedTraining<M> {
        registered(std::mem::take(&mut self.display), training)
    }
}

impl<M: Trainable> Training<M> {
    /// Checks the training of the run with this seed, `done` of whose epochs are finished, and creates its loaders.
    /// For the metrics in `higher`, higher values are better.
    ///
    /// # Errors
    ///
    /// If there are no training examples, or a number is invalid.
    pub(crate) fn prepared(
        self,
        seed: u64,
        done: usize,
        device: &Device,
        higher: &[String],
    ) -> Result<Prepared<M>> {
        let Some(train) = self.train else {
            return refuse(
                "there is no data to train on; give some with .train(Loader::new(…))".to_owned(),
            );
        };
        let batch_size = train.checked("train", None)?;
        for (number, method) in [
            (self.num_epochs, "num_epochs(10)"),
            (self.grads_accumulation, "grads_accumulation(4)"),
            (self.measure_every, "measure_every(5)"),
        ] {
            if number == 0 {
                let (name, _) = method.split_once('(').unwrap_or((method, ""));
                return refuse(format!("{name} is 0; it has to be at least 1, as in .{method}"));
            }
        }
        if let Some(largest) =
            self.clip_norm.filter(|largest| !(largest.is_finite() && *largest > 0.0))
        {
            return refuse(format!(
                "clip_norm is {}; it has to be a number above 0, as in .clip_norm(1.0)",
                number(largest)
            ));
        }
        // Of a scheduler, only the first rate is known here; the training checks the later ones step by step.
        let first = self.learning_rate.clone().step().base();
        check_rate(first)?;
        let loader = |split: &str, source: &BatchSource<Input<M>>| -> Result<ValidLoader<M>> {
            let size = source.checked(split, batch_size)?;
            Ok(source.loader(size, Order::Sequential, device))
        };
        let measured = |split: &str, source: &Option<BatchSource<Input<M>>>| {
            source.as_ref().map(|source| loader(split, source)).transpose()
        };
        let as_trained = measured("measure_train", &self.measure_train)?;
        let valid = measured("valid", &self.valid)?;
        let test = measured("test", &self.test)?;
        let probed = match &self.probes {
            Probes::None => None,
            Probes::On(source) => Some(loader("probes_on", source)?),
            Probes::Measured => {
                let first = [&valid, &test, &as_trained].into_iter().flatten().next().cloned();
                Some(first.unwrap_or_else(|| train.loader(batch_size, Order::Sequential, device)))
            }
        };
        let further = self.further.into_iter().map(|(column, metric, source)| {
            let examples = loader("measure_on", &source)?;
            Ok(Further { column, metric, examples })
        });
        let declared = <M as InferenceStep>::Output::metrics();
        let early_stopping = self.early_stopping.map(|strategy| {
            let (_, quantity) = Split::of_name(strategy.metric());
            let of_output =
                |metric: &Measure| metric.name == quantity && metric.direction == Direction::Higher;
            let mut of_burn = self.recorders.iter();
            let is_higher = higher.iter().any(|column| column == strategy.metric())
                || declared.iter().any(of_output)
                || of_burn.any(|metric| metric.column() == quantity && metric.is_higher_better());
            match is_higher {
                true => strategy.higher(),
                false => strategy,
            }
        });
        let json = |value: &[String]| serde_json::to_string(value).expect("names are text");
        let names = (!self.class_names.is_empty()).then(|| (CLASS_NAMES, json(&self.class_names)));
        let attached = self.attached.map(|value| (ATTACHED, value.to_string()));
        Ok(Prepared {
            model: self.model,
            optimizer: self.optimizer,
            learning_rate: self.learning_rate,
            num_epochs: self.num_epochs,
            train: train.loader(batch_size, Order::shuffled(seed, done + 1), device),
            steps: Steps { grads_accumulation: self.grads_accumulation, clip_norm: self.clip_norm },
            measured: MeasuredSplits {
                every: self.measure_every,
                train: as_trained,
                valid,
                test,
                probed,
                further: further.collect::<Result<_>>()?,
                recorders: self.recorders,
                class_names: self.class_names,
            },
            early_stopping,
            on_epoch: self.on_epoch,
            capture: self.capture,
            metadata: attached.into_iter().chain(names).collect(),
            display: self.display,
        })
    }
}

/// Checks that the learning rate is finite and not negative.
pub(crate) fn check_rate(rate: f64) -> Result<()> {
    match rate.is_finite() && rate >= 0.0 {
        true => Ok(()),
        false => refuse(format!(
            "the learning rate is {}; it has to be a number, at least 0",
            number(rate)
        )),
    }
}
