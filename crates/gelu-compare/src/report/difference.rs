use super::captions::{data_of, joined};
use super::{Curve, Figure, Panel};
use crate::comparison::{DifferenceCurve, colour, difference_curves};
use crate::measure::{Direction, Reported};
use crate::runs::Snapshot;
use crate::setting::Setting;

/// The name of the figure's file.
pub(super) const NAME: &str = "difference";

/// The band covers the mean of one epoch with probability 1 − this value.
const POINTWISE: f64 = 0.05;

const GREY: [u8; 3] = [110, 110, 110];

/// Returns the figure of each arm's difference from the baseline in the primary measure by epoch: the mean over pairs
/// with its interval, and a line at 0. It has one panel per context. Returns `None` before two pairs are complete.
pub(super) fn figure(snapshot: &Snapshot) -> Option<Figure> {
    let mut curves = difference_curves(snapshot);
    curves.retain(|curve| !curve.points.is_empty());
    let mut contexts: Vec<Setting> = curves.iter().map(|curve| curve.context.clone()).collect();
    contexts.dedup();
    let baseline = snapshot.label(&curves.first()?.baseline);
    let measure = snapshot.primary_by_epoch();
    let unit = match measure.unit.name.as_str() {
        "" => String::new(),
        unit => format!(", {unit}"),
    };
    let axis = format!("{} − that of {baseline}{unit}", measure.heading);
    let several = contexts.len() > 1;
    let panel = |context: &Setting| Panel {
        title: if several { context.context(&snapshot.design.axes) } else { String::new() },
        y_axis: axis.clone(),
        curves: panel(snapshot, curves.iter().filter(|curve| curve.context == *context)),
    };
    let (fewest, most) =
        (curves.iter().map(|c| c.pairs).min()?, curves.iter().map(|c| c.pairs).max()?);
    let pairs = match fewest == most {
        true => format!("{most} pairs"),
        false => format!("{fewest} to {most} pairs"),
    };
    let instead = match snapshot.primary().of_run {
        true => format!("{}, by epoch; ", measure.words),
        false => String::new(),
    };
    let best = match snapshot.design.reported {
        Reported::BestEpoch => "the verdict is on each run's best epoch",
        Reported::LastEpoch => "",
    };
    let better = match measure.direction {
        Direction::Lower => "below 0: better",
        Direction::Higher => "above 0: better",
    };
    let mean = format!(
        "{instead}mean of {pairs} with its pointwise 95% band, not for a verdict, as far as the later epochs reach; {better}"
    );
    Some(Figure {
        title: format!("{}: difference from {baseline}", snapshot.design.title),
        caption: joined(&[&mean, best, &data_of(snapshot)]),
        x_axis: "Epochs".to_owned(),
        logarithmic: false,
        panels: contexts.iter().map(panel).collect(),
    })
}

fn panel<'a>(snapshot: &Snapshot, curves: impl Iterator<Item = &'a DifferenceCurve>) -> Vec<Curve> {
    let factor = snapshot.primary_by_epoch().unit.factor;
    let curves: Vec<&DifferenceCurve> = curves.collect();
    let limit = factor * limit(&curves);
    let mut drawn: Vec<Curve> = Vec::new();
    for curve in curves {
        let means = curve.points.iter().map(|(epoch, mean)| (*epoch as f64, mean.mean * factor));
        drawn.push(Curve {
            label: Some(snapshot.label(&curve.arm)),
            colour: colour(snapshot.position(&curve.arm)),
            dashed: false,
            points: within(limit, means),
            band: curve
                .points
                .iter()
                .map(|(epoch, mean)| {
                    let [low, high] = mean.interval(POINTWISE);
                    let [low, high] = [low, high].map(|end| (end * factor).clamp(-limit, limit));
                    (*epoch as f64, low, high)
                })
                .collect(),
        });
    }
    let ends = drawn.iter().flat_map(|curve| &curve.points).map(|point| point.0);
    let last = ends.fold(1.0, f64::max);
    let zero = vec![(1.0, 0.0), (last, 0.0)];
    drawn.insert(
        0,
        Curve { label: None, colour: GREY, dashed: true, points: zero, band: Vec::new() },
    );
    drawn
}

