use crate::comparison::{Rgb, lighter};
use crate::measure::Measure;
use crate::runs::{RunSnapshot, Snapshot};
use std::fmt::Write;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 28.0;

/// The common scale of the small curves of all runs.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// The lowest drawn value; a logarithm if all values are above 0.
    low: f64,
    high: f64,
    logarithmic: bool,
    /// The last planned epoch.
    epochs: usize,
    /// The measures: the first is drawn lightly, the second over it.
    measures: [Option<Measure>; 2],
}

impl Scale {
    /// Creates a scale that fits the curves of all runs.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let on = snapshot.quantities().into_iter().next().map(|quantity| quantity.on);
        let [train, valid, test] = on.unwrap_or_default();
        let epochs = snapshot.runs.iter().map(|run| run.epochs_planned).max().unwrap_or(1);
        let measures = [train, valid.or(test)];
        let mut scale = Self { low: 0.0, high: 0.0, logarithmic: false, epochs, measures };
        let all: Vec<f64> =
            snapshot.runs.iter().flat_map(|run| scale.values(run)).map(|(_, y)| y).collect();
        scale.logarithmic = all.iter().all(|value| *value > 0.0);
        let shown = all.iter().map(|value| scale.height(*value));
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        (scale.low, scale.high) = if low < high { (low, high) } else { (low - 1.0, low + 1.0) };
        scale
    }

    /// Returns a description of the curves.
    pub(super) fn words(&self) -> String {
        let said = match &self.measures {
            [Some(light), Some(full)] => {
                format!("training {} (light) and {}", said(&light.quantity), name(full))
            }
            [light, full] => {
                light.as_ref().or(full.as_ref()).map_or_else(|| "none".to_owned(), name)
            }
        };
        if self.logarithmic { format!("{said}, logarithmic") } else { said }
    }

    /// Returns a run's curves as SVG.
    pub(super) fn svg(&self, run: &RunSnapshot, colour: Rgb) -> String {
        let [light, full] = &self.measures;
        let light = light.as_ref().map(|m| self.line(run, m, lighter(colour, 0.5)));
        let line = full.as_ref().map(|m| self.line(run, m, colour));
        let described = full.as_ref().or(self.measures[0].as_ref());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">{}{}</svg>",
            escaped(&described.map_or_else(nothing, |m| description(run, m))),
            light.unwrap_or_default(),
            line.unwrap_or_default()
        )
    }

    fn line(&self, run: &RunSnapshot, measure: &Measure, [red, green, blue]: Rgb) -> String {
        let mut points = String::new();
        let across = self.epochs.max(2) as f64 - 1.0;
        for (epoch, value) in values(run, measure) {
            let x = 1.0 + (epoch as f64 - 1.0) / across * (WIDTH - 2.0);
            let y =
                1.0 + (self.high - self.height(value)) / (self.high - self.low) * (HEIGHT - 2.0);
            let _ = write!(points, "{x:.1},{y:.1} ");
        }
        format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"rgb({red},{green},{blue})\" \
             stroke-width=\"1.5\" stroke-linecap=\"round\"/>",
            points.trim_end()
        )
    }

    fn height(&self, value: f64) -> f64 {
        if self.logarithmic { value.ln() } else { value }
    }

    fn values<'a>(&'a self, run: &'a RunSnapshot) -> impl Iterator<Item = (usize, f64)> + 'a {
        self.measures.iter().flatten().flat_map(|measure| values(run, measure))
    }
}

/// Returns a measure's name: `test loss`.
fn name(measure: &Measure) -> String {
    let split = measure.split.map_or_else(String::new, |split| format!("{split} "));
    format!("{split}{}", said(&measure.quantity))
}

fn said(quantity: &str) -> String {
    quantity.replace('_', " ")
}

/// Escapes a text for HTML. Names may come from untrusted sources.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn description(run: &RunSnapshot, measure: &Measure) -> String {
    let end = |epoch: Option<&crate::measure::EpochMetrics>| epoch?.get(&measure.column);
    match (end(run.epochs.first()), end(run.epochs.last())) {
        (Some(first), Some(last)) => {
            let (name, epochs) = (name(measure), run.epochs.len());
            format!("{name} from {first:.4} to {last:.4} in {epochs} epochs")
        }
        _ => nothing(),
    }
}

fn nothing() -> String {
    "no epoch finished".to_owned()
}

/// Returns the epochs with finite values.
fn values(run: &RunSnapshot, measure: &Measure) -> impl Iterator<Item = (usize, f64)> {
    run.epochs.iter().filter_map(|epoch| {
        Some((epoch.epoch, epoch.get(&measure.column)?)).filter(|(_, value)| value.is_finite())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{example, without_epochs};

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
