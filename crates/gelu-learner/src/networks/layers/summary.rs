use super::LayerMeasure;
use gelu_compare::comparison::statistics::Mean;
use gelu_compare::comparison::{best_groups, reported_epoch, sides};
use gelu_compare::measure::Measure;
use gelu_compare::runs::{RunSnapshot, RunStatus, Snapshot};
use gelu_compare::setting::Setting;
use std::collections::BTreeMap;

/// The measures of the layers of an arm in one context, if its runs were probed.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmLayers {
    /// The arm.
    pub arm: Setting,
    /// The context.
    pub context: Setting,
    /// The tuned values of the arm in this context.
    pub tuned: Setting,
    /// The number of runs in the median.
    pub runs: usize,
    /// The number of layers.
    pub layers: usize,
    /// The number of epochs.
    pub epochs: usize,
    /// The median over runs: for each measure and layer, from 1, its value by epoch, from 1.
    curves: BTreeMap<(LayerMeasure, usize), BTreeMap<usize, f64>>,
}

impl ArmLayers {
    /// Returns the median over runs after an epoch, if it is a finite number.
    pub fn at(&self, measure: LayerMeasure, layer: usize, epoch: usize) -> Option<f64> {
        self.curves.get(&(measure, layer))?.get(&epoch).copied()
    }

    /// Returns the median over runs after the last epoch, if it is a finite number.
    pub fn last(&self, measure: LayerMeasure, layer: usize) -> Option<f64> {
        self.at(measure, layer, self.epochs)
    }

    /// Returns all values of a measure.
    pub fn values(&self, measure: LayerMeasure) -> impl Iterator<Item = f64> {
        let of_measure = self.curves.iter().filter(move |((of, _), _)| *of == measure);
        of_measure.flat_map(|(_, curve)| curve.values().copied())
    }
}

/// The difference between a layer of an arm and the same layer of the baseline, at the reported epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerDifference {
    /// The arm.
    pub arm: Setting,
    /// The context.
    pub context: Setting,
    /// The layer, from 1.
    pub layer: usize,
    /// The measure.
    pub measure: LayerMeasure,
    /// The mean of arm − baseline over pairs of finished runs.
    pub mean: Mean,
}

/// Returns the measures of the layers: contexts ascending, arms in their declared order. Empty if no run was probed.
pub fn layers(snapshot: &Snapshot) -> Vec<ArmLayers> {
    let count = count(snapshot);
    if count == 0 {
        return Vec::new();
    }
    let best = best_groups(snapshot);
    let of_context = |context: &Setting| {
        let here = best.iter().filter(|group| group.context == *context);
        here.map(|group| group.complete_or_started()).collect::<Vec<_>>()
    };
    let groups = snapshot.contexts();
    let groups = groups.iter().flat_map(of_context);
    let layers = groups.map(|group| {
        let mut curves = BTreeMap::new();
        for layer in 1..=count {
            for measure in LayerMeasure::ALL {
                let curve = group.median_curve(&Measure::named(&measure.column(layer)));
                let curve: BTreeMap<usize, f64> =
                    curve.into_iter().filter(|(_, value)| value.is_finite()).collect();
                if !curve.is_empty() {
                    curves.insert((measure, layer), curve);
                }
            }
        }
        ArmLayers {
            arm: group.arm.clone(),
            context: group.context.clone(),
            tuned: group.tuned.clone(),
            runs: group.runs.len(),
            layers: curves.keys().map(|(_, layer)| *layer).max().unwrap_or(0),
            epochs: curves
                .values()
                .filter_map(|c| c.keys().next_back())
                .copied()
                .max()
                .unwrap_or(0),
            curves,
        }
    });
    layers.filter(|arm| arm.layers > 0).collect()
}

/// Returns the differences between every arm's layers and the baseline's, in the order of [`layers`].
pub fn layer_differences(snapshot: &Snapshot) -> Vec<LayerDifference> {
    let count = count(snapshot);
    let best = best_groups(snapshot);
    let mut found = Vec::new();
    for side in sides(snapshot, &best) {
        for layer in 1..=count {
            for measure in LayerMeasure::ALL {
                let column = measure.column(layer);
                let value = |run: &RunSnapshot| match run.status {
                    RunStatus::Finished => reported_epoch(snapshot, run)?.get(&column),
                    _ => None,
                };
                let of_baseline =
                    |seed: u64| side.baseline.runs.iter().find(|run| run.key.seed == seed);
                let pair =
                    |run: &&RunSnapshot| Some(value(run)? - value(of_baseline(run.key.seed)?)?);
                let differences: Vec<f64> = side.arm.runs.iter().filter_map(pair).collect();
                if let Some(mean) = Mean::of(&differences) {
                    let (arm, context) = (side.arm.arm.clone(), side.arm.context.clone());
                    found.push(LayerDifference { arm, context, layer, measure, mean });
                }
            }
        }
    }
    found
}

/// Returns the number of probed layers.
fn count(snapshot: &Snapshot) -> usize {
    let columns = snapshot.columns();
    let layers = columns.iter().filter_map(|column| LayerMeasure::of_column(column));
    layers.map(|(layer, _)| layer).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::layers::probed;
    use gelu_compare::testing::example;

    #[test]
    fn nothing_is_said_of_runs_that_were_not_probed() {
        assert!(layers(&example()).is_empty() && layer_differences(&example()).is_empty());
    }

    #[test]
    fn layers_are_medians_over_runs_and_differences_are_paired() {
        let snapshot = probed();
        let found = layers(&snapshot);
        assert_eq!(found.len(), 4, "two arms at two dropout rates");
        let relu = found.iter().find(|arm| arm.arm.text("activation") == "relu").unwrap();
        assert_eq!((relu.layers, relu.epochs, relu.runs), (3, 12, 3));
        // The example's values: a tenth per layer, and a hundredth per seed.
        let dead = |layer| relu.last(LayerMeasure::Dead, layer).unwrap();
        assert!((dead(1) - 0.12).abs() < 1e-12 && (dead(3) - 0.32).abs() < 1e-12);
        assert_eq!(relu.at(LayerMeasure::Dead, 4, 1), None);
        let differences = layer_differences(&snapshot);
        let third =
            differences.iter().find(|d| (d.layer, d.measure) == (3, LayerMeasure::Dead)).unwrap();
        assert_eq!(third.mean.count, 3);
        assert!((third.mean.mean - 0.32).abs() < 1e-12, "{third:?}");
        assert!((third.mean.deviation - 0.01).abs() < 1e-12, "{third:?}");
    }

    #[test]
    fn a_run_that_diverged_has_no_difference() {
        let mut snapshot = probed();
        let lost =
            snapshot.runs.iter_mut().find(|run| run.key.setting.text("activation") == "relu");
        lost.unwrap().status = RunStatus::Diverged { epoch: 5 };
        let pairs: Vec<usize> = layer_differences(&snapshot).iter().map(|d| d.mean.count).collect();
        assert!(pairs.contains(&2) && pairs.contains(&3), "{pairs:?}");
    }
}
