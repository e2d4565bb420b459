use crate::comparison::{Difference, Finding};
use crate::runs::ComparisonSnapshot;
use crate::setting::Setting;
use schemars::JsonSchema;
use serde::Serialize;

/// An arm beside the baseline. Errors are fractions, losses are in their
/// own unit; null where there is no such number: with fewer than two pairs, or where a run diverged,
/// there is no mean.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DifferenceDocument {
    /// What is compared, an entry an axis: `"activation": "relu"`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "std::collections::BTreeMap<String, crate::setting::Value>")]
    pub arm: Setting,
    /// The arm it is compared with.
    pub baseline: String,
    /// What this holds at, an entry an axis: `"dropout": 0.5`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "std::collections::BTreeMap<String, crate::setting::Value>")]
    pub context: Setting,
    /// Name of the primary measure.
    pub metric: String,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// The same at each task in words, where the verdict is over tasks.
    #[serde(skip)]
    pub by_task: Vec<String>,
}

impl DifferenceDocument {
    /// Those of a comparison.
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
