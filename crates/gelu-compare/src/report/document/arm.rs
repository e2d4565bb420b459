//! An arm in one context, as the document has it.

use super::MeasuresDocument;
use super::measures::spread;
use crate::comparison::{Group, best_groups, noisy_test_error};
use crate::measure::{Measure, Reported};
use crate::runs::{ComparisonSnapshot, RunStatus};
use crate::setting::{Axis, Role, Setting, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The arms under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Arms {
    /// What they are called together.
    pub name: String,
    /// In the order asked for.
    pub list: Vec<ArmDocument>,
}

impl Arms {
    pub(super) fn of(snapshot: &ComparisonSnapshot) -> Self {
        let tried = snapshot.tried();
        let groups = best_groups(snapshot);
        Self {
            name: arms_name(&snapshot.axes),
            list: groups.iter().map(|group| arm(group, snapshot, &tried)).collect(),
        }
    }
}

impl Serialize for Arms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.name, &self.list)?;
        map.end()
    }
}

impl JsonSchema for Arms {
    fn schema_name() -> Cow<'static, str> {
        "Arms".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = generator.subschema_for::<Vec<ArmDocument>>();
        json_schema!({ "type": "object", "properties": { "activations": list, "arms": list } })
    }
}

/// The runs of one arm in one context, at its best tuned setting.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArmDocument {
    /// What is compared, an entry an axis.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub arm: Setting,
    /// What it holds at, an entry an axis.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub context: Setting,
    /// What the runs that did best by the selection were tuned to, never by the test set; an entry an
    /// axis: `"best_learning_rate": 0.001`.
    #[serde(flatten, serialize_with = "crate::setting::as_typed")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub best: Setting,
    /// Which end of the grid that is; null inside it, where there is one value, and where several axes are
    /// tuned.
    pub edge: Option<Edge>,
    /// Runs that finished at this setting.
    pub finished: usize,
    /// Runs that diverged at this setting.
    pub diverged: usize,
    /// What the runs measured after their last epoch.
    pub last_epoch: MeasuresDocument,
    /// What the runs measured after the epoch that was best by the selection.
    pub best_epoch: MeasuresDocument,
    /// The arm's label.
    #[serde(skip)]
    pub label: String,
    /// Whether it is the baseline.
    #[serde(skip)]
    pub is_baseline: bool,
}

impl ArmDocument {
    /// What is reported: the measures of the last epoch, or of the best.
    pub fn reported(&self, reported: Reported) -> &MeasuresDocument {
        match reported {
            Reported::LastEpoch => &self.last_epoch,
            Reported::BestEpoch => &self.best_epoch,
        }
    }
}

/// An end of the grid of what is tuned: a value beyond it may be better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// The smallest that was tried.
    Smallest,
    /// The largest that was tried.
    Largest,
}

/// What all arms are called together: `activations`, where the one axis that is compared has a word.
fn arms_name(axes: &[Axis]) -> String {
    let compared: Vec<&Axis> = Role::Compared.of(axes).collect();
    match compared.as_slice() {
        [Axis { words: Some(words), .. }] => words.plural.clone().into_owned(),
        _ => "arms".to_owned(),
    }
}

fn arm(group: &Group<'_>, snapshot: &ComparisonSnapshot, tried: &[Setting]) -> ArmDocument {
    let with = |wanted: fn(&RunStatus) -> bool| {
        group.runs.iter().filter(|run| wanted(&run.status)).count()
    };
    let complete = group.complete();
    let noisy: Vec<f64> =
        complete.runs.iter().filter_map(|run| noisy_test_error(snapshot, run)).collect();
    let measures = |reported| {
        let of = |measure: &Measure| {
            let values = group.values(snapshot, reported, measure);
            (measure.column.clone(), spread(&values))
        };
        // One under noise is no epoch's.
        let noise = snapshot.primary().column;
        let under_noise = !snapshot.criterion.amplitudes.is_empty();
        let by_epoch = |m: &&Measure| !(under_noise && m.column == noise);
        let mut all: Vec<_> = snapshot.measures.iter().filter(by_epoch).map(of).collect();
        let noisy = spread(&noisy).filter(|_| under_noise && reported == snapshot.reported);
        all.extend(noisy.map(|noisy| (noise, Some(noisy))));
        MeasuresDocument(all)
    };
    let [last_epoch, best_epoch] = [Reported::LastEpoch, Reported::BestEpoch].map(measures);
    let best = group.tuned.in_columns(&snapshot.axes);
    ArmDocument {
        arm: group.arm.in_columns(&snapshot.axes),
        context: group.context.in_columns(&snapshot.axes),
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

/// Where in an ascending grid of one axis a value stands.
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
    use crate::report::snapshot_example::{example, setting};
    use crate::runs::RunSnapshot;

    #[test]
    fn medians_are_over_the_seeds_of_the_best_learning_rate() {
        let snapshot = example();
        let gelu = &Arms::of(&snapshot).list[0];
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
        let arms = Arms::of(&example());
        assert!(arms.list.iter().all(|entry| entry.edge == Some(Edge::Largest)));
    }
}
