use crate::comparison::statistics::Schedule;
use crate::measure::{NoWorse, Over};
use crate::runs::{AddedSeeds, LaterMeasure, Snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The criterion that decides a comparison, declared before its first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionDocument {
    /// The name of the primary measure.
    pub primary: String,
    /// δ: the largest difference of the measure that is too small to care about, in its own unit (errors as
    /// fractions); 0 if nothing can be called the same.
    pub negligible: f64,
    /// The arm with which every other arm is compared.
    pub baseline: String,
    /// A metric that must not get worse if an arm is to be called better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse: Option<NoWorse>,
    /// The axis whose values are combined into one verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// m: the number of comparisons that share α.
    pub comparisons: usize,
    /// α: the maximum probability that the whole table contains a wrong verdict.
    pub alpha: f64,
    /// The planned number of seeds, and whether the test may decide after every one of them.
    #[serde(rename = "plan")]
    pub schedule: Schedule,
    /// Seeds that were added after there were results, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_seeds: Vec<AddedSeeds>,
    /// The measures that were chosen after runs were complete, in order. These choices were not planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_measures: Vec<LaterMeasure>,
}

impl CriterionDocument {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let criterion = &snapshot.criterion;
        Self {
            primary: criterion.primary.clone(),
            negligible: criterion.negligible,
            baseline: criterion.baseline.canonical(),
            no_worse: criterion.no_worse.clone(),
            over: criterion.over.as_ref().map(|(over, _)| over.clone()),
            comparisons: criterion.comparisons,
            alpha: criterion.alpha,
            schedule: criterion.schedule,
            added_seeds: snapshot.added_seeds.clone(),
            later_measures: snapshot.later_measures.clone(),
        }
    }
}
