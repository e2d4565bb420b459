use crate::comparison::{Difference, Finding};
use crate::runs::ComparisonSnapshot;
use crate::setting::Setting;
use schemars::JsonSchema;
use serde::Serialize;

/// An arm compared with the baseline. Errors are fractions; losses are in their own unit. Fields without a value are
/// null. For example, there is no mean with fewer than two pairs, or if a run diverged.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DifferenceDocument {
    /// The compared setting, with one entry per axis: `"activation": "relu"`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "std::collections::BTreeMap<String, crate::setting::Value>")]
    pub arm: Setting,
    /// The arm with which it is compared.
    pub baseline: String,
    /// The context, with one entry per axis: `"dropout": 0.5`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "std::collections::BTreeMap<String, crate::setting::Value>")]
    pub context: Setting,
    /// The name of the primary measure.
    pub metric: String,
    /// The result of the comparison.
    #[serde(flatten)]
    pub finding: Finding,
    /// Sentences about each task, if the verdict is over tasks.
    #[serde(skip)]
    pub by_task: Vec<String>,
}

impl DifferenceDocument {
    /// Returns the differences of a comparison.
    pub(super) fn all(snapshot: &ComparisonSnapshot, differences: &[Difference]) -> Vec<Self> {
        let wording = snapshot.wording();
        let by_task = |finding: &Finding| {
            let over = finding.over.as_ref();
            over.map_or_else(Vec::new, |over| over.words(&finding.arm, &wording))
        };
        let of = |difference: &Difference| Self {
            arm: difference.arm.in_columns(&snapshot.axes),
            baseline: difference.baseline.canonical(),
            context: difference.context.in_columns(&snapshot.axes),
            metric: snapshot.criterion.primary.clone(),
            finding: difference.finding.clone(),
            by_task: by_task(&difference.finding),
        };
        differences.iter().map(of).collect()
    }
}
