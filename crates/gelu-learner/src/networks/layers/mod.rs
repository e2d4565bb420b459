//! Measures of the layers of probed runs: as sentences, a table, a CSV file, heat maps and bars.

mod bars;
mod heat;
mod metric;
mod sentences;
mod summary;
mod table;

pub use metric::LayerMeasure;
pub use summary::{ArmLayers, LayerDifference, layer_differences, layers};

pub(super) use bars::bars;
pub(super) use heat::heat_maps;
pub(super) use sentences::sentences;
pub(super) use table::{cells, csv};

/// Returns an example with three probed layers. The share of dead ReLU units grows by a tenth per layer and by a
/// hundredth per seed.
#[cfg(test)]
fn probed() -> gelu_compare::runs::Snapshot {
    let mut snapshot = gelu_compare::testing::example();
    for run in &mut snapshot.runs {
        let dies = run.key.setting.text("activation") == "relu";
        for epoch in &mut run.epochs {
            for layer in 1..=3 {
                let dead = 0.1 * layer as f64 + 0.01 * run.key.seed as f64;
                let dead = if dies { dead * (epoch.epoch as f64 / 4.0).min(1.0) } else { 0.0 };
                let values =
                    [0.5, dead, 0.01, 1.5, 0.1, 0.3, 10f64.powi(layer - 3), 4.0 - layer as f64];
                for (measure, value) in LayerMeasure::ALL.into_iter().zip(values) {
                    epoch.set(&measure.column(layer as usize), value);
                }
            }
        }
    }
    snapshot
}
