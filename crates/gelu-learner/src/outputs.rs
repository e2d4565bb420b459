//! The metrics of Burn's standard outputs, and metrics as an output.

use crate::{BatchMetrics, ModelOutput};
use burn::tensor::{Bool, DType, ExecutionError, FloatDType, Int, Tensor};
use burn::train::metric::{Adaptor, LossInput};
use burn::train::{
    ClassificationOutput, ItemLazy, MultiLabelClassificationOutput, RegressionOutput,
    SequenceOutput,
};
use gelu_compare::measure::Measure;

impl ModelOutput for BatchMetrics {
    fn measure(&self) -> BatchMetrics {
        self.clone()
    }
}

impl ItemLazy for BatchMetrics {
    /// Like Burn's own outputs, this reads nothing back; the metrics do not keep the graph alive.
    fn sync(mut self) -> Result<Self, ExecutionError> {
        self.loss().device().flush()?;
        self.take_loss();
        Ok(self)
    }
}

/// Lets Burn's `LossMetric` read the loss.
impl Adaptor<LossInput> for BatchMetrics {
    fn adapt(&self) -> LossInput {
        LossInput::new(self.loss())
    }
}

/// The name of the share of wrong predictions.
const ERROR: &str = "error";

fn error() -> Vec<Measure> {
    vec![Measure::named(ERROR).points()]
}

/// Adds the share of wrong values, if an example has several. Both sums are f32 whatever the device's own type,
/// because f16 can only count to 2,048.
fn share(loss: BatchMetrics, wrong: Tensor<2, Bool>) -> BatchMetrics {
    let all = [wrong.shape().num_elements() as f32];
    let all = Tensor::from_data(all, (&wrong.device(), DType::F32));
    loss.ratio(ERROR, wrong.int().sum().cast(FloatDType::F32), all)
}

/// Reports the loss, and `error`: the share of examples whose largest output is not that of their class.
impl ModelOutput for ClassificationOutput {
    fn metrics() -> Vec<Measure> {
        error()
    }

    fn measure(&self) -> BatchMetrics {
        let wrong = self.wrong().map(|wrong| wrong.int().sum());
        let loss = self.measure_loss();
        wrong.map_or(loss.clone(), |wrong| loss.count(ERROR, wrong))
    }

    fn measure_loss(&self) -> BatchMetrics {
        BatchMetrics::new(self.targets.dims()[0], self.loss.clone())
    }

    fn classes(&self) -> Option<[Tensor<1, Int>; 2]> {
        let targets = self.targets.clone().without_autodiff();
        let chosen = self.output.clone().without_autodiff().argmax(1);
        let chosen = chosen.reshape([targets.dims()[0]]);
        Some([targets, chosen])
    }
}

/// Reports the loss.
impl ModelOutput for RegressionOutput {
    fn measure(&self) -> BatchMetrics {
        BatchMetrics::new(self.targets.dims()[0], self.loss.clone())
    }
}

/// Reports the loss, and `error`: the share of wrong labels. An output above 0.5 is a yes, as Burn's `HammingScore`
/// counts. If the outputs are logits, write an output type of your own.
impl ModelOutput for MultiLabelClassificationOutput {
    fn metrics() -> Vec<Measure> {
        error()
    }

    fn measure(&self) -> BatchMetrics {
        let targets = self.targets.clone().without_autodiff();
        let said = self.output.clone().without_autodiff().greater_elem(0.5).int();
        share(self.measure_loss(), said.not_equal(targets))
    }

    fn measure_loss(&self) -> BatchMetrics {
        BatchMetrics::new(self.targets.dims()[0], self.loss.clone())
    }
}

/// Reports the loss, and `error`: the share of wrong tokens, by the predictions if there are some, otherwise by the
/// largest logits.
impl ModelOutput for SequenceOutput {
    fn metrics() -> Vec<Measure> {
        error()
    }

    fn measure(&self) -> BatchMetrics {
        let targets = self.targets.clone().without_autodiff();
        let dims = targets.dims();
        let predicted = match &self.predictions {
            Some(predictions) => predictions.clone().without_autodiff(),
            None => self.logits.clone().without_autodiff().argmax(2).reshape(dims),
        };
        share(self.measure_loss(), predicted.not_equal(targets))
    }

    fn measure_loss(&self) -> BatchMetrics {
        BatchMetrics::new(self.targets.dims()[0], self.loss.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split_metrics::{MetricSums, SplitMetrics};
    use burn::tensor::Device;

    fn scored(output: &impl ModelOutput) -> SplitMetrics {
        let mut sums = MetricSums::default();
        sums.push(output.measure());
        sums.finish().unwrap()
    }

    fn loss() -> Tensor<1> {
        Tensor::from_floats([0.25], &Device::default())
    }

    #[test]
    fn classes_are_those_of_the_largest_outputs() {
        let device = Device::default();
        let output = Tensor::from_floats([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]], &device);
        let targets = Tensor::<1, Int>::from_ints([1, 1, 0], &device);
        let output = ClassificationOutput::new(loss(), output, targets);
        let score = scored(&output);
        assert_eq!((score.loss(), score.get("error")), (0.25, Some(2.0 / 3.0)));
        let wrong: Vec<bool> = output.wrong().unwrap().into_data().iter::<bool>().collect();
        assert_eq!(wrong, [false, true, true]);
    }

    #[test]
    fn labels_count_one_by_one() {
        let device = Device::default();
        let output = Tensor::from_floats([[0.9, 0.4], [0.6, 0.1]], &device);
        let targets = Tensor::<2, Int>::from_ints([[1, 1], [0, 0]], &device);
        let score = scored(&MultiLabelClassificationOutput::new(loss(), output, targets));
        assert_eq!(score.get("error"), Some(0.5));
    }

    #[test]
    fn tokens_count_one_by_one_and_predictions_come_before_logits() {
        let device = Device::default();
        let logits =
            Tensor::<3>::from_floats([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]], &device);
        let targets = Tensor::<2, Int>::from_ints([[0, 1], [0, 1]], &device);
        let plain = SequenceOutput::new(loss(), logits.clone(), None, targets.clone());
        assert_eq!(scored(&plain).get("error"), Some(0.25));
        let predictions = Some(Tensor::<2, Int>::from_ints([[1, 0], [0, 1]], &device));
        let told = SequenceOutput::new(loss(), logits, predictions, targets);
        assert_eq!(scored(&told).get("error"), Some(0.5));
    }

    #[test]
    fn a_regression_has_its_loss_alone() {
        let device = Device::default();
        let zeros = Tensor::<2>::zeros([4, 1], &device);
        let score = scored(&RegressionOutput::new(loss(), zeros.clone(), zeros));
        assert_eq!((score.loss(), score.get("error")), (0.25, None));
        assert!(RegressionOutput::metrics().is_empty());
    }
}
