use crate::comparison::{Difference, wording};
use crate::measure::Primary;
use crate::runs::ComparisonSnapshot;
use gelu_compare::report::FoundDocument;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An activation beside the baseline at one dropout rate. Errors are fractions, losses are in their
/// own unit; null where there is no such number: with fewer than two pairs, or where a run diverged,
/// there is no mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceDocument {
    /// Canonical name.
    pub activation: String,
    /// Canonical name of the activation it is compared with.
    pub baseline: String,
    /// Dropout rate of both.
    pub dropout: f64,
    /// The primary measure.
    pub metric: Primary,
    /// What was found.
    #[serde(flatten)]
    pub found: FoundDocument,
}

impl DifferenceDocument {
    /// Those of a comparison.
    pub(super) fn all(snapshot: &ComparisonSnapshot, differences: &[Difference]) -> Vec<Self> {
        let metric = snapshot.criterion.primary;
        let wording = wording(snapshot);
        let of = |difference: &Difference| Self {
            activation: difference.activation.clone(),
            baseline: difference.baseline.clone(),
            dropout: difference.dropout,
            metric,
            found: FoundDocument::of(&difference.found, &wording),
        };
        differences.iter().map(of).collect()
    }
}
