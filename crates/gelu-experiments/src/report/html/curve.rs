use crate::comparison::{Rgb, lighter};
use crate::measure::{Metric, Split};
use crate::runs::{ComparisonSnapshot, RunSnapshot};
use std::fmt::Write;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 28.0;

/// What the small curves of all runs have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Logarithms of the loss.
    low: f64,
    high: f64,
    /// The last epoch planned.
    epochs: usize,
    /// Shown over the training loss.
    second: Split,
}

impl Scale {
    /// The scale on which the curves of all runs fit.
    pub(super) fn of(snapshot: &ComparisonSnapshot) -> Self {
        let second = match snapshot.has(Metric::Loss, Split::Valid) {
            true => Split::Valid,
            false => Split::Test,
        };
        let values = snapshot.runs.iter().flat_map(|run| {
            [Split::Train, second].into_iter().flat_map(|split| logarithms(run, split))
        });
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, y)| {
            (low.min(y), high.max(y))
        });
        let (low, high) = if low < high { (low, high) } else { (low - 1.0, low + 1.0) };
        let epochs = snapshot.runs.iter().map(|run| run.epochs_planned).max().unwrap_or(1);
        Self { low, high, epochs, second }
    }

    /// What the curves are.
    pub(super) fn words(&self) -> String {
        format!("training loss (light) and {} loss", self.second)
    }

    /// A run's curves as SVG.
    pub(super) fn svg(&self, run: &RunSnapshot, colour: Rgb) -> String {
        let light = self.line(run, Split::Train, lighter(colour, 0.5));
        let full = self.line(run, self.second, colour);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">{light}{full}</svg>",
            description(run, self.second)
        )
    }

    fn line(&self, run: &RunSnapshot, split: Split, [red, green, blue]: Rgb) -> String {
        let mut points = String::new();
        let across = self.epochs.max(2) as f64 - 1.0;
        for (epoch, y) in logarithms(run, split) {
            let x = 1.0 + (epoch as f64 - 1.0) / across * (WIDTH - 2.0);
            let y = 1.0 + (self.high - y) / (self.high - self.low) * (HEIGHT - 2.0);
            let _ = write!(points, "{x:.1},{y:.1} ");
        }
        format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"rgb({red},{green},{blue})\" \
             stroke-width=\"1.5\" stroke-linecap=\"round\"/>",
            points.trim_end()
        )
    }
}

fn description(run: &RunSnapshot, split: Split) -> String {
    let end = |epoch: Option<&crate::measure::EpochMetrics>| {
        epoch.and_then(|e| e.get(Metric::Loss, split))
    };
    match (end(run.epochs.first()), end(run.epochs.last())) {
        (Some(first), Some(last)) => {
            format!("{split} loss from {first:.4} to {last:.4} in {} epochs", run.epochs.len())
        }
        _ => "no epoch finished".to_owned(),
    }
}

/// Epochs with the logarithm of the loss; what has none is left out.
fn logarithms(run: &RunSnapshot, split: Split) -> impl Iterator<Item = (usize, f64)> {
    run.epochs.iter().filter_map(move |epoch| {
        let loss = epoch.get(Metric::Loss, split)?;
        (loss.is_finite() && loss > 0.0).then(|| (epoch.epoch, loss.ln()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{example, without_epochs};

    #[test]
    fn curves_lie_within_their_picture() {
        let snapshot = example();
        let scale = Scale::of(&snapshot);
        for run in &snapshot.runs {
            let svg = scale.svg(run, [0, 114, 178]);
            let (_, rest) = svg.split_once("points=\"").unwrap();
            let (points, _) = rest.split_once('"').unwrap();
            assert_eq!(points.split(' ').count(), run.epochs.len());
            for point in points.split(' ') {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((0.0..=WIDTH).contains(&x) && (0.0..=HEIGHT).contains(&y), "{point}");
            }
        }
    }

    #[test]
    fn run_without_epochs_has_an_empty_curve() {
        let snapshot = without_epochs();
        let svg = Scale::of(&snapshot).svg(&snapshot.runs[0], [0, 0, 0]);
        assert!(svg.contains("no epoch finished") && !svg.contains("NaN"), "{svg}");
    }
}
