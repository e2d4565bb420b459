//! Metrics of a training in Burn's own terminal display.

use super::{Register, Training};
use crate::Trainable;
use burn::train::metric::{Adaptor, Metric, Numeric};
use burn::train::{
    InferenceStep, MetricRegistration, SupervisedTraining, TextMetricRegistration, TrainStep,
};

/// Metrics for Burn's own terminal display, with the method names of Burn's builder. If at least one is registered,
/// `train` of a program shows the training in this display when it has a terminal and no `--plain`. The network's
/// outputs must provide the inputs of the metrics (Burn's `Adaptor`).
///
/// ```
/// # use burn::train::metric::{Adaptor, LossInput, LossMetric};
/// # use burn::train::{InferenceStep, TrainStep};
/// # use gelu_learner::{Trainable, Training};
/// # fn shown<N>(training: Training<N>) -> Training<N>
/// # where
/// #     N: Trainable,
/// #     <N as TrainStep>::Output: Adaptor<LossInput>,
/// #     <N as InferenceStep>::Output: Adaptor<LossInput>,
/// # {
/// training.metrics((LossMetric::new(),))
/// # }
/// ```
impl<M: Trainable> Training<M> {
    fn shown(
        mut self,
        register: impl FnOnce(SupervisedTraining<M>) -> SupervisedTraining<M> + Send + 'static,
    ) -> Self {
        self.display.push(Box::new(register));
        self
    }

    /// Shows metrics as numbers, of training and validation.
    pub fn metrics(self, metrics: impl MetricRegistration<M> + Send + 'static) -> Self {
        self.shown(|burn| burn.metrics(metrics))
    }

    /// Shows metrics as text, of training and validation.
    pub fn metrics_text(self, metrics: impl TextMetricRegistration<M> + Send + 'static) -> Self {
        self.shown(|burn| burn.metrics_text(metrics))
    }

    /// Shows a metric of training as text.
    pub fn metric_train<Me: Metric + 'static>(self, metric: Me) -> Self
    where
        <M as TrainStep>::Output: Adaptor<Me::Input>,
    {
        self.shown(|burn| burn.metric_train(metric))
    }

    /// Shows a metric of validation as text.
    pub fn metric_valid<Me: Metric + 'static>(self, metric: Me) -> Self
    where
        <M as InferenceStep>::Output: Adaptor<Me::Input>,
    {
        self.shown(|burn| burn.metric_valid(metric))
    }

    /// Shows a metric of training as a number.
    pub fn metric_train_numeric<Me: Metric + Numeric + 'static>(self, metric: Me) -> Self
    where
        <M as TrainStep>::Output: Adaptor<Me::Input>,
    {
        self.shown(|burn| burn.metric_train_numeric(metric))
    }

    /// Shows a metric of validation as a number.
    pub fn metric_valid_numeric<Me: Metric + Numeric + 'static>(self, metric: Me) -> Self
    where
        <M as InferenceStep>::Output: Adaptor<Me::Input>,
    {
        self.shown(|burn| burn.metric_valid_numeric(metric))
    }

    /// Returns whether Burn's display has metrics to show.
    pub(crate) fn has_display(&self) -> bool {
        !self.display.is_empty()
    }

    /// Turns Burn's display off.
    pub(crate) fn without_display(mut self) -> Self {
        self.display.clear();
        self
    }
}

/// Returns Burn's builder with the registered metrics.
pub(super) fn registered<M: Trainable>(
    display: Vec<Register<M>>,
    training: SupervisedTraining<M>,
) -> SupervisedTraining<M> {
    display.into_iter().fold(training, |training, register| register(training))
}
