//! What a run trains, and how: put together step by step.

mod display;
mod prepared;

pub(crate) use prepared::{Further, MeasuredSplits, Prepared, Steps, check_rate};

use crate::epochs::Capture;
use crate::loader::BatchSource;
use crate::metrics::{RecordedMetrics, Recorder};
use crate::{EarlyStopping, Trainable};
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::train::{InferenceStep, SupervisedTraining};
use gelu_training::FixedBatch;

type Input<M> = <M as InferenceStep>::Input;

/// What a run trains, and how: a network, its optimiser and learning rate, its data, a number of epochs. Its
/// methods have the names of Burn's `SupervisedTraining` where that has them.
///
/// ```
/// # use burn::data::dataloader::batcher::Batcher;
/// # use burn::data::dataset::Dataset;
/// # use burn::optim::AdamConfig;
/// # use burn::train::StoppingCondition;
/// # use gelu_learner::{EarlyStopping, Loader, Result, Run, Trainable, Training};
/// # type Batch<N> = <N as burn::train::TrainStep>::Input;
/// fn training<N: Trainable, I: Send + 'static>(
///     run: &Run,
///     net: N,
///     augmenting: impl Batcher<I, Batch<N>> + 'static,
///     plain: impl Batcher<I, Batch<N>> + Clone + 'static,
///     [train, valid, test]: [impl Dataset<I> + 'static; 3],
/// ) -> Result<Training<N>> {
///     let learning_rate: f64 = run.get("learning_rate")?;
///     let patient = StoppingCondition::NoImprovementSince { n_epochs: 3 };
///     Ok(Training::new(net, AdamConfig::new().init(), learning_rate)
///         .train(Loader::new(train, augmenting).batch_size(64).drop_last())
///         .valid(Loader::new(valid, plain.clone()))
///         .test(Loader::new(test, plain))
///         .num_epochs(10)
///         .grads_accumulation(4)
///         .early_stopping(EarlyStopping::new("valid_loss", patient))
///         .clip_norm(1.0))
/// }
/// ```
#[must_use = "a training does nothing until a program carries it out"]
pub struct Training<M: Trainable> {
    pub(crate) model: M,
    optimizer: ModuleOptimizer,
    learning_rate: ModuleLrScheduler,
    train: Option<BatchSource<Input<M>>>,
    valid: Option<BatchSource<Input<M>>>,
    test: Option<BatchSource<Input<M>>>,
    measure_train: Option<BatchSource<Input<M>>>,
    num_epochs: usize,
    measure_every: usize,
    grads_accumulation: usize,
    clip_norm: Option<f64>,
    early_stopping: Option<EarlyStopping>,
    probes: Probes<M>,
    further: Vec<(String, &'static str, BatchSource<Input<M>>)>,
    recorders: Vec<Box<dyn Recorder<M>>>,
    display: Vec<Register<M>>,
    on_epoch: OnEpoch,
    capture: Option<Capture<M>>,
    class_names: Vec<String>,
    attached: Option<serde_json::Value>,
}

/// What layers are probed on.
enum Probes<M: Trainable> {
    None,
    /// The first split that is measured.
    Measured,
    On(BatchSource<Input<M>>),
}

/// Registers metrics with Burn's builder.
type Register<M> = Box<dyn FnOnce(SupervisedTraining<M>) -> SupervisedTraining<M> + Send>;

/// Called with the number of each epoch that begins, from 1.
type OnEpoch = Box<dyn Fn(usize) + Send + Sync>;

impl<M: Trainable> std::fmt::Debug for Training<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Training").field("num_epochs", &self.num_epochs).finish_non_exhaustive()
    }
}