/// Cuts a curve at ±limit. The curve ends on the edge where it leaves, and is NaN beyond.
fn within(limit: f64, points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let inside = |y: f64| y.abs() <= limit;
    let mut clipped = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for (x, y) in points {
        if let Some((x_0, y_0)) = before.filter(|(_, y_0)| inside(*y_0) != inside(y)) {
            let edge = limit.copysign(if inside(y) { y_0 } else { y });
            clipped.push((x_0 + (x - x_0) * (edge - y_0) / (y - y_0), edge));
        }
        clipped.push((x, if inside(y) { y } else { f64::NAN }));
        before = Some((x, y));
    }
    clipped
}

/// Returns the figure's limit: 1.5 times the maximum of the second half of the epochs. In the first epochs, networks
/// differ by many times the final difference, which would be too small to see.
fn limit(curves: &[&DifferenceCurve]) -> f64 {
    let late = |curve: &&DifferenceCurve| -> Vec<f64> {
        let half = curve.points.len() / 2;
        let ends = curve.points[half..].iter().flat_map(|(_, mean)| mean.interval(POINTWISE));
        ends.map(f64::abs).collect()
    };
    1.5 * curves.iter().flat_map(late).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{example, without_epochs};

    #[test]
    fn every_activation_but_the_baseline_has_a_curve_with_its_interval() {
        let snapshot = example();
        let figure = figure(&snapshot).unwrap();
        assert_eq!(figure.panels.len(), 2);
        let curves = &figure.panels[0].curves;
        assert_eq!(curves.len(), 2, "zero, and ReLU");
        assert_eq!(curves[0].points, [(1.0, 0.0), (12.0, 0.0)]);
        let (x, mean) = curves[1].points[11];
        let (_, low, high) = curves[1].band[11];
        let difference = &crate::comparison::differences(&snapshot)[0];
        assert_eq!((x, mean), (12.0, difference.finding.mean.unwrap() * 100.0));
        assert!(low < mean && mean < high, "{low} {mean} {high}");
        assert!(figure.caption.contains("mean of 3 pairs"), "{}", figure.caption);
        assert!(figure.panels[0].y_axis.contains("points"));
    }

    #[test]
    fn a_verdict_on_best_epochs_is_not_the_curves_end() {
        let mut snapshot = example();
        let said = "the verdict is on each run's best epoch";
        assert!(!figure(&snapshot).unwrap().caption.contains(said));
        snapshot.design.reported = Reported::BestEpoch;
        assert!(figure(&snapshot).unwrap().caption.contains(said));
    }

    #[test]
    fn large_differences_of_early_epochs_do_not_hide_the_late_ones() {
        let mut snapshot = example();
        for run in
            snapshot.runs.iter_mut().filter(|run| run.key.setting.text("activation") == "relu")
        {
            run.epochs[0].set("test_error", 0.9);
        }
        let curve = &figure(&snapshot).unwrap().panels[0].curves[1];
        let [(_, hidden), (edge, _), (second, shown)] = curve.points[..3] else { unreachable!() };
        assert!(hidden.is_nan() && 1.0 < edge && edge < 2.0);
        assert!(second == 2.0 && shown.is_finite());
        assert!(curve.band.iter().all(|&(_, low, high)| low.abs() < 5.0 && high < 5.0));
    }

    #[test]
    fn a_curve_ends_on_the_edge_where_it_leaves() {
        let points = [(1.0, -6.0), (2.0, -2.0), (3.0, 1.0), (4.0, 5.0), (5.0, 9.0)];
        let drawn = within(3.0, points.into_iter());
        let edges: Vec<(f64, f64)> = drawn.iter().copied().filter(|p| !p.1.is_nan()).collect();
        assert_eq!(edges, [(1.75, -3.0), (2.0, -2.0), (3.0, 1.0), (3.5, 3.0)]);
        let beyond: Vec<f64> = drawn.iter().filter(|p| p.1.is_nan()).map(|p| p.0).collect();
        assert_eq!(beyond, [1.0, 4.0, 5.0]);
    }

    #[test]
    fn without_pairs_there_is_no_figure() {
        assert_eq!(figure(&without_epochs()), None);
        let mut alone = example();
        alone.runs.retain(|run| run.key.setting.text("activation") == "gelu");
        assert_eq!(figure(&alone), None);
    }
}
