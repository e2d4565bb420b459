//! The description of a run's training, built step by step.

mod display;
mod prepared;

pub(crate) use prepared::{Further, MeasuredSplits, Prepared, Steps, check_rate};

use crate::capture::Capture;
use crate::loader::BatchSource;
use crate::metrics::{RecordedMetrics, Recorder};
use crate::{EarlyStopping, Trainable};
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::train::{InferenceStep, SupervisedTraining};
use gelu_training::FixedBatch;

type Input<M> = <M as InferenceStep>::Input;

/// The description of a run's training: a network, its optimiser and learning rate, its data, and a number of epochs.
/// Its methods have the same names as those of Burn's `SupervisedTraining`, if Burn has such a method.
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

/// The batch that layers are probed on.
enum Probes<M: Trainable> {
    None,
    /// The first batch of the first measured split.
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
    /// Creates a training of `model`, the network built for a run, with an optimiser from Burn or gelu-training.
    ///
    /// `learning_rate` is a number or one of Burn's schedulers, as in Burn's `Learner::new`. A scheduler makes one
    /// step per step of the optimiser, and a resumed run continues it exactly.
    ///
    /// Parts of a network can have optimisers and learning rates of their own (Burn's `with_group`). Name such a
    /// group by the path of its parameters (`ParamGroup::from_predicate("critic")`), because this crate gives
    /// parameters [numbers](crate::numbered) instead of their random identities.
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

    /// Sets the training set, shuffled anew in every epoch. The last batch of an epoch holds the rest, unless the
    /// loader drops it.
    pub fn train(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.train = Some(loader.into());
        self
    }

    /// Sets the validation set, which chooses settings and best epochs: `valid_loss` and the like.
    pub fn valid(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.valid = Some(loader.into());
        self
    }

    /// Sets the test set, which is only reported: `test_loss` and the like.
    pub fn test(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.test = Some(loader.into());
        self
    }

    /// Sets the number of epochs, 1 by default.
    pub fn num_epochs(mut self, num_epochs: usize) -> Self {
        self.num_epochs = num_epochs;
        self
    }

    /// Makes one step of the optimiser and of the learning rate's scheduler per `batches` batches, with the sum of
    /// their gradients, as Burn does. The last step of an epoch uses the remaining batches.
    pub fn grads_accumulation(mut self, batches: usize) -> Self {
        self.grads_accumulation = batches;
        self
    }

    /// Scales the gradients of a step down if the norm of all of them together exceeds `largest`, like PyTorch's
    /// `clip_grad_norm_` ([`gelu_training::clip_by_global_norm`]). The configs of optimisers
    /// (`AdamConfig::with_grad_clipping`) clip each parameter separately.
    pub fn clip_norm(mut self, largest: f64) -> Self {
        self.clip_norm = Some(largest);
        self
    }

    /// Ends the run when a metric has stopped improving, and restores the best epoch: the run saves this epoch's
    /// network and reports its metrics.
    pub fn early_stopping(mut self, strategy: EarlyStopping) -> Self {
        self.early_stopping = Some(strategy);
        self
    }

    /// Measures the splits after every `epochs`-th epoch and after the last one. The other epochs only have
    /// `train_…`, measured on the batches during training.
    pub fn measure_every(mut self, epochs: usize) -> Self {
        self.measure_every = epochs;
        self
    }

    /// Measures `train_…` on `loader` after every epoch with dropout off: the training set, with a batcher for
    /// measuring.
    ///
    /// Without it, `train_…` is the mean over the batches during training, which costs nothing. With it, that mean of
    /// the loss moves to the column `batch_loss`. The mean is of a network that changes during the epoch, with
    /// dropout and augmentation, so you cannot compare it with `test_loss`; it only shows the progress of the
    /// optimiser.
    pub fn measure_train(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.measure_train = Some(loader.into());
        self
    }

    /// Measures one metric on further examples besides the splits, for example under other noise or from another
    /// region. `column` is the name of the result in files, such as `test_outside`; `metric` is `loss` or a metric of
    /// the network's output.
    pub fn measure_on(
        mut self,
        column: &str,
        metric: &'static str,
        loader: impl Into<BatchSource<Input<M>>>,
    ) -> Self {
        self.further.push((column.to_owned(), metric, loader.into()));
        self
    }

    /// Measures the activation layers of gelu-core after every epoch: shares of zero outputs and dead units,
    /// pre-activations and gradients ([`LayerMeasure`](crate::networks::LayerMeasure)).
    ///
    /// It uses the first batch of `.valid(…)` as its batcher makes it. Without a validation set it uses `.test(…)`,
    /// otherwise `.measure_train(…)`, otherwise `.train(…)`.
    pub fn probes(mut self) -> Self {
        self.probes = Probes::Measured;
        self
    }

    /// Measures the layers like [`probes`](Self::probes), on the first batch of `loader`.
    pub fn probes_on(mut self, loader: impl Into<BatchSource<Input<M>>>) -> Self {
        self.probes = Probes::On(loader.into());
        self
    }

    /// Records numeric metrics for every measured split: Burn's, or your own that implement Burn's `Metric` and
    /// `Numeric`. `AurocMetric` becomes the columns `valid_auroc_…` and `test_auroc_…`, with the values that Burn
    /// computes at the end of a split. The network's outputs must provide the inputs of the metrics (Burn's
    /// `Adaptor`).
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

    /// Calls `function` with the number of each epoch, from 1, before its first batch.
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

    /// Names the classes, by their numbers. Then each measured split has the error of each class (`test_error_cat`:
    /// the share of cats that the network assigns to another class), the run saves a confusion table of the test
    /// examples ([`Confusion`](crate::Confusion)), and the names are saved with the network
    /// ([`Trained::class_names`](crate::Trained::class_names)). The network's output must report the
    /// [classes](crate::ModelOutput::classes); Burn's `ClassificationOutput` does.
    pub fn class_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.class_names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Saves a value with the network that prediction needs besides the parameters, such as the mean and the
    /// deviation of inputs, or a vocabulary. [`Trained::attached`](crate::Trained::attached) returns it.
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
