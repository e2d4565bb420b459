use super::{EpochMetrics, Measure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which epoch of a run its results are those of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reported {
    /// The last.
    #[default]
    LastEpoch,
    /// The best by the selection: early stopping.
    BestEpoch,
}

impl Reported {
    /// Which epoch that is, behind `the`: `last epoch`, `epoch that was best by valid-error`.
    pub fn words(self, selection: &str) -> String {
        match self {
            Self::LastEpoch => "last epoch".to_owned(),
            Self::BestEpoch => format!("epoch that was best by {selection}"),
        }
    }

    /// Of a run's finished epochs, that which its results are those of: the last, or the first
    /// that was best by `selection`. `None` before there is any.
    pub fn epoch_of<'a>(
        self,
        selection: &Measure,
        epochs: &'a [EpochMetrics],
    ) -> Option<&'a EpochMetrics> {
        match self {
            Self::LastEpoch => epochs.last(),
            Self::BestEpoch => {
                let cost =
                    |e: &'a EpochMetrics| Some((selection.cost(e.get(&selection.column)?), e));
                let scored = epochs.iter().filter_map(cost);
                scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, epoch)| epoch)
            }
        }
    }
}
