use super::{ArmLayers, LayerMeasure, layers};
use gelu_compare::report::{HeatMap, HeatRow, runs_and_data};
use gelu_compare::runs::Snapshot;
use gelu_compare::setting::Setting;

/// The name of the files, followed by a number if there are several.
const NAME: &str = "layers";

/// The measures drawn, from top to bottom, and whether each is drawn by its logarithm.
const ROWS: [(LayerMeasure, bool); 4] = [
    (LayerMeasure::Dead, false),
    (LayerMeasure::Deviation, true),
    (LayerMeasure::Gradient, true),
    (LayerMeasure::Rank, true),
];

/// Returns one heat map per context, layers × epochs, with the names of their files; empty if no run was probed.
pub(in crate::networks) fn heat_maps(snapshot: &Snapshot) -> Vec<(String, HeatMap)> {
    let all = layers(snapshot);
    let mut contexts: Vec<&Setting> = all.iter().map(|arm| &arm.context).collect();
    contexts.dedup();
    let several = contexts.len() > 1;
    let map = |(index, context): (usize, &&Setting)| {
        let arms: Vec<&ArmLayers> = all.iter().filter(|arm| arm.context == **context).collect();
        let at = if several {
            format!(", {}", context.context(&snapshot.design.axes))
        } else {
            String::new()
        };
        let map = HeatMap {
            title: format!("{}: what the layers do{at}", snapshot.design.title),
            caption: format!(
                "across: epochs; down: layers from input to output; {}",
                runs_and_data(snapshot)
            ),
            columns: arms.iter().map(|arm| snapshot.label(&arm.arm)).collect(),
            rows: ROWS.iter().map(|&(measure, log)| row(&arms, measure, log)).collect(),
        };
        (if several { format!("{NAME}-{}", index + 1) } else { NAME.to_owned() }, map)
    };
    contexts.iter().enumerate().map(map).collect()
}

fn row(arms: &[&ArmLayers], measure: LayerMeasure, logarithmic: bool) -> HeatRow {
    let line = |arm: &ArmLayers, layer| {
        (1..=arm.epochs).map(|epoch| arm.at(measure, layer, epoch)).collect()
    };
    let field = |arm: &&ArmLayers| (1..=arm.layers).map(|layer| line(arm, layer)).collect();
    let (first, rest) = measure.heading().split_at(1);
    HeatRow {
        title: first.to_uppercase() + rest,
        unit: measure.unit(),
        logarithmic,
        fields: arms.iter().map(field).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::layers::probed;
    use gelu_compare::report::heat_svg;
    use gelu_compare::testing::example;

    #[test]
    fn there_is_a_map_per_context_with_every_arm_and_measure() {
        let maps = heat_maps(&probed());
        let names: Vec<&str> = maps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["layers-1", "layers-2"]);
        let picture = heat_svg(&maps[1].1);
        for said in ["GELU", "ReLU", "Dead units", "Norm of the gradient (logarithmic)", "0.5\n"] {
            assert!(picture.contains(said), "{said}");
        }
        // A measure that is the same for every layer and epoch is not drawn.
        assert!(!heat_svg(&maps[0].1).contains("Deviation of"));
        assert!(heat_maps(&example()).is_empty());
    }
}