impl<M: Trainable> Training<M> {
    /// Trains a network, as it was built for a run, with an optimiser of Burn's or of gelu-training's, at a
    /// learning rate: a number, or one of Burn's schedulers, as Burn's `Learner::new` takes them. A scheduler
    /// makes a step per step of the optimiser and goes on exactly where it was after a kill.
    ///
    /// Parts of a network may have optimisers and learning rates of their own (Burn's `with_group`). Name such a
    /// group by the path of its parameters (`ParamGroup::from_predicate("critic")`), because parameters get
    /// [numbers](crate::numbered) instead of their random identities here.
    ///
    /// ```
    /// # use burn::optim::AdamConfig;
    /// # use burn::optim::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
    /// # use gelu_learner::{Error, Loader, Result, Trainable, Training};
    /// # type Batch<N> = <N as burn::train::TrainStep>::Input;
    /// # fn training<N: Trainable>(net: N, train: Loader<u8, Batch<N>>) -> Result<Training<N>> {
    /// let steps = 10 * train.num_batches();
    /// let cosine = CosineAnnealingLrSchedulerConfig::new(1e-2, steps).init().map_err(Error::Usage)?;
    /// Ok(Training::new(net, AdamConfig::new().init(), cosine).train(train).num_epochs(10))
    /// # }
    /// ```
    pub fn new(
        model: M,
        optimizer: impl Into<ModuleOptimizer>,
        learning_rate: impl Into<ModuleLrScheduler>,
    ) -> Self {
        Self {
            model,
            optimizer: optimizer.into(),
            learning_rate: learning_rate.into(),
            train: None,
            valid: None,
            test: None,
            measure_train: None,
            num_epochs: 1,
            measure_every: 1,
            grads_accumulation: 1,
            clip_norm: None,
            early_stopping: None,
            probes: Probes::None,
            further: Vec::new(),
            recorders: Vec::new(),
            display: Vec::new(),
            on_epoch: Box::new(|_| ()),
            capture: None,
            class_names: Vec::new(),
            attached: None,
        }
    }

    /// Trains on this, shuffled anew every epoch. The last batch of an epoch holds what is left, unless the
    /// loader drops it.
    pub fn train(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.train = Some(loader.into());
        self
    }

    /// Chooses settings, and best epochs, on this: `valid_loss` and the like.
    pub fn valid(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.valid = Some(loader.into());
        self
    }

    /// Reports on this, which nothing is chosen on: `test_loss` and the like.
    pub fn test(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.test = Some(loader.into());
        self
    }

    /// Sets the number of epochs, 1 by default.
    pub fn num_epochs(mut self, num_epochs: usize) -> Self {
        self.num_epochs = num_epochs;
        self
    }

    /// Makes a step of the optimiser, and of the learning rate's scheduler, per this number of batches, with the
    /// sum of their gradients, as Burn's does; the last step of an epoch takes the batches that are left.
    pub fn grads_accumulation(mut self, batches: usize) -> Self {
        self.grads_accumulation = batches;
        self
    }

    /// Scales the gradients of a step down where the norm of all of them together is above this, as
    /// `clip_grad_norm_` of PyTorch ([`gelu_training::clip_by_global_norm`]). The configs of optimisers
    /// (`AdamConfig::with_grad_clipping`) clip each parameter by itself.
    pub fn clip_norm(mut self, largest: f64) -> Self {
        self.clip_norm = Some(largest);
        self
    }

    /// Ends the run where a metric has stopped improving, and restores the best epoch: its network is what the
    /// run saves and its metrics are what the run reports.
    pub fn early_stopping(mut self, strategy: EarlyStopping) -> Self {
        self.early_stopping = Some(strategy);
        self
    }

    /// Measures the splits after every `epochs`-th epoch and after the last. In the others only `train_…`, of
    /// the batches as they were trained on, has values.
    pub fn measure_every(mut self, epochs: usize) -> Self {
        self.measure_every = epochs;
        self
    }

    /// Measures `train_…` on this after every epoch, dropout off: the training set as its batcher makes it
    /// for measuring. Without it `train_…` is the mean over the batches as they were trained on, which costs
    /// nothing. With it that mean of the loss has a column of its own, `batch_loss`: it is of networks that changed
    /// during the epoch, with dropout and augmentation, so it cannot be compared with `test_loss`, and shows alone
    /// how the steps of the optimiser went.
    pub fn measure_train(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.measure_train = Some(loader.into());
        self
    }

    /// Measures one metric on further examples, next to the splits: under other noise, or from another region.
    /// `column` is what files call the result, `test_outside`; `metric` is `loss` or a metric of the network's
    /// output.
    pub fn measure_on(
        mut self,
        column: &str,
        metric: &'static str,
        loader: impl Into<BatchSource<Input<M>>>,
    ) -> Self {
        self.further.push((column.to_owned(), metric, loader.into()));
        self
    }

