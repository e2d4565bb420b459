use super::{EpochMetrics, Measure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The epoch that a run's results are taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reported {
    /// The last epoch.
    #[default]
    LastEpoch,
    /// The epoch that is best by the selection measure: early stopping.
    BestEpoch,
}

impl Reported {
    /// Returns the words that follow `the`: `last epoch`, `epoch that was best by valid-error`.
    pub fn words(self, selection: &str) -> String {
        match self {
            Self::LastEpoch => "last epoch".to_owned(),
            Self::BestEpoch => format!("epoch that was best by {selection}"),
        }
    }

    /// Returns the epoch that a run's results are taken from: the last one or the one that it restores, or the first
    /// that is best by `selection`. Returns `None` if there is no finished epoch.
    pub fn epoch_of<'a>(
        self,
        selection: &Measure,
        epochs: &'a [EpochMetrics],
    ) -> Option<&'a EpochMetrics> {
        match self {
            Self::LastEpoch => {
                let last = epochs.last()?;
                last.restored().and_then(|epoch| epochs.get(epoch - 1)).or(Some(last))
            }
            Self::BestEpoch => {
                let cost =
                    |e: &'a EpochMetrics| Some((selection.cost(e.get(&selection.column)?), e));
                let scored = epochs.iter().filter_map(cost);
                scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, epoch)| epoch)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_restores_an_epoch_reports_that_one() {
        let metric = Measure::named("valid_loss");
        let epoch = |(index, restored): (usize, f64)| {
            EpochMetrics::new(index + 1).with(EpochMetrics::RESTORED, restored)
        };
        let reported = |restored: &[f64]| {
            let epochs: Vec<_> = restored.iter().copied().enumerate().map(epoch).collect();
            Reported::LastEpoch.epoch_of(&metric, &epochs).map(|epoch| epoch.epoch)
        };
        assert_eq!(reported(&[1.0, 2.0, 2.0]), Some(2));
        assert_eq!(reported(&[1.0]), Some(1));
        // Values that no run writes change nothing.
        assert_eq!(reported(&[f64::NAN, 9.0]), Some(2));
        assert_eq!(reported(&[1.0, -3.0]), Some(2));
        assert_eq!(reported(&[]), None);
    }
}
