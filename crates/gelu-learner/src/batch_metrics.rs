use burn::tensor::{Bool, Int, Tensor};
use gelu_compare::measure::Measure;
use gelu_training::FixedBatch;

/// The output of a network, which reports what is measured of a batch. Burn's standard outputs do, and
/// [`BatchMetrics`] is one for a loss and metrics of your own. Implement the trait where Burn's metrics need an output
/// of another type:
///
/// ```
/// use burn::tensor::{Int, Tensor};
/// use gelu_learner::{BatchMetrics, Measure, ModelOutput};
///
/// struct Tags {
///     loss: Tensor<1>,
///     right: Tensor<1, Int>,
///     sentences: usize,
/// }
///
/// impl ModelOutput for Tags {
///     fn metrics() -> Vec<Measure> {
///         vec![Measure::named("accuracy").higher().points()]
///     }
///     fn measure(&self) -> BatchMetrics {
///         BatchMetrics::new(self.sentences, self.loss.clone()).count("accuracy", self.right.clone())
///     }
/// }
/// ```
pub trait ModelOutput {
    /// Declares the metrics next to the loss: name, direction and unit. A program can declare them, too
    /// (`.measure(…)`). The first one decides unless the program names another; without any the loss decides.
    fn metrics() -> Vec<Measure> {
        Vec::new()
    }

    /// Returns the metrics of a batch: all that [`metrics`](Self::metrics) declares.
    fn measure(&self) -> BatchMetrics;

    /// Returns the loss alone.
    fn measure_loss(&self) -> BatchMetrics {
        self.measure().loss_alone()
    }

    /// Returns the class of each example, and the class that the network chose, `[examples]` each, where something is
    /// classified. [`Training::class_names`](crate::Training::class_names) makes tables of them.
    fn classes(&self) -> Option<[Tensor<1, Int>; 2]> {
        None
    }

    /// Returns which examples were classified wrongly, `[examples]`, where something is classified. The run saves
    /// that of every test example when the metric `error` decides.
    fn wrong(&self) -> Option<Tensor<1, Bool>> {
        self.classes().map(|[classes, chosen]| chosen.not_equal(classes))
    }
}

/// The metrics of one batch. Tensors stay on the device until a value is needed.
///
/// A metric is a ratio of two sums over all batches, so that batches weigh by what is in them, or a function of
/// numbers that are [gathered](Self::gather) of every example.
///
/// It is itself an output of a network, for a loss and metrics of your own. The program declares those metrics
/// of which higher values are better, or that have a unit: `.measure(Measure::named("accuracy").higher().points())`.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::Linear;
/// use burn::tensor::{Int, Tensor};
/// use burn::train::{InferenceStep, TrainOutput, TrainStep};
/// use gelu_learner::BatchMetrics;
///
/// #[derive(Module, Debug)]
/// struct Net {
///     linear: Linear,
/// }
///
/// impl InferenceStep for Net {
///     type Input = [Tensor<2>; 2];
///     type Output = BatchMetrics;
///     fn step(&self, [inputs, targets]: [Tensor<2>; 2]) -> BatchMetrics {
///         let distance = (self.linear.forward(inputs) - targets).abs();
///         let near = distance.clone().lower_elem(0.1).int().sum();
///         BatchMetrics::new(distance.dims()[0], distance.mean()).count("accuracy", near)
///     }
/// }
///
/// impl TrainStep for Net {
///     type Input = [Tensor<2>; 2];
///     type Output = BatchMetrics;
///     fn step(&self, batch: [Tensor<2>; 2]) -> TrainOutput<BatchMetrics> {
///         let output = InferenceStep::step(self, batch);
///         TrainOutput::new(self, output.loss().backward(), output)
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct BatchMetrics {
    pub(crate) examples: usize,
    /// As it was given.
    loss: Option<Tensor<1>>,
    /// The loss is the first.
    pub(crate) parts: Vec<Part>,
}

/// A metric of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) value: Amount,
}

#[derive(Clone, Debug)]
pub(crate) enum Amount {
    /// The mean over the examples.
    Mean(Tensor<1>),
    /// The same, of which the metric is the square root.
    RootOfMean(Tensor<1>),
    /// How many of the examples.
    Count(Tensor<1, Int>),
    /// Two sums, of which it is the ratio.
    Ratio(Box<[Tensor<1>; 2]>),
    /// Numbers of each example, `[examples, numbers]`, and what they come to over a split.
    Rows(Tensor<2>, fn(&[Vec<f64>]) -> f64),
}

