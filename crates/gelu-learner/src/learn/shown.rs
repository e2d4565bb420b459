//! What Burn's display shows.

use crate::Trainable;
use burn::train::metric::{Adaptor, Metric, Numeric};
use burn::train::{
    InferenceStep, MetricRegistration, SupervisedTraining, TextMetricRegistration, TrainStep,
};

/// Registers what Burn's display shows.
pub type Shown<M> = Box<dyn FnOnce(ShownMetrics<M>) -> ShownMetrics<M> + Send>;

/// The metrics that Burn's display shows, by the names of Burn's builder. The rest of that builder stays inside:
/// how many epochs there are, what is saved and when a training ends is said elsewhere, and would be ignored
/// here.
#[must_use = "return it"]
pub struct ShownMetrics<M: Trainable>(SupervisedTraining<M>);

impl<M: Trainable> std::fmt::Debug for ShownMetrics<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShownMetrics").finish_non_exhaustive()
    }
}

impl<M: Trainable> ShownMetrics<M> {
    /// Burn's builder with the metrics that `register` adds.
    pub(super) fn registered(
        training: SupervisedTraining<M>,
        register: Shown<M>,
    ) -> SupervisedTraining<M> {
        register(Self(training)).0
    }

    /// Shows metrics as numbers, of training and validation.
    pub fn metrics(self, metrics: impl MetricRegistration<M>) -> Self {
        Self(self.0.metrics(metrics))
    }

    /// Shows metrics as text, of training and validation.
    pub fn metrics_text(self, metrics: impl TextMetricRegistration<M>) -> Self {
        Self(self.0.metrics_text(metrics))
    }

    /// Shows a metric of training as text.
    pub fn metric_train<Me: Metric + 'static>(self, metric: Me) -> Self
    where
        <M as TrainStep>::Output: Adaptor<Me::Input>,
    {
        Self(self.0.metric_train(metric))
    }

    /// Shows a metric of validation as text.
    pub fn metric_valid<Me: Metric + 'static>(self, metric: Me) -> Self
    where
        <M as InferenceStep>::Output: Adaptor<Me::Input>,
    {
        Self(self.0.metric_valid(metric))
    }

    /// Shows a metric of training as a number.
    pub fn metric_train_numeric<Me: Metric + Numeric + 'static>(self, metric: Me) -> Self
    where
        <M as TrainStep>::Output: Adaptor<Me::Input>,
    {
        Self(self.0.metric_train_numeric(metric))
    }

    /// Shows a metric of validation as a number.
    pub fn metric_valid_numeric<Me: Metric + Numeric + 'static>(self, metric: Me) -> Self
    where
        <M as InferenceStep>::Output: Adaptor<Me::Input>,
    {
        Self(self.0.metric_valid_numeric(metric))
    }
}
