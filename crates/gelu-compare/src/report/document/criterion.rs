use crate::comparison::statistics::Plan;
use crate::measure::{NoWorse, Over};
use crate::runs::{AddedSeeds, ComparisonSnapshot, LaterMeasure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison is decided by, declared before its first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionDocument {
    /// Name of the primary measure.
    pub primary: String,
    /// δ: a difference of the measure too small to care about, in its own unit (errors as fractions); 0 where
    /// nothing is called the same.
    pub negligible: f64,
    /// The arm that every other one is compared with.
    pub baseline: String,
    /// The metric that must not get worse for an arm to be called better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse: Option<NoWorse>,
    /// The axis that verdicts are made over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// m: how many comparisons share α.
    pub comparisons: usize,
    /// α: with what probability a verdict of the whole table may be wrong.
    pub alpha: f64,
    /// How many seeds are planned, and whether the test looks after every one of them.
    pub plan: Plan,
    /// Seeds that were added once there were results, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_seeds: Vec<AddedSeeds>,
    /// The measures that were chosen once runs were complete, in order: choices that nobody planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_measures: Vec<LaterMeasure>,
}

impl CriterionDocument {
    pub(super) fn of(snapshot: &ComparisonSnapshot) -> Self {
        let criterion = &snapshot.criterion;
        Self {
            primary: criterion.primary.clone(),
            negligible: criterion.negligible,
            baseline: criterion.baseline.canonical(),
            no_worse: criterion.no_worse.clone(),
            over: criterion.over.as_ref().map(|(over, _)| over.clone()),
            comparisons: criterion.comparisons,
            alpha: criterion.alpha,
            plan: criterion.plan,
            added_seeds: snapshot.added_seeds.clone(),
            later_measures: snapshot.later_measures.clone(),
        }
    }
}
