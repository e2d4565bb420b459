use super::LookDocument;
use crate::runs::{ComparisonSnapshot, LaterMeasure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison is decided by, declared before its first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionDocument {
    /// Name of the primary measure.
    pub primary: String,
    /// The amplitudes that it is a mean over, where it is measured under noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amplitudes: Vec<f64>,
    /// δ: a difference of the measure that nobody would care about, in its own unit (errors as
    /// fractions).
    pub negligible: f64,
    /// The arm that every other one is compared with.
    pub baseline: String,
    /// m: how many comparisons share α.
    pub comparisons: usize,
    /// The measures that were chosen once runs were complete, in order: choices that nobody planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_measures: Vec<LaterMeasure>,
}

impl CriterionDocument {
    pub(super) fn of(snapshot: &ComparisonSnapshot) -> Self {
        let criterion = &snapshot.criterion;
        Self {
            primary: criterion.primary.clone(),
            amplitudes: criterion.amplitudes.clone(),
            negligible: criterion.negligible,
            baseline: criterion.baseline.canonical(),
            comparisons: criterion.comparisons,
            later_measures: snapshot.later_measures.clone(),
        }
    }
}

/// The looks of a comparison.
pub(super) fn looks(snapshot: &ComparisonSnapshot) -> Vec<LookDocument> {
    let mut looks = LookDocument::all(&snapshot.criterion.rules());
    for look in looks.iter_mut().filter(|look| !look.planned) {
        let added = snapshot.added_looks.iter().find(|added| added.seeds == look.seeds);
        look.added_at = added.map(|added| added.at.clone());
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Looks;
    use crate::report::snapshot_example::example;
    use crate::runs::AddedLook;

    #[test]
    fn looks_have_their_level_and_the_day_they_were_added() {
        let mut snapshot = example();
        snapshot.criterion.looks = Looks::once(8).with_added([20]);
        snapshot.added_looks = vec![AddedLook { seeds: 20, at: "2026-01-01T00:00:00Z".into() }];
        let looks = looks(&snapshot);
        let levels: Vec<(u64, f64, bool)> =
            looks.iter().map(|look| (look.seeds, look.level, look.planned)).collect();
        assert_eq!(levels, [(8, 0.025, true), (20, 0.0125, false)], "two comparisons");
        assert_eq!((&looks[0].added_at, looks[1].added_at.is_some()), (&None, true));
    }
}
