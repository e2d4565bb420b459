//! What a run trains, and how: put together step by step.

mod batches;
mod data;
mod lesson;

pub use batches::{Batches, Splits};

use crate::learn::Shown;
use crate::{Schedule, Trainable};
use burn::data::dataloader::batcher::Batcher;
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::train::SupervisedTraining;
use data::{Data, Input};

/// What a run trains, and how: a network, its optimiser and learning rate, its data, so many epochs.
///
/// ```
/// # use burn::data::dataloader::batcher::Batcher;
/// # use burn::data::dataset::Dataset;
/// # use burn::optim::AdamConfig;
/// # use gelu_learner::{Result, Run, Schedule, Trainable, Training};
/// # type Batch<N> = <N as burn::train::TrainStep>::Input;
/// fn training<N: Trainable, I: Send + 'static>(
///     run: &Run,
///     net: N,
///     batcher: impl Batcher<I, Batch<N>> + 'static,
///     [train, valid, test]: [impl Dataset<I> + 'static; 3],
/// ) -> Result<Training<N>> {
///     Ok(Training::of(net, AdamConfig::new().init(), run.get("rate")?)
///         .batches(64, batcher)
///         .train(train)
///         .valid(valid)
///         .test(test)
///         .epochs(10)
///         .schedule(Schedule::Cosine))
/// }
/// ```
#[must_use = "a training does nothing until a program carries it out"]
pub struct Training<M: Trainable> {
    model: M,
    optimizer: ModuleOptimizer,
    rate: f64,
    course: Course,
    batch_size: usize,
    epochs: usize,
    data: Option<Data<M>>,
    measure_train: bool,
    probes: bool,
    shown: Option<Shown<M>>,
}

/// How the learning rate goes on.
enum Course {
    Schedule(Schedule),
    Burn(ModuleLrScheduler),
}

impl<M: Trainable> std::fmt::Debug for Training<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Training").field("epochs", &self.epochs).finish_non_exhaustive()
    }
}

impl<M: Trainable> Training<M> {
    /// Of a network, as it was built for a run, by an optimiser of Burn's or of gelu-training's at this
    /// learning rate. Gradients are clipped by what the optimiser's config says
    /// (`AdamConfig::with_grad_clipping`).
    pub fn of(model: M, optimizer: impl Into<ModuleOptimizer>, rate: f64) -> Self {
        Self {
            model,
            optimizer: optimizer.into(),
            rate,
            course: Course::Schedule(Schedule::Constant),
            batch_size: 0,
            epochs: 0,
            data: None,
            measure_train: false,
            probes: false,
            shown: None,
        }
    }

    /// In batches of so many examples, which the batcher makes; the last of an epoch holds what is left.
    pub fn batches<I>(
        self,
        size: usize,
        batcher: impl Batcher<I, Input<M>> + 'static,
    ) -> Batches<M, I> {
        Batches::of(self, size, batcher)
    }

    /// The course of the learning rate, from the one that was given on; it stays as it is where nothing is
    /// said.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.course = Course::Schedule(schedule);
        self
    }

    /// The same by one of Burn's schedulers, asked once a batch; the rate that was given then counts for
    /// nothing.
    pub fn scheduler(mut self, scheduler: impl Into<ModuleLrScheduler>) -> Self {
        self.course = Course::Burn(scheduler.into());
        self
    }

    /// Measures what is trained on after every epoch, dropout off. Without it `train_…` is the mean over the
    /// batches as they were trained on, which costs nothing.
    pub fn measure_train(mut self) -> Self {
        self.measure_train = true;
        self
    }

    /// Measures after every epoch what the activation layers of gelu-core do: how many outputs are 0 and
    /// units dead, what pre-activations and gradients are like
    /// ([`LayerMeasure`](gelu_compare::measure::LayerMeasure)), on the first batch of the validation set, of
    /// the test set where there is none, or else of the training set.
    pub fn probes(mut self) -> Self {
        self.probes = true;
        self
    }

    /// Shows the training in Burn's own terminal display, with the metrics that this registers, where `train`
    /// has a terminal. The network's outputs have to have what these metrics are made of (Burn's `Adaptor`),
    /// as Burn's `ClassificationOutput` and `RegressionOutput` have.
    ///
    /// ```
    /// # use burn::train::metric::{Adaptor, LossInput, LossMetric, ItemLazy};
    /// # use burn::train::{InferenceStep, TrainStep};
    /// # use gelu_learner::{Trainable, Training};
    /// # fn shown<N: Trainable>(training: Training<N>) -> Training<N>
    /// # where
    /// #     <N as TrainStep>::Output: Adaptor<LossInput>,
    /// #     <N as InferenceStep>::Output: Adaptor<LossInput>,
    /// # {
    /// training.shown(|burn| burn.metrics((LossMetric::new(),)))
    /// # }
    /// ```
    pub fn shown(
        mut self,
        register: impl FnOnce(SupervisedTraining<M>) -> SupervisedTraining<M> + Send + 'static,
    ) -> Self {
        self.shown = Some(Box::new(register));
        self
    }
}
