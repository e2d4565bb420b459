//! An arm in one context, in the JSON document.

use super::MeasuresDocument;
use super::measures::spread;
use crate::comparison::{Group, best_groups, score};
use crate::measure::{Measure, Reported};
use crate::runs::{RunStatus, Snapshot};
use crate::setting::{Setting, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The runs of one arm in one context, at its best tuned setting.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArmDocument {
    /// The compared setting, with one entry per axis.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub arm: Setting,
    /// The context, with one entry per axis.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub context: Setting,
    /// The tuned values of the best runs by the selection, never by the test set. One entry per axis:
    /// `"best_learning_rate": 0.001`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub best: Setting,
    /// The end of the grid at which the best value is. Null if it is inside the grid, if there is only one value, and
    /// if several axes are tuned.
    pub edge: Option<Edge>,
    /// The number of runs that finished at this setting.
    pub finished: usize,
    /// The number of runs that diverged at this setting.
    pub diverged: usize,
    /// The runs' measures after their last epoch.
    pub last_epoch: MeasuresDocument,
    /// The runs' measures after the epoch that was best by the selection.
    pub best_epoch: MeasuresDocument,
    /// The arm's label.
    #[serde(skip)]
    pub label: String,
    /// Whether the arm is the baseline.
    #[serde(skip)]
    pub is_baseline: bool,
}

impl ArmDocument {
    /// Returns the reported measures: those of the last epoch, or of the best.
    pub fn reported(&self, reported: Reported) -> &MeasuresDocument {
        match reported {
            Reported::LastEpoch => &self.last_epoch,
            Reported::BestEpoch => &self.best_epoch,
        }
    }
}

/// An end of the tuned grid. A value beyond it may be better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// The smallest value that was tried.
    Smallest,
    /// The largest value that was tried.
    Largest,
}

impl ArmDocument {
    /// Returns the arms of a comparison, in the requested order.
    pub(super) fn all(snapshot: &Snapshot) -> Vec<Self> {
        let tried = snapshot.tried();
        best_groups(snapshot).iter().map(|group| arm(group, snapshot, &tried)).collect()
    }
}

fn arm(group: &Group<'_>, snapshot: &Snapshot, tried: &[Setting]) -> ArmDocument {
    let with = |wanted: fn(&RunStatus) -> bool| {
        group.runs.iter().filter(|run| wanted(&run.status)).count()
    };
    let complete = group.complete();
    let of_run = |measure: &Measure| {
        let scores = complete.runs.iter().filter_map(|run| score(snapshot, measure, run));
        spread(&scores.collect::<Vec<_>>())
    };
    let measures = |reported| {
        let of = |measure: &Measure| match measure.of_run {
            true if reported == snapshot.design.reported => {
                Some((measure.column.clone(), Some(of_run(measure)?)))
            }
            true => None,
            false => {
                let values = group.values(snapshot, reported, measure);
                Some((measure.column.clone(), spread(&values)))
            }
        };
        MeasuresDocument(snapshot.design.measures.iter().filter_map(of).collect())
    };
    let [last_epoch, best_epoch] = [Reported::LastEpoch, Reported::BestEpoch].map(measures);
    let best = group.tuned.in_columns(&snapshot.design.axes);
    ArmDocument {
        arm: group.arm.in_columns(&snapshot.design.axes),
        context: group.context.in_columns(&snapshot.design.axes),
        best: Setting::new(
            best.iter().map(|(name, value)| (format!("best_{name}"), value.clone())),
        ),
        edge: edge(&group.tuned, tried),
        finished: with(|status| *status == RunStatus::Finished),
        diverged: with(|status| matches!(status, RunStatus::Diverged { .. })),
        last_epoch,
        best_epoch,
        label: snapshot.label(&group.arm),
        is_baseline: group.arm == snapshot.criterion.baseline,
    }
}

/// Returns the end of an ascending grid of one axis at which a value is, if it is at one.
pub(in crate::report) fn edge(value: &Setting, grid: &[Setting]) -> Option<Edge> {
    let numbers = grid.iter().all(|setting| {
        setting.iter().count() == 1 && setting.iter().all(|(_, v)| v.as_number().is_some())
    });
    match grid {
        _ if !numbers => None,
        [_] => None,
        [first, ..] if first == value => Some(Edge::Smallest),
        [.., last] if last == value => Some(Edge::Largest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::RunSnapshot;
    use crate::testing::{example, setting};

    #[test]
    fn medians_are_over_the_seeds_of_the_best_learning_rate() {
        let snapshot = example();
        let gelu = &ArmDocument::all(&snapshot)[0];
        assert_eq!(
            (gelu.arm.text("activation").as_str(), gelu.context.number("dropout")),
            ("gelu", 0.0)
        );
        assert_eq!((gelu.best.number("best_learning_rate"), gelu.finished), (1e-3, 3));
        let valid = gelu.last_epoch.get("valid_loss").unwrap();
        assert_eq!(valid.runs, 3);
        let of_seed = |seed: u64| {
            let mine = |r: &&RunSnapshot| {
                r.key.setting == setting("gelu", 1e-3, 0.0) && r.key.seed == seed
            };
            let run = snapshot.runs.iter().find(mine).unwrap();
            run.epochs.last().unwrap().get("valid_loss").unwrap()
        };
        let mut values = [of_seed(1), of_seed(2), of_seed(3)];
        values.sort_by(f64::total_cmp);
        assert_eq!([valid.lowest, valid.median, valid.highest], values.map(Some));
        assert_eq!(gelu.last_epoch.get("test_error").map(|s| s.runs), Some(3));
    }

    #[test]
    fn a_rate_at_the_end_of_its_grid_is_said_to_be() {
        let grid = [1e-5, 1e-4, 1e-3].map(|rate| Setting::new([("lr", rate)]));
        let edges = [0, 1, 2].map(|place| edge(&grid[place], &grid));
        assert_eq!(edges, [Some(Edge::Smallest), None, Some(Edge::Largest)]);
        assert_eq!(edge(&grid[2], &grid[2..]), None);
        let arms = ArmDocument::all(&example());
        assert!(arms.iter().all(|entry| entry.edge == Some(Edge::Largest)));
    }
}