    /// Measures after every epoch what the activation layers of gelu-core do: how many outputs are 0 and
    /// units dead, what pre-activations and gradients are like
    /// ([`LayerMeasure`](gelu_compare::measure::LayerMeasure)), on the first batch of `.valid(…)` as its
    /// batcher makes it. Without a validation set it is that of `.test(…)`, else of `.measure_train(…)`, else
    /// of `.train(…)`.
    pub fn probes(mut self) -> Self {
        self.probes = Probes::Measured;
        self
    }

    /// Measures what the layers do, as [`probes`](Self::probes), on the first batch of this.
    pub fn probes_on(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.probes = Probes::On(loader.into());
        self
    }

    /// Records numeric metrics of Burn's, or of your own that implement Burn's `Metric` and `Numeric`, of every
    /// split that is measured: `AurocMetric` becomes the columns `valid_auroc_…` and `test_auroc_…`, with the
    /// values that Burn computes at the end of a split. The network's outputs have to have what the metrics are
    /// made of (Burn's `Adaptor`).
    ///
    /// ```
    /// # use burn::train::metric::{AccuracyMetric, ClassReduction, ConfusionStatsInput, AccuracyInput};
    /// # use burn::train::metric::{Adaptor, AurocMetric};
    /// # use burn::train::{InferenceStep, TrainStep};
    /// # use gelu_learner::{Trainable, Training};
    /// # fn recorded<N>(training: Training<N>) -> Training<N>
    /// # where
    /// #     N: Trainable,
    /// #     <N as InferenceStep>::Output: Adaptor<AccuracyInput> + Adaptor<ConfusionStatsInput>,
    /// # {
    /// training.record((AccuracyMetric::new(), AurocMetric::multiclass(ClassReduction::Macro)))
    /// # }
    /// ```
    pub fn record(mut self, metrics: impl RecordedMetrics<M>) -> Self {
        metrics.add_to(&mut self.recorders);
        self
    }

    /// Calls a function with the number of each epoch that begins, from 1, before its first batch.
    pub fn on_epoch(mut self, function: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_epoch = Box::new(function);
        self
    }

    /// Records a step once and replays it, where the device can (CUDA, HIP and wgpu), which spares a small network most
    /// of the time that launching its kernels takes. The results are those of eager steps, bit by bit: before the first
    /// epoch copies of the network are trained both ways on examples that are measured, and where they differ, or
    /// something cannot be recorded, the program says what and trains eagerly. `--no-capture` turns it off.
    ///
    /// What can be recorded, and what the batch has to implement, is said of
    /// [`CapturedStep`](gelu_training::CapturedStep) and [`FixedBatch`](gelu_training::FixedBatch).
    pub fn captured(mut self) -> Self
    where
        Input<M>: FixedBatch,
    {
        self.capture = Some(Capture::new());
        self
    }

    /// Trains by eager steps.
    pub(crate) fn without_capture(mut self) -> Self {
        self.capture = None;
        self
    }

    /// Gives the classes names, by their numbers. Then each split that is measured has the error of each class
    /// (`test_error_cat`: the share of cats that are taken for something else), the run saves which classes test
    /// examples were taken for ([`Confusion`](crate::Confusion)), and the names are saved with the network
    /// ([`Trained::class_names`](crate::Trained::class_names)). The network's output has to say the
    /// [classes](crate::ModelOutput::classes); Burn's `ClassificationOutput` does.
    pub fn class_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.class_names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Saves a value with the network: what predicting needs beside its parameters, such as the mean and the
    /// deviation of inputs, or a vocabulary. [`Trained::attached`](crate::Trained::attached)
    /// gives it back.
    ///
    /// # Panics
    ///
    /// If the value cannot be written as JSON.
    pub fn attach(mut self, value: &impl serde::Serialize) -> Self {
        self.attached = Some(serde_json::to_value(value).expect("the value is written as JSON"));
        self
    }
}

#[cfg(test)]
mod tests;
