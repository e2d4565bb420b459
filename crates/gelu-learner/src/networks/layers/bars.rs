use super::{ArmLayers, LayerMeasure, layers};
use gelu_compare::extension::{BarCell, BarTable, DashboardBars};
use gelu_compare::runs::Snapshot;
use gelu_compare::setting::Setting;

/// The measures shown, one after the other.
const SHOWN: [LayerMeasure; 5] = [
    LayerMeasure::Dead,
    LayerMeasure::Zeros,
    LayerMeasure::Deviation,
    LayerMeasure::Gradient,
    LayerMeasure::Rank,
];

/// Returns tables of the layers' measures in a context: one row per layer, one column per arm.
pub(in crate::networks) fn bars(snapshot: &Snapshot, context: Option<&Setting>) -> DashboardBars {
    let all = layers(snapshot);
    let shown: Vec<&ArmLayers> = all.iter().filter(|arm| Some(&arm.context) == context).collect();
    DashboardBars {
        name: "layers",
        help: "what the layers do, where probed",
        nothing: "No run has been probed: layers are measured with --probe.",
        row: "layer",
        tables: SHOWN.iter().map(|&measure| table(snapshot, &shown, measure)).collect(),
    }
}

fn table(snapshot: &Snapshot, shown: &[&ArmLayers], measure: LayerMeasure) -> BarTable {
    let count = shown.iter().map(|arm| arm.layers).max().unwrap_or(0);
    let last = |layer| shown.iter().filter_map(move |arm| arm.last(measure, layer));
    // A share is relative to all units, whatever the largest value is.
    let largest = match measure {
        LayerMeasure::Dead | LayerMeasure::Zeros => 1.0,
        _ => (1..=count).flat_map(last).map(f64::abs).fold(0.0, f64::max),
    };
    let cell = |arm: &&ArmLayers, layer| {
        let value = arm.last(measure, layer);
        BarCell {
            value: value.map_or_else(|| "–".to_owned(), |value| measure.unit().shown(value)),
            share: value.map_or(0.0, |value| value.abs() / largest.max(f64::MIN_POSITIVE)),
        }
    };
    let column = |arm: &&ArmLayers| (snapshot.position(&arm.arm), snapshot.label(&arm.arm));
    let row = |layer| shown.iter().map(|arm| cell(arm, layer)).collect();
    BarTable {
        heading: format!("{} by layer, after the last epoch", measure.heading()),
        columns: shown.iter().map(column).collect(),
        rows: (1..=count).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::layers::probed;
    use gelu_compare::testing::example;

    #[test]
    fn a_bar_is_as_long_as_the_share() {
        let snapshot = probed();
        let bars = bars(&snapshot, snapshot.contexts().first());
        let dead = &bars.tables[0];
        assert_eq!(dead.heading, "dead units by layer, after the last epoch");
        assert_eq!(
            dead.columns.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(),
            ["GELU", "ReLU"]
        );
        assert_eq!(dead.rows.len(), 3);
        let second = &dead.rows[1][1];
        assert!(second.value == "22.0 %" && (second.share - 0.22).abs() < 1e-12, "{second:?}");
        let none = super::bars(&example(), None);
        assert!(none.tables.iter().all(|table| table.rows.is_empty()));
    }
}
