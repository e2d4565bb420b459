use burn::tensor::{Bool, Int, Tensor};
use gelu_compare::measure::Measure;
use gelu_training::FixedBatch;

/// The output of a network, with the metrics of a batch. Burn's standard outputs implement it, and [`BatchMetrics`]
/// is an output for a loss and metrics of your own. Implement the trait if Burn's metrics need an output of another
/// type:
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
    /// Declares the metrics besides the loss: name, direction and unit. A program can also declare them
    /// (`.measure(…)`). The first metric decides unless the program names another; without metrics the loss decides.
    fn metrics() -> Vec<Measure> {
        Vec::new()
    }

    /// Returns the metrics of a batch: every metric that [`metrics`](Self::metrics) declares.
    fn measure(&self) -> BatchMetrics;

    /// Returns only the loss.
    fn measure_loss(&self) -> BatchMetrics {
        self.measure().loss_alone()
    }

    /// Returns the true and the predicted class of each example, `[examples]` each, if the network classifies.
    /// [`Training::class_names`](crate::Training::class_names) makes tables of them.
    fn classes(&self) -> Option<[Tensor<1, Int>; 2]> {
        None
    }

    /// Returns for each example whether it is classified wrongly, `[examples]`, if the network classifies. When the
    /// metric `error` decides, the run saves this value of every test example.
    fn wrong(&self) -> Option<Tensor<1, Bool>> {
        self.classes().map(|[classes, chosen]| chosen.not_equal(classes))
    }
}

/// The metrics of one batch. Tensors stay on the device until a value is needed.
///
/// A metric is a ratio of two sums over all batches, so that larger batches weigh more, or a function of numbers
/// [gathered](Self::gather) from every example.
///
/// `BatchMetrics` is itself an output of a network, for a loss and metrics of your own. The program declares every
/// metric that has a unit or where higher is better: `.measure(Measure::named("accuracy").higher().points())`.
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
    /// The loss with its graph.
    loss: Option<Tensor<1>>,
    /// The metrics; the loss is the first.
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
    /// A mean over the examples.
    Mean(Tensor<1>),
    /// A mean over the examples; the metric is its square root.
    RootOfMean(Tensor<1>),
    /// A number of examples.
    Count(Tensor<1, Int>),
    /// Two sums; the metric is their ratio.
    Ratio(Box<[Tensor<1>; 2]>),
    /// Numbers of each example, `[examples, numbers]`, and the function that computes the metric of a split from
    /// them.
    Rows(Tensor<2>, fn(&[Vec<f64>]) -> f64),
}

/// The name of the loss in columns, after the name of a split.
pub(crate) const LOSS: &str = "loss";

impl BatchMetrics {
    /// Creates the metrics of `examples` examples with their mean loss, shape `[1]`.
    pub fn new(examples: usize, loss: Tensor<1>) -> Self {
        let value = Amount::Mean(loss.clone().without_autodiff());
        Self { examples, loss: Some(loss), parts: vec![Part { name: LOSS, value }] }
    }

    /// Returns the loss with its graph: `loss().backward()` gives the gradients.
    pub fn loss(&self) -> Tensor<1> {
        match (&self.loss, &self.parts[0].value) {
            (Some(loss), _) | (None, Amount::Mean(loss)) => loss.clone(),
            _ => unreachable!("the loss is a mean, and the first metric"),
        }
    }

    /// Takes the loss with its graph, so that the graph is freed with it.
    pub(crate) fn take_loss(&mut self) -> Option<Tensor<1>> {
        self.loss.take()
    }

    fn with(mut self, name: &'static str, value: Amount) -> Self {
        self.parts.push(Part { name, value });
        self
    }

    /// Adds a mean over the batch's examples, shape `[1]`.
    #[must_use]
    pub fn mean(self, name: &'static str, mean: Tensor<1>) -> Self {
        self.with(name, Amount::Mean(mean.without_autodiff()))
    }

    /// Adds the square root of a mean over the examples of all batches. `mean`, shape `[1]`, is the mean over this
    /// batch's examples: a mean squared error gives the root mean squared error.
    #[must_use]
    pub fn root_of_mean(self, name: &'static str, mean: Tensor<1>) -> Self {
        self.with(name, Amount::RootOfMean(mean.without_autodiff()))
    }

    /// Adds a share of the examples; `count`, shape `[1]`, is the number of examples that have the property.
    #[must_use]
    pub fn count(self, name: &'static str, count: Tensor<1, Int>) -> Self {
        self.with(name, Amount::Count(count.without_autodiff()))
    }

    /// Adds a ratio of two sums over all batches, both of shape `[1]`, for metrics that are not means over examples:
    /// wrong tokens over all tokens, or `2·tp` over `2·tp + fp + fn`, which is the F₁ score.
    #[must_use]
    pub fn ratio(self, name: &'static str, of: Tensor<1>, over: Tensor<1>) -> Self {
        let sums = [of, over].map(Tensor::without_autodiff);
        self.with(name, Amount::Ratio(Box::new(sums)))
    }

    /// Adds a metric that is not a ratio of sums: `rows` has numbers of each example, `[examples, numbers]`, and
    /// `finish` computes the metric from the rows of all examples, one row per example.
    /// [`metrics::auroc`](crate::metrics::auroc) takes a score and a class.
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