/// What the loss is called, behind the name of a split.
pub(crate) const LOSS: &str = "loss";

impl BatchMetrics {
    /// Of so many examples, with their mean loss of shape `[1]`.
    pub fn new(examples: usize, loss: Tensor<1>) -> Self {
        let value = Amount::Mean(loss.clone().without_autodiff());
        Self { examples, loss: Some(loss), parts: vec![Part { name: LOSS, value }] }
    }

    /// Returns the loss as it was given, with its graph: `loss().backward()` gives the gradients.
    pub fn loss(&self) -> Tensor<1> {
        match (&self.loss, &self.parts[0].value) {
            (Some(loss), _) | (None, Amount::Mean(loss)) => loss.clone(),
            _ => unreachable!("the loss is a mean, and the first metric"),
        }
    }

    /// The loss as it was given, with its graph, which is not held any longer.
    pub(crate) fn take_loss(&mut self) -> Option<Tensor<1>> {
        self.loss.take()
    }

    fn with(mut self, name: &'static str, value: Amount) -> Self {
        self.parts.push(Part { name, value });
        self
    }

    /// A mean over the batch's examples, of shape `[1]`.
    #[must_use]
    pub fn mean(self, name: &'static str, mean: Tensor<1>) -> Self {
        self.with(name, Amount::Mean(mean.without_autodiff()))
    }

    /// The square root of a mean over all batches' examples, where this, of shape `[1]`, is the mean over the
    /// batch's: of squared errors the root mean squared error.
    #[must_use]
    pub fn root_of_mean(self, name: &'static str, mean: Tensor<1>) -> Self {
        self.with(name, Amount::RootOfMean(mean.without_autodiff()))
    }

    /// Of how many examples something is so, of shape `[1]`: the metric is their share.
    #[must_use]
    pub fn count(self, name: &'static str, count: Tensor<1, Int>) -> Self {
        self.with(name, Amount::Count(count.without_autodiff()))
    }

    /// What is no mean over examples, as a ratio of two sums over all batches, both of shape `[1]`: wrong
    /// tokens over all tokens, or `2·tp` over `2·tp + fp + fn`, which is the F₁ score.
    #[must_use]
    pub fn ratio(self, name: &'static str, of: Tensor<1>, over: Tensor<1>) -> Self {
        let sums = [of, over].map(Tensor::without_autodiff);
        self.with(name, Amount::Ratio(Box::new(sums)))
    }

    /// Numbers of each example, `[examples, numbers]`, from which `finish` computes the metric once it has those of
    /// all examples, one row each: what is no ratio of sums. [`metrics::auroc`](crate::metrics::auroc) takes a
    /// score and a class.
    ///
    /// ```
    /// # use burn::tensor::{Device, Tensor};
    /// # use gelu_learner::{BatchMetrics, metrics};
    /// # let device = Device::default();
    /// # let loss = Tensor::zeros([1], &device);
    /// let (scores, classes) = (Tensor::<2>::zeros([4, 1], &device), Tensor::zeros([4, 1], &device));
    /// let rows = Tensor::cat(vec![scores, classes], 1);
    /// let batch = BatchMetrics::new(4, loss).gather("auroc", rows, metrics::auroc);
    /// ```
    #[must_use]
    pub fn gather(
        self,
        name: &'static str,
        rows: Tensor<2>,
        finish: fn(&[Vec<f64>]) -> f64,
    ) -> Self {
        self.with(name, Amount::Rows(rows.without_autodiff(), finish))
    }

    /// The same numbers in memory of their own, without the loss as it was given.
    pub(crate) fn copied(&self) -> Self {
        let parts = self.parts.iter().map(|part| {
            let value = match &part.value {
                Amount::Mean(mean) => Amount::Mean(mean.copied()),
                Amount::RootOfMean(mean) => Amount::RootOfMean(mean.copied()),
                Amount::Count(count) => Amount::Count(count.copied()),
                Amount::Ratio(sums) => Amount::Ratio(Box::new(sums.copied())),
                Amount::Rows(rows, finish) => Amount::Rows(rows.copied(), *finish),
            };
            Part { name: part.name, value }
        });
        Self { examples: self.examples, loss: None, parts: parts.collect() }
    }

    pub(crate) fn loss_alone(mut self) -> Self {
        self.parts.truncate(1);
        self
    }
}
