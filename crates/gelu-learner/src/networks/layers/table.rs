use super::{ArmLayers, LayerMeasure, layer_differences, layers};
use gelu_compare::comparison::ALPHA;
use gelu_compare::runs::Snapshot;
use gelu_compare::setting::Setting;

/// The measures in the report's table; the CSV file has all.
const SHOWN: [LayerMeasure; 5] = [
    LayerMeasure::Zeros,
    LayerMeasure::Dead,
    LayerMeasure::Deviation,
    LayerMeasure::Gradient,
    LayerMeasure::Rank,
];

/// Returns the header and the rows of a table: one row per layer, context and measure, with the median of each arm
/// after the last epoch, followed by the difference from the baseline with its interval. `None` if no run was probed.
pub(in crate::networks) fn cells(snapshot: &Snapshot) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let (all, differences) = (layers(snapshot), layer_differences(snapshot));
    let arms = snapshot.arms();
    let count = all.iter().map(|arm| arm.layers).max()?;
    let contexts = snapshot.contexts();
    let mut header = vec!["layer".to_owned()];
    header.extend(arms.iter().map(|arm| snapshot.label(arm)));
    let mut rows = Vec::new();
    for measure in SHOWN {
        for context in &contexts {
            let several = if contexts.len() > 1 {
                context.context(&snapshot.design.axes)
            } else {
                String::new()
            };
            let heading =
                [measure.heading(), &several].join(if several.is_empty() { "" } else { ", " });
            rows.push(std::iter::once(heading).chain(arms.iter().map(|_| String::new())).collect());
            for layer in 1..=count {
                let cell = |arm: &Setting| {
                    let here = all.iter().find(|it| it.arm == *arm && it.context == *context);
                    let value = here.and_then(|here| here.last(measure, layer));
                    let Some(value) = value else { return "–".to_owned() };
                    let difference = differences.iter().find(|d| {
                        d.arm == *arm
                            && d.context == *context
                            && (d.measure, d.layer) == (measure, layer)
                    });
                    let shown = measure.unit().shown(value);
                    let Some(difference) = difference else { return shown };
                    let [low, high] =
                        difference.mean.interval(ALPHA).map(|end| measure.unit().number(end));
                    format!("{shown} ({low} to {high})").replace('-', "−")
                };
                rows.push(
                    std::iter::once(layer.to_string()).chain(arms.iter().map(cell)).collect(),
                );
            }
        }
    }
    Some((header, rows))
}

/// Returns every measure of every layer as tidy CSV: the median over runs after the last epoch, and the mean
/// difference from the baseline at the reported epoch, with its interval. `None` if no run was probed.
pub(in crate::networks) fn csv(snapshot: &Snapshot) -> Option<Vec<u8>> {
    let (all, differences) = (layers(snapshot), layer_differences(snapshot));
    if all.is_empty() {
        return None;
    }
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let axes = |arm: &ArmLayers| -> Vec<_> {
        let settings = [&arm.arm, &arm.context, &arm.tuned];
        let value =
            |name: &str| settings.into_iter().find_map(|setting| setting.get(name)).cloned();
        snapshot.design.axes.iter().map(|axis| value(&axis.name)).collect()
    };
    let header = snapshot.design.axes.iter().map(|axis| axis.column()).chain([
        "layer",
        "measure",
        "runs",
        "median",
        "pairs",
        "difference",
        "low",
        "high",
    ]);
    writer.write_record(header).expect("writing to memory cannot fail");
    for arm in &all {
        for layer in 1..=arm.layers {
            for measure in LayerMeasure::ALL {
                let difference = differences.iter().find(|d| {
                    (&d.arm, &d.context) == (&arm.arm, &arm.context)
                        && (d.measure, d.layer) == (measure, layer)
                });
                let mean = difference.map(|difference| difference.mean);
                let ends = mean.map(|mean| mean.interval(ALPHA));
                writer
                    .serialize((
                        axes(arm),
                        (layer, measure.name(), arm.runs, arm.last(measure, layer)),
                        (mean.map_or(0, |mean| mean.count), mean.map(|mean| mean.mean)),
                        (ends.map(|ends| ends[0]), ends.map(|ends| ends[1])),
                    ))
                    .expect("writing to memory cannot fail");
            }
        }
    }
    Some(writer.into_inner().expect("writing to memory cannot fail"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::layers::probed;
    use gelu_compare::testing::example;

    #[test]
    fn table_has_a_row_a_layer_and_says_how_arms_differ() {
        let (header, rows) = cells(&probed()).unwrap();
        assert_eq!(header, ["layer", "GELU", "ReLU"]);
        // Five measures at two dropout rates; each has a heading and three layers.
        assert_eq!(rows.len(), 5 * 2 * 4);
        assert_eq!(rows[8][0], "dead units, dropout 0");
        assert_eq!(rows[9], ["1", "0.0 %", "12.0 % (9.5 to 14.5)"]);
        assert!(cells(&example()).is_none());
    }

    #[test]
    fn file_has_a_line_for_everything() {
        let text = String::from_utf8(csv(&probed()).unwrap()).unwrap();
        let mut lines = text.lines();
        assert_eq!(
            lines.next().unwrap(),
            "activation,learning_rate,dropout,layer,measure,runs,median,pairs,difference,low,high"
        );
        assert_eq!(lines.count(), 2 * 2 * 3 * LayerMeasure::ALL.len());
        assert!(
            text.contains("relu,0.001,0.0,1,dead,3,0.12000000000000001,3,0.12,0.095"),
            "{text}"
        );
        assert!(csv(&example()).is_none());
    }
}
