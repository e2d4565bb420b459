use burn::tensor::{Bool, Int, Tensor};
use gelu_compare::measure::Measure;

/// An output of a network that says what is measured of it. Burn's standard outputs do; an output of one's
/// own gets it in a few lines:
///
/// ```
/// use burn::tensor::{Int, Tensor};
/// use gelu_learner::{Measure, Measured, Measurement};
///
/// struct Tags {
///     loss: Tensor<1>,
///     right: Tensor<1, Int>,
///     sentences: usize,
/// }
///
/// impl Measured for Tags {
///     fn measures() -> Vec<Measure> {
///         vec![Measure::named("accuracy").higher().points()]
///     }
///     fn measure(&self) -> Measurement {
///         Measurement::new(self.sentences, self.loss.clone()).count("accuracy", self.right.clone())
///     }
/// }
/// ```
pub trait Measured {
    /// What is measured beside the loss: name, direction and unit. The first decides where nothing else is
    /// said, and without any the loss does.
    fn measures() -> Vec<Measure> {
        Vec::new()
    }

    /// What a batch measures: everything that [`measures`](Self::measures) declares.
    fn measure(&self) -> Measurement;

    /// The loss alone.
    fn measure_loss(&self) -> Measurement {
        self.measure().loss_alone()
    }

    /// Which examples were classified wrongly, `[examples]`, where something is classified: what is kept of
    /// every test example when the measure `error` decides.
    fn wrong(&self) -> Option<Tensor<1, Bool>> {
        None
    }
}

/// What one batch measured. Tensors stay on the device until somebody looks.
///
/// A measure is a ratio of two sums over all batches, so that batches weigh by what is in them.
#[derive(Clone, Debug)]
pub struct Measurement {
    pub(crate) examples: usize,
    /// As it was given.
    loss: Option<Tensor<1>>,
    /// The loss is the first.
    pub(crate) parts: Vec<Part>,
}

/// A measure of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) value: Amount,
}

#[derive(Clone, Debug)]
pub(crate) enum Amount {
    /// The mean over the examples.
    Mean(Tensor<1>),
    /// The same, of which the measure is the square root.
    RootOfMean(Tensor<1>),
    /// How many of the examples.
    Count(Tensor<1, Int>),
    /// Two sums, of which it is the ratio.
    Ratio(Box<[Tensor<1>; 2]>),
}

/// What the loss is called, behind the name of a split.
pub(crate) const LOSS: &str = "loss";

impl Measurement {
    /// Of so many examples, with their mean loss of shape `[1]`.
    pub fn new(examples: usize, loss: Tensor<1>) -> Self {
        let value = Amount::Mean(loss.clone().without_autodiff());
        Self { examples, loss: Some(loss), parts: vec![Part { name: LOSS, value }] }
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

    /// Of how many examples something is so, of shape `[1]`: the measure is their share.
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

    fn loss_alone(mut self) -> Self {
        self.parts.truncate(1);
        self
    }
}
