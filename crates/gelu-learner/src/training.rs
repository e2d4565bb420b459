use crate::epochs::{Measuring, Trainable};
use crate::learn::{Lesson, Shown};
use crate::loader::{Items, Order};
use crate::{Error, Result, Schedule};
use burn::data::dataloader::DataLoader;
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::Dataset;
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::tensor::Device;
use burn::train::{InferenceStep, SupervisedTraining};
use std::ops::Range;
use std::sync::Arc;

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

/// A network's data, as loaders.
struct Data<M: Trainable> {
    train: Arc<dyn Loading<Input<M>>>,
    valid: Option<Arc<dyn Loading<Input<M>>>>,
    test: Option<Arc<dyn Loading<Input<M>>>>,
}

type Input<M> = <M as InferenceStep>::Input;

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
        Batches { training: self, size, batcher: Arc::new(batcher) }
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
            },
            clock: Box::new(|_| ()),
            shown: self.shown,
        })
    }
}

fn refuse<T>(problem: &str) -> Result<T> {
    Err(Error::Usage(problem.to_owned()))
}

/// A [`Training`] whose batches are known, and not yet what is in them.
#[must_use = "give it data to train on"]
pub struct Batches<M: Trainable, I> {
    training: Training<M>,
    size: usize,
    batcher: Arc<dyn Batcher<I, Input<M>>>,
}

impl<M: Trainable, I> std::fmt::Debug for Batches<M, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("size", &self.size).finish_non_exhaustive()
    }
}

impl<M: Trainable, I: Send + 'static> Batches<M, I> {
    /// Trains on this.
    pub fn train(self, data: impl Dataset<I> + 'static) -> Splits<M, I> {
        let train = split(data, &self.batcher, self.size);
        Splits { batches: self, train, valid: None, test: None }
    }
}

/// A [`Training`] with its data.
#[must_use = "say for how many epochs it is trained"]
pub struct Splits<M: Trainable, I> {
    batches: Batches<M, I>,
    train: Arc<dyn Loading<Input<M>>>,
    valid: Option<Arc<dyn Loading<Input<M>>>>,
    test: Option<Arc<dyn Loading<Input<M>>>>,
}

impl<M: Trainable, I> std::fmt::Debug for Splits<M, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Splits").field("batches", &self.batches).finish_non_exhaustive()
    }
}

impl<M: Trainable, I: Send + 'static> Splits<M, I> {
    /// Chooses settings, and best epochs, on this: `valid_loss` and the like.
    pub fn valid(mut self, data: impl Dataset<I> + 'static) -> Self {
        self.valid = Some(split(data, &self.batches.batcher, self.batches.size));
        self
    }

    /// Reports on this, which nothing is chosen on: `test_loss` and the like.
    pub fn test(mut self, data: impl Dataset<I> + 'static) -> Self {
        self.test = Some(split(data, &self.batches.batcher, self.batches.size));
        self
    }

    /// For so many epochs.
    pub fn epochs(self, epochs: usize) -> Training<M> {
        let Self { batches: Batches { training, size, .. }, train, valid, test } = self;
        let data = Some(Data { train, valid, test });
        Training { epochs, batch_size: size, data, ..training }
    }
}

/// A data set with its batcher.
trait Loading<B>: Send + Sync {
    fn items(&self) -> usize;
    fn trained(&self, order: Order, device: &Device) -> Arc<dyn DataLoader<B>>;
    fn measured(&self, device: &Device) -> Arc<dyn DataLoader<B>> {
        self.trained(Order::Sequential, device)
    }
}

impl<I: Send + 'static, B: Send + 'static> Loading<B> for Items<I, B> {
    fn items(&self) -> usize {
        self.range.len()
    }

    fn trained(&self, order: Order, device: &Device) -> Arc<dyn DataLoader<B>> {
        Arc::new(self.with(self.range.clone(), order, device))
    }
}

fn split<I: Send + 'static, B: Send + 'static>(
    data: impl Dataset<I> + 'static,
    batcher: &Arc<dyn Batcher<I, B>>,
    batch_size: usize,
) -> Arc<dyn Loading<B>> {
    let range: Range<usize> = 0..data.len();
    let (dataset, batcher) = (Arc::new(data), batcher.clone());
    let (order, device) = (Order::Sequential, Device::default());
    Arc::new(Items { dataset, batcher, range, batch_size, order, device })
}
