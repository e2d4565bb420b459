use super::difference::sides;
use super::statistics::{Mean, Pairs};
use super::summary::{best_groups, value_at};
use crate::runs::{RunSnapshot, Snapshot};
use crate::setting::Setting;

/// The difference between an arm and the baseline in the primary measure, epoch by epoch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DifferenceCurve {
    /// The arm.
    pub arm: Setting,
    /// The arm that it is compared with.
    pub baseline: Setting,
    /// The context: the values of the other axes at which the curve holds.
    pub context: Setting,
    /// Number of pairs of complete runs.
    pub pairs: usize,
    /// `(epoch, mean)`: the mean of arm − baseline after every epoch that all pairs have, up to the epoch in which
    /// the first run diverged, exclusive. No verdict depends on it.
    pub points: Vec<(usize, Mean)>,
}

/// Returns the curves of a comparison, with contexts in ascending order and arms in the order in which they were
/// requested. Uses only pairs of complete runs, so that every epoch is a mean of the same pairs.
pub(crate) fn difference_curves(snapshot: &Snapshot) -> Vec<DifferenceCurve> {
    let best: Vec<_> = best_groups(snapshot).iter().map(|group| group.complete()).collect();
    let measure = snapshot.primary_by_epoch();
    let at = |epoch| {
        let measure = &measure;
        move |run: &RunSnapshot| value_at(run, epoch, measure)
    };
    let curve = |side: &super::difference::Side<'_>| {
        let of_baseline = |seed| side.baseline.runs.iter().find(|run| run.key.seed == seed);
        let pairs: Vec<[&RunSnapshot; 2]> = side
            .arm
            .runs
            .iter()
            .filter_map(|run| Some([*run, *of_baseline(run.key.seed)?]))
            .collect();
        let epochs = pairs.iter().flatten().map(|run| run.epochs.len()).max().unwrap_or(0);
        let mean = |epoch: usize| {
            let pair = |[a, b]: &[&RunSnapshot; 2]| Some([at(epoch)(a)?, at(epoch)(b)?]);
            let values: Option<Vec<[f64; 2]>> = pairs.iter().map(pair).collect();
            let values = Pairs::new(values?);
            Some((epoch, values.mean()?))
        };
        DifferenceCurve {
            arm: side.arm.arm.clone(),
            baseline: side.baseline.arm.clone(),
            context: side.arm.context.clone(),
            pairs: pairs.len(),
            points: (1..=epochs).filter_map(mean).collect(),
        }
    };
    sides(snapshot, &best).iter().map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::RunStatus;
    use crate::testing::example;

    #[test]
    fn the_last_point_is_the_difference_that_is_reported() {
        let snapshot = example();
        let (curves, differences) =
            (difference_curves(&snapshot), super::super::differences(&snapshot));
        assert_eq!(curves.len(), 2);
        for (curve, difference) in curves.iter().zip(&differences) {
            assert_eq!((curve.pairs, curve.points.len()), (3, 12));
            assert_eq!(curve.points.last().map(|point| point.1.mean), difference.finding.mean);
        }
    }

    #[test]
    fn curves_end_where_a_run_diverged_and_leave_unfinished_runs_out() {
        let mut snapshot = example();
        let run = snapshot
            .runs
            .iter_mut()
            .find(|run| run.key.setting.text("activation") == "relu")
            .unwrap();
        run.status = RunStatus::Diverged { epoch: 5 };
        run.epochs.truncate(4);
        assert_eq!(difference_curves(&snapshot)[0].points.len(), 4);
        let run = snapshot
            .runs
            .iter_mut()
            .find(|run| run.key.setting.text("activation") == "relu")
            .unwrap();
        run.status = RunStatus::Running;
        let curve = &difference_curves(&snapshot)[0];
        assert_eq!((curve.pairs, curve.points.len()), (2, 12));
    }

    #[test]
    fn an_epoch_that_one_pair_lacks_has_no_point() {
        let mut snapshot = example();
        let shorter = |run: &&mut RunSnapshot| run.key.seed == 2 && run.planned;
        snapshot.runs.iter_mut().filter(shorter).for_each(|run| run.epochs.truncate(3));
        for curve in difference_curves(&snapshot) {
            let epochs: Vec<usize> = curve.points.iter().map(|point| point.0).collect();
            assert_eq!((curve.pairs, epochs), (3, vec![1, 2, 3]));
        }
    }
}
