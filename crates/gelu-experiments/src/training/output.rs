use crate::measure::LossKind;
use burn::tensor::{Bool, ExecutionError, Int, Tensor};
use burn::train::ItemLazy;
use burn::train::metric::{AccuracyInput, Adaptor, LossInput};
use gelu_learner::{BatchMetrics, Measure, ModelOutput};

/// The output of a network for a batch.
#[derive(Debug)]
pub struct BatchOutput {
    /// The mean over the batch, of shape `[1]`.
    pub loss: Tensor<1>,
    /// Logits `[examples, classes]`, the reconstruction `[examples, features]`, or numbers `[examples, 1]`.
    pub output: Tensor<2>,
    /// The class of each example.
    pub labels: Tensor<1, Int>,
    /// The kind of the loss.
    pub kind: LossKind,
    /// The variance of the numbers to predict, for a table.
    pub variance: Option<f64>,
}

impl BatchOutput {
    /// The name of the share of wrongly classified examples.
    pub(super) const ERROR: &str = "error";
    /// The name of the root mean squared error of a regression.
    pub(super) const RMSE: &str = "rmse";
    /// The name of the unexplained share of the variance, 1 − R², of a regression on a table.
    pub(super) const UNEXPLAINED: &str = "unexplained";

    /// Returns for each example whether it is classified wrongly, `[examples]`; `None` if the network does not
    /// classify.
    pub fn wrong(&self) -> Option<Tensor<1, Bool>> {
        if self.kind != LossKind::LogLoss {
            return None;
        }
        let labels = self.labels.clone().without_autodiff();
        let chosen = self.output.clone().without_autodiff().argmax(1);
        Some(chosen.reshape([labels.dims()[0]]).not_equal(labels))
    }
}

impl ItemLazy for BatchOutput {
    fn sync(self) -> Result<Self, ExecutionError> {
        // Like Burn's own outputs, this reads nothing back, and the metrics do not keep the graph alive.
        self.loss.device().flush()?;
        Ok(Self {
            loss: self.loss.without_autodiff(),
            output: self.output.without_autodiff(),
            labels: self.labels.without_autodiff(),
            kind: self.kind,
            variance: self.variance,
        })
    }
}

impl Adaptor<LossInput> for BatchOutput {
    fn adapt(&self) -> LossInput {
        LossInput::new(self.loss.clone())
    }
}

impl Adaptor<AccuracyInput> for BatchOutput {
    fn adapt(&self) -> AccuracyInput {
        AccuracyInput::new(self.output.clone(), self.labels.clone())
    }
}

impl ModelOutput for BatchOutput {
    fn metrics() -> Vec<Measure> {
        vec![Measure::named(Self::ERROR).points()]
    }

    fn measure(&self) -> BatchMetrics {
        let loss = self.measure_loss();
        if let Some(variance) = self.variance {
            let share = self.loss.clone().without_autodiff().div_scalar(variance);
            return loss.mean(Self::UNEXPLAINED, share);
        }
        if self.kind == LossKind::ScaledSquaredError {
            return loss.root_of_mean(Self::RMSE, self.loss.clone());
        }
        match self.wrong() {
            Some(wrong) => loss.count(Self::ERROR, wrong.int().sum()),
            None => loss,
        }
    }

    fn measure_loss(&self) -> BatchMetrics {
        BatchMetrics::new(self.labels.dims()[0], self.loss.clone())
    }
}
