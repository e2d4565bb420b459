//! What a run trains, and how: put together step by step.

mod lesson;
mod loader;

pub use loader::Loader;

use crate::learn::{Shown, ShownMetrics};
use crate::{Schedule, Trainable};
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::train::InferenceStep;

type Input<M> = <M as InferenceStep>::Input;

/// What a run trains, and how: a network, its optimiser and learning rate, its data, a number of epochs.
///
/// ```
/// # use burn::data::dataloader::batcher::Batcher;
/// # use burn::data::dataset::Dataset;
/// # use burn::optim::AdamConfig;
/// # use gelu_learner::{Loader, Result, Run, Schedule, Trainable, Training};
/// # type Batch<N> = <N as burn::train::TrainStep>::Input;
/// fn training<N: Trainable, I: Send + 'static>(
///     run: &Run,
///     net: N,
///     augmenting: impl Batcher<I, Batch<N>> + 'static,
///     plain: impl Batcher<I, Batch<N>> + Clone + 'static,
///     [train, valid, test]: [impl Dataset<I> + 'static; 3],
/// ) -> Result<Training<N>> {
///     Ok(Training::of(net, AdamConfig::new().init(), run.get("rate")?)
///         .train(Loader::new(train, augmenting).batch_size(64))
///         .valid(Loader::new(valid, plain.clone()))
///         .test(Loader::new(test, plain))
///         .epochs(10)
///         .schedule(Schedule::Cosine))
/// }
/// ```
#[must_use = "a training does nothing until a program carries it out"]
pub struct Training<M: Trainable> {
    model: M,
    optimizer: ModuleOptimizer,
    course: Course,
    epochs: usize,
    train: Option<Loader<Input<M>>>,
    valid: Option<Loader<Input<M>>>,
    test: Option<Loader<Input<M>>>,
    measure_train: Option<Loader<Input<M>>>,
    probes: bool,
    shown: Option<Shown<M>>,
}

/// How the learning rate goes on.
enum Course {
    Schedule {
        rate: f64,
        schedule: Schedule,
    },
    Burn(ModuleLrScheduler),
    /// A scheduler of Burn's was given, and then a schedule.
    Refused,
}

impl<M: Trainable> std::fmt::Debug for Training<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Training").field("epochs", &self.epochs).finish_non_exhaustive()
    }
}

impl<M: Trainable> Training<M> {
    /// Trains a network, as it was built for a run, by an optimiser of Burn's or of gelu-training's at this
    /// learning rate. Gradients are clipped by what the optimiser's config says
    /// (`AdamConfig::with_grad_clipping`).
    pub fn of(model: M, optimizer: impl Into<ModuleOptimizer>, rate: f64) -> Self {
        let course = Course::Schedule { rate, schedule: Schedule::Constant };
        Self::with_course(model, optimizer.into(), course)
    }

    /// The same at the learning rates of one of Burn's schedulers, which is asked once per batch. Build it from
    /// the value of the run: there is no other learning rate, so none that was tuned can go unused.
    pub fn scheduled(
        model: M,
        optimizer: impl Into<ModuleOptimizer>,
        scheduler: impl Into<ModuleLrScheduler>,
    ) -> Self {
        Self::with_course(model, optimizer.into(), Course::Burn(scheduler.into()))
    }

    fn with_course(model: M, optimizer: ModuleOptimizer, course: Course) -> Self {
        Self {
            model,
            optimizer,
            course,
            epochs: 0,
            train: None,
            valid: None,
            test: None,
            measure_train: None,
            probes: false,
            shown: None,
        }
    }

    /// Trains on this, shuffled anew every epoch. The last batch of an epoch holds what is left, unless the
    /// loader drops it.
    pub fn train(mut self, loader: Loader<Input<M>>) -> Self {
        self.train = Some(loader);
        self
    }

    /// Chooses settings, and best epochs, on this: `valid_loss` and the like.
    pub fn valid(mut self, loader: Loader<Input<M>>) -> Self {
        self.valid = Some(loader);
        self
    }

    /// Reports on this, which nothing is chosen on: `test_loss` and the like.
    pub fn test(mut self, loader: Loader<Input<M>>) -> Self {
        self.test = Some(loader);
        self
    }

    /// Trains for this number of epochs.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.epochs = epochs;
        self
    }

    /// The course of the learning rate, from the given one on. Without it the learning rate stays as it is. Not
    /// with [`scheduled`](Self::scheduled).
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.course = match self.course {
            Course::Schedule { rate, .. } => Course::Schedule { rate, schedule },
            Course::Burn(_) | Course::Refused => Course::Refused,
        };
        self
    }

    /// Measures `train_…` on this after every epoch, dropout off: the training set as its batcher makes it
    /// for measuring. Without it `train_…` is the mean over the batches as they were trained on, which costs
    /// nothing.
    pub fn measure_train(mut self, loader: Loader<Input<M>>) -> Self {
        self.measure_train = Some(loader);
        self
    }

    /// Measures after every epoch what the activation layers of gelu-core do: how many outputs are 0 and
    /// units dead, what pre-activations and gradients are like
    /// ([`LayerMeasure`](gelu_compare::measure::LayerMeasure)), on the first batch of `.valid(…)` as its
    /// batcher makes it. Without a validation set it is that of `.test(…)`, else of `.measure_train(…)`, else
    /// of `.train(…)`.
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
    ///
    /// Metrics are all that it takes: epochs, checkpoints and the end of a training are the run's, so
    /// Burn's builder is not handed out.
    ///
    /// ```compile_fail,E0599
    /// # use gelu_learner::{Trainable, Training};
    /// # fn shown<N: Trainable>(training: Training<N>) -> Training<N> {
    /// training.shown(|burn| burn.num_epochs(2))
    /// # }
    /// ```
    pub fn shown(
        mut self,
        register: impl FnOnce(ShownMetrics<M>) -> ShownMetrics<M> + Send + 'static,
    ) -> Self {
        self.shown = Some(Box::new(register));
        self
    }
}

#[cfg(test)]
mod tests;
