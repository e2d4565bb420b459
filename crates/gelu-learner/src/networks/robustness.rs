use super::{NoiseMetrics, ReadRun};
use gelu_compare::comparison::statistics::median;
use gelu_compare::comparison::{Group, best_groups, colour};
use gelu_compare::report::{Curve, Figure, NamedFigure, Panel, runs_and_data};
use gelu_compare::runs::{RunSnapshot, RunStatus, Snapshot};

/// Name of the figure's file; it corresponds to Figure 3 of the paper.
const NAME: &str = "figure-3";

/// Returns a figure of accuracy and loss on the test set by noise amplitude: the median over seeds of each arm at its
/// best setting, in the first context with such runs. `None` if noise was not measured.
pub(super) fn figure(snapshot: &Snapshot) -> Option<NamedFigure> {
    let mut groups = best_groups(snapshot);
    groups.retain(|group| group.runs.iter().any(|run| !noise(run).is_empty()));
    let measured = |context| groups.iter().any(|group| group.context == context);
    let first = snapshot.contexts().into_iter().find(|context| measured(context.clone()));
    groups.retain(|group| Some(&group.context) == first.as_ref());
    let accuracy = |point: &NoiseMetrics| point.test_error.map(|error| 1.0 - error);
    let panels: Vec<Panel> = [
        panel(snapshot, &groups, "Test accuracy", accuracy),
        panel(snapshot, &groups, "Test log loss", |point| Some(point.test_loss)),
    ]
    .into_iter()
    .filter(|panel| panel.curves.iter().any(|curve| !curve.points.is_empty()))
    .collect();
    (!panels.is_empty()).then(|| {
        let figure = Figure {
            title: snapshot.design.title.clone(),
            caption: format!("noise from Unif[−a, a]; {}", runs_and_data(snapshot)),
            x_axis: "a".to_owned(),
            logarithmic: false,
            panels,
        };
        (NAME.to_owned(), figure)
    })
}

/// Returns the metrics of a run under noise.
fn noise(run: &RunSnapshot) -> &[NoiseMetrics] {
    run.extras.get::<ReadRun>().map_or(&[], |read| &read.noise)
}

fn panel(
    snapshot: &Snapshot,
    groups: &[Group<'_>],
    axis: &str,
    value: impl Fn(&NoiseMetrics) -> Option<f64>,
) -> Panel {
    let curve = |group: &Group<'_>| Curve {
        label: Some(snapshot.label(&group.arm)),
        colour: colour(snapshot.position(&group.arm)),
        dashed: false,
        points: points(group, &value),
        band: Vec::new(),
    };
    let curves = groups.iter().map(curve).collect();
    Panel { title: String::new(), y_axis: axis.to_owned(), curves }
}

/// Returns the median over complete runs at every amplitude, ascending; a diverged run counts as the worst.
fn points(group: &Group<'_>, value: &impl Fn(&NoiseMetrics) -> Option<f64>) -> Vec<(f64, f64)> {
    let group = group.complete();
    let measured = || group.runs.iter().flat_map(|run| noise(run));
    let diverged = group.runs.iter().filter(|run| run.status != RunStatus::Finished).count();
    let worst =
        NoiseMetrics { amplitude: 0.0, test_loss: f64::INFINITY, test_error: Some(f64::INFINITY) };
    let mut amplitudes: Vec<f64> = measured().map(|point| point.amplitude).collect();
    amplitudes.sort_by(f64::total_cmp);
    amplitudes.dedup();
    let at = |amplitude: f64| {
        let values = measured().filter(|point| point.amplitude == amplitude).filter_map(value);
        let lost = std::iter::repeat_n(value(&worst)?, diverged);
        Some((amplitude, median(values.chain(lost))?))
    };
    amplitudes.into_iter().filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gelu_compare::extension::Extras;
    use gelu_compare::testing::example;

    #[test]
    fn curves_are_medians_of_the_best_runs_without_dropout() {
        let mut snapshot = example();
        assert_eq!(figure(&snapshot), None);
        for run in &mut snapshot.runs {
            let seed = run.key.seed as f64;
            let point = |amplitude: f64| NoiseMetrics {
                amplitude,
                test_loss: amplitude + seed + run.key.setting.number("dropout"),
                test_error: Some(0.1 * seed),
            };
            let noise = vec![point(0.5), point(0.0)];
            run.extras = Extras::default().with(ReadRun { noise, ..ReadRun::default() });
        }
        let (_, figure) = figure(&snapshot).unwrap();
        let axes: Vec<_> = figure.panels.iter().map(|panel| panel.y_axis.as_str()).collect();
        assert_eq!(axes, ["Test accuracy", "Test log loss"]);
        assert_eq!(figure.panels[0].curves.len(), 2, "one for each activation");
        assert_eq!(figure.panels[0].curves[0].points, [(0.0, 0.8), (0.5, 0.8)]);
        assert_eq!(figure.panels[1].curves[1].points, [(0.0, 2.0), (0.5, 2.5)]);
        assert!(figure.caption.contains("median of 3 runs; SYNTHETIC DATA"));
    }
}
