use burn::train::StoppingCondition;
use gelu_compare::measure::{Direction, EpochMetrics};

/// A rule that ends a run before its last epoch. It stops at the same epoch as Burn's `MetricEarlyStoppingStrategy`.
/// Burn's strategy keeps its state private, so it can neither be resumed nor report the best epoch. This rule depends
/// only on the recorded epochs.
///
/// ```
/// use burn::train::StoppingCondition;
/// use gelu_learner::EarlyStopping;
///
/// let patient = StoppingCondition::NoImprovementSince { n_epochs: 3 };
/// let strategy = EarlyStopping::new("valid_loss", patient).with_warmup_epochs(Some(5));
/// ```
#[derive(Clone)]
#[must_use = "give it to a training"]
pub struct EarlyStopping {
    metric: String,
    condition: StoppingCondition,
    direction: Direction,
    warmup_epochs: Option<usize>,
}

impl std::fmt::Debug for EarlyStopping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let StoppingCondition::NoImprovementSince { n_epochs } = self.condition;
        f.debug_struct("EarlyStopping")
            .field("metric", &self.metric)
            .field("n_epochs", &n_epochs)
            .field("direction", &self.direction)
            .field("warmup_epochs", &self.warmup_epochs)
            .finish()
    }
}

impl EarlyStopping {
    /// Watches the column `metric`, for example `valid_loss`. If the network's output declares that higher is better,
    /// the rule stops when the metric stops rising.
    pub fn new(metric: &str, condition: StoppingCondition) -> Self {
        Self {
            metric: metric.to_owned(),
            condition,
            direction: Direction::Lower,
            warmup_epochs: None,
        }
    }

    /// Watches for higher values.
    pub fn higher(mut self) -> Self {
        self.direction = Direction::Higher;
        self
    }

    /// Does not stop during the first `warmup` epochs.
    pub fn with_warmup_epochs(mut self, warmup: Option<usize>) -> Self {
        self.warmup_epochs = warmup;
        self
    }

    /// Returns the watched column.
    pub(crate) fn metric(&self) -> &str {
        &self.metric
    }

    /// Returns the first of the epochs with the best value so far.
    pub(crate) fn best(&self, epochs: &[EpochMetrics]) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for epoch in epochs {
            let Some(value) = epoch.get(&self.metric) else { continue };
            let cost = value * self.direction.sign();
            if best.is_none_or(|(lowest, _)| cost < lowest) && !cost.is_nan() {
                best = Some((cost, epoch.epoch));
            }
        }
        best.map(|(_, epoch)| epoch)
    }

    /// Returns whether a run with these epochs should end.
    pub(crate) fn should_stop(&self, epochs: &[EpochMetrics]) -> bool {
        let StoppingCondition::NoImprovementSince { n_epochs } = self.condition;
        let Some(last) = epochs.last().filter(|last| last.get(&self.metric).is_some()) else {
            return false;
        };
        let best = self.best(epochs).unwrap_or(1);
        let warming_up = self.warmup_epochs.is_some_and(|warmup| last.epoch <= warmup);
        last.epoch != best && !warming_up && last.epoch - best >= n_epochs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(values: &[f64]) -> Vec<EpochMetrics> {
        let epoch = |(index, &value)| EpochMetrics::new(index + 1).with("valid_loss", value);
        values.iter().enumerate().map(epoch).collect()
    }

    /// Returns the epoch after which a run ends.
    fn end(strategy: &EarlyStopping, values: &[f64]) -> Option<usize> {
        (1..=values.len()).find(|&count| strategy.should_stop(&epochs(&values[..count])))
    }

    fn patient(n_epochs: usize) -> EarlyStopping {
        EarlyStopping::new("valid_loss", StoppingCondition::NoImprovementSince { n_epochs })
    }

    /// The cases are from Burn's own tests of `MetricEarlyStoppingStrategy` (means of their batches).
    #[test]
    fn it_stops_where_burns_strategy_does() {
        assert_eq!(end(&patient(1), &[0.4, 0.35, 0.3, 0.25]), None);
        assert_eq!(end(&patient(2), &[1.0, 0.5, 0.8, 0.9]), Some(4));
        assert_eq!(end(&patient(3), &[1.0, 0.5, 0.8, 0.4, 0.9, 0.9, 0.9]), Some(7));
        // A value equal to the best is no improvement.
        assert_eq!(end(&patient(2), &[0.5, 0.5, 0.5]), Some(3));
        let warm = patient(1).with_warmup_epochs(Some(3));
        assert_eq!(end(&warm, &[0.5, 0.6, 0.7, 0.8]), Some(4));
    }

    #[test]
    fn the_best_epoch_is_the_first_and_no_nan() {
        assert_eq!(patient(9).best(&epochs(&[0.5, 0.2, f64::NAN, 0.2])), Some(2));
        assert_eq!(patient(9).higher().best(&epochs(&[0.5, 0.9, 0.2])), Some(2));
        assert_eq!(patient(9).best(&[]), None);
        // Epochs without measurement neither stop a run nor count as better.
        let mut sparse = epochs(&[0.5, 0.6, 0.4]);
        sparse[1].values.clear();
        assert!(!patient(1).should_stop(&sparse[..2]));
        assert_eq!(patient(1).best(&sparse), Some(3));
    }
}
