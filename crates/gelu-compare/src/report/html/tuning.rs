//! The report's section on tuning.

use super::axes::{in_order, labels};
use crate::comparison::{Group, best_groups, groups};
use crate::report::document::edge;
use crate::report::{Edge, table};
use crate::runs::Snapshot;
use crate::setting::{Axis, Role, Setting};
use serde::Serialize;

/// The tuned axes.
#[derive(Serialize)]
pub(super) struct Tuning {
    /// The heading: `Learning rates`.
    heading: String,
    /// The word for one value: `rate`.
    one: String,
    /// The compared axes, and the axes of the contexts.
    axes: Vec<String>,
    /// The grid; empty if there is no choice.
    values: Vec<String>,
}

/// The choice of the tuned values for one arm.
#[derive(Serialize)]
pub(super) struct Choices {
    labels: Vec<String>,
    cells: Vec<Cell>,
    /// `smallest` or `largest` if the chosen value is at that end of the grid.
    edge: Option<&'static str>,
}

#[derive(Serialize)]
struct Cell {
    score: String,
    chosen: bool,
}

pub(super) fn tuning(snapshot: &Snapshot) -> Tuning {
    let tuned: Vec<&Axis> = Role::Tuned.of(&snapshot.design.axes).collect();
    let (heading, one) = match tuned.as_slice() {
        [axis] => (table::capitalised(&axis.plural()), axis.short_plural().trim_end_matches('s')),
        _ => ("Tuning".to_owned(), "value"),
    };
    let beside = in_order(&snapshot.design.axes).filter(|axis| axis.role != Role::Tuned);
    let tried = snapshot.tried();
    Tuning {
        heading,
        one: one.to_owned(),
        axes: beside.map(|axis| axis.name.clone()).collect(),
        values: match tried.len() {
            0 | 1 => Vec::new(),
            _ => tried.iter().map(|setting| tuned_label(&snapshot.design.axes, setting)).collect(),
        },
    }
}

fn tuned_label(axes: &[Axis], setting: &Setting) -> String {
    Role::Tuned.of(axes).map(|axis| axis.label_in(setting)).collect::<Vec<_>>().join(", ")
}

pub(super) fn choices(snapshot: &Snapshot) -> Vec<Choices> {
    let grid = snapshot.tried();
    let tried = groups(snapshot);
    let tried: Vec<_> =
        tried.iter().filter(|group| group.planned && group.stage.word() != Some("final")).collect();
    let row = |best: &Group<'_>| {
        let of = |tuned: &Setting| {
            tried.iter().find(|group| {
                (&group.arm, &group.context, &group.tuned) == (&best.arm, &best.context, tuned)
            })
        };
        let measure = snapshot.selection();
        let cell = |tuned: &Setting| Cell {
            score: match of(tuned).and_then(|group| group.score(snapshot)) {
                Some(cost) if cost.is_finite() => format!("{:.4}", measure.cost(cost)),
                Some(_) => "diverged".to_owned(),
                None => "–".to_owned(),
            },
            chosen: *tuned == best.tuned,
        };
        Choices {
            labels: labels(
                &snapshot.design.axes,
                &best.runs[0].key.setting,
                &[Role::Compared, Role::Each],
            ),
            cells: grid.iter().map(cell).collect(),
            edge: match edge(&best.tuned, &grid) {
                Some(Edge::Smallest) => Some("smallest"),
                Some(Edge::Largest) => Some("largest"),
                None => None,
            },
        }
    };
    best_groups(snapshot).iter().map(row).collect()
}
