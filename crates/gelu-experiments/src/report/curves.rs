//! The measures by epoch, as the recipe wants them drawn.

use super::captions::runs_and_data;
use super::{Curve, Figure, Panel};
use crate::comparison::{Group, best_groups, colour, groups, label, lighter};
use crate::measure::{LossKind, Metric, Split};
use crate::recipe::{FigureSpec, Panels, SecondSplit};
use crate::runs::{ComparisonSnapshot, Stage};

/// The figure of a comparison: that of its recipe, or the loss of training and validation
/// with one panel per dropout rate. `None` before any epoch is finished.
pub(super) fn figure(snapshot: &ComparisonSnapshot) -> Option<Figure> {
    let spec = snapshot.figure.clone().unwrap_or_else(|| default_spec(snapshot));
    let chosen = match spec.panels {
        // Where there are final runs, those alone; they have a learning rate each.
        Panels::LearningRate => {
            let all = groups(snapshot);
            let finals = all.iter().any(|group| group.stage == Stage::Final);
            all.into_iter().filter(|g| !finals || g.stage == Stage::Final).collect()
        }
        Panels::Single | Panels::Dropout => best_groups(snapshot),
    };
    let panels: Vec<Panel> = match spec.panels {
        Panels::Single => vec![panel(snapshot, &spec, String::new(), chosen.iter())],
        Panels::Dropout => divide(&snapshot.dropouts(), |rate| {
            let title = format!("dropout {rate}");
            panel(snapshot, &spec, title, chosen.iter().filter(|g| g.dropout == rate))
        }),
        Panels::LearningRate => {
            // The largest on the left, as in Figure 4 of the paper.
            let rates: Vec<f64> = snapshot.learning_rates().into_iter().rev().collect();
            divide(&rates, |rate| {
                let title = format!("learning rate {rate}");
                panel(snapshot, &spec, title, chosen.iter().filter(|g| g.learning_rate == rate))
            })
        }
    };
    let drawn = panels.iter().flat_map(|panel| &panel.curves).any(|c| !c.points.is_empty());
    drawn.then(|| Figure {
        title: snapshot.title.clone(),
        caption: caption(snapshot, &spec),
        x_axis: "Epochs".to_owned(),
        logarithmic: spec.logarithmic,
        panels,
    })
}

/// Name of its file, without extension.
pub(super) fn name(snapshot: &ComparisonSnapshot) -> String {
    snapshot.figure.as_ref().map_or_else(|| "curves".to_owned(), |spec| spec.name.clone())
}

fn default_spec(snapshot: &ComparisonSnapshot) -> FigureSpec {
    let second = if snapshot.has(Metric::Loss, Split::Valid) { Split::Valid } else { Split::Test };
    FigureSpec {
        name: "curves".to_owned(),
        metric: Metric::Loss,
        axis: match snapshot.loss {
            LossKind::LogLoss => "log loss".to_owned(),
            LossKind::SquaredError => "mean squared error".to_owned(),
        },
        splits: vec![Split::Train, second],
        second: SecondSplit::Lighter,
        panels: Panels::Dropout,
        logarithmic: false,
    }
}

fn divide(rates: &[f64], make: impl Fn(f64) -> Panel) -> Vec<Panel> {
    rates.iter().map(|&rate| make(rate)).collect()
}

fn panel<'a>(
    snapshot: &ComparisonSnapshot,
    spec: &FigureSpec,
    title: String,
    chosen: impl Iterator<Item = &'a Group<'a>>,
) -> Panel {
    let activations = snapshot.activations();
    let mut curves = Vec::new();
    for group in chosen {
        let position = activations.iter().position(|name| *name == group.activation);
        let full = colour(position.expect("a group's activation is one of the comparison's"));
        for (index, &split) in spec.splits.iter().enumerate() {
            let points = group.complete().median_curve(spec.metric, split);
            curves.push(Curve {
                label: (index == 0).then(|| label(group.activation)),
                colour: if index == 0 { full } else { lighter(full, 0.45) },
                dashed: index > 0 && spec.second == SecondSplit::Dashed,
                points: points.into_iter().map(|(epoch, value)| (epoch as f64, value)).collect(),
                band: Vec::new(),
            });
        }
    }
    Panel { title, y_axis: spec.axis.clone(), curves }
}

fn caption(snapshot: &ComparisonSnapshot, spec: &FigureSpec) -> String {
    let of = runs_and_data(snapshot);
    let told_apart = match (spec.splits.as_slice(), spec.second) {
        ([first, second, ..], SecondSplit::Lighter) => {
            format!("darker: {first}, lighter: {second}; ")
        }
        ([first, second, ..], SecondSplit::Dashed) => format!("solid: {first}, dashed: {second}; "),
        _ => String::new(),
    };
    format!("{told_apart}{of}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use crate::report::example::{example, without_epochs};
    use crate::runs::RunStatus;

    #[test]
    fn panels_hold_one_pair_of_curves_per_activation_at_its_best_learning_rate() {
        let snapshot = example();
        let figure = figure(&snapshot).unwrap();
        assert_eq!(figure.panels.len(), 2);
        assert_eq!(figure.panels[1].title, "dropout 0.5");
        let labels: Vec<_> = figure.panels[0].curves.iter().map(|c| c.label.as_deref()).collect();
        assert_eq!(labels, [Some("GELU"), None, Some("ReLU"), None]);
        let best = best_groups(&snapshot)[0].median_curve(Metric::Loss, Split::Train);
        assert_eq!(figure.panels[0].curves[0].points[0].1, best[0].1);
    }

    #[test]
    fn caption_says_what_the_lines_are_and_that_data_are_synthetic() {
        let figure = figure(&example()).unwrap();
        let expected = "darker: train, lighter: valid; median of 3 runs; SYNTHETIC DATA (digits)";
        assert_eq!(figure.caption, expected);
    }

    #[test]
    fn panels_by_learning_rate_begin_with_the_largest() {
        let mut snapshot = example();
        snapshot.figure = Recipe::named("mnist-autoencoder").unwrap().figure;
        let titles: Vec<_> =
            figure(&snapshot).unwrap().panels.into_iter().map(|panel| panel.title).collect();
        assert_eq!(titles, ["learning rate 0.001", "learning rate 0.0001"]);
    }

    #[test]
    fn curves_are_medians_of_complete_runs_alone() {
        let mut snapshot = example();
        let run = &mut snapshot.runs[0];
        run.status = RunStatus::Interrupted;
        run.epochs.truncate(2);
        run.epochs[0].train_loss = 1e6;
        let figure = figure(&snapshot).unwrap();
        let of_two = figure.panels[0].curves[0].points[0].1;
        let two = [8, 16].map(|index| snapshot.runs[index].epochs[0].train_loss);
        assert_eq!(of_two, f64::midpoint(two[0], two[1]));
        assert!(figure.caption.contains("median of 2 to 3 runs"), "{}", figure.caption);
    }

    #[test]
    fn nothing_finished_is_no_figure() {
        assert_eq!(figure(&without_epochs()), None);
    }
}
