//! The figure of measures by epoch, as the recipe lays it out.

use super::captions::runs_and_data;
use super::{Curve, Figure, Panel};
use crate::comparison::{Group, best_groups, colour, groups, lighter};
use crate::measure::{Measure, Split};
use crate::runs::{Panels, Snapshot, Stage};
use crate::setting::{Axis, Role, Setting};

/// Returns the figure of a comparison, as its experiment lays it out, or `None` before any epoch is finished.
pub(super) fn figure(snapshot: &Snapshot) -> Option<Figure> {
    let spec = &snapshot.design.figure;
    let shown = measures(snapshot);
    let chosen = match spec.panels {
        // If there are final runs, only those are drawn; each has its own tuned setting.
        Panels::Tuned => {
            let all = groups(snapshot);
            let finals = all.iter().any(|group| group.stage == Stage::Final);
            all.into_iter().filter(|g| !finals || g.stage == Stage::Final).collect()
        }
        Panels::Single | Panels::Each => best_groups(snapshot),
    };
    let panels: Vec<Panel> = match spec.panels {
        Panels::Single => vec![panel(snapshot, &shown, String::new(), chosen.iter())],
        Panels::Each => divide(&snapshot.contexts(), |context| {
            let here = chosen.iter().filter(|g| g.context == *context);
            panel(snapshot, &shown, context.context(&snapshot.design.axes), here)
        }),
        Panels::Tuned => {
            // The largest on the left, as in Figure 4 of the paper.
            let tuned: Vec<Setting> = snapshot.tuned().into_iter().rev().collect();
            divide(&tuned, |setting| {
                let here = chosen.iter().filter(|g| g.tuned == *setting);
                panel(snapshot, &shown, tuned_title(&snapshot.design.axes, setting), here)
            })
        }
    };
    let drawn = panels.iter().flat_map(|panel| &panel.curves).any(|c| !c.points.is_empty());
    drawn.then(|| Figure {
        title: snapshot.design.title.clone(),
        caption: caption(snapshot, &shown),
        x_axis: "Epochs".to_owned(),
        logarithmic: spec.logarithmic,
        panels,
    })
}

/// Returns the name of the figure's file, without extension.
pub(super) fn name(snapshot: &Snapshot) -> String {
    snapshot.design.figure.name.clone()
}

/// Returns the measures to draw, the strongest line first.
fn measures(snapshot: &Snapshot) -> Vec<Measure> {
    let spec = &snapshot.design.figure;
    let quantities = snapshot.quantities();
    let wanted = match spec.quantity.as_str() {
        "" => snapshot.primary().quantity,
        named => named.to_owned(),
    };
    let Some(quantity) = quantities.into_iter().find(|quantity| quantity.name == wanted) else {
        return Vec::new();
    };
    let [train, valid, test] = quantity.on;
    match spec.splits.is_empty() {
        true => train.into_iter().chain(valid.or(test)).collect(),
        false => {
            let of = |split: &Split| match split {
                Split::Train => train.clone(),
                Split::Valid => valid.clone(),
                Split::Test => test.clone(),
            };
            spec.splits.iter().filter_map(of).collect()
        }
    }
}

/// Returns a panel's title: `learning rate 0.001`.
fn tuned_title(axes: &[Axis], tuned: &Setting) -> String {
    let said = |axis: &Axis| Some(format!("{} {}", axis.title(), tuned.get(&axis.name)?));
    Role::Tuned.of(axes).filter_map(said).collect::<Vec<_>>().join(", ")
}

fn divide(settings: &[Setting], make: impl Fn(&Setting) -> Panel) -> Vec<Panel> {
    settings.iter().map(make).collect()
}

fn panel<'a>(
    snapshot: &Snapshot,
    shown: &[Measure],
    title: String,
    chosen: impl Iterator<Item = &'a Group<'a>>,
) -> Panel {
    let mut curves = Vec::new();
    for group in chosen {
        let full = colour(snapshot.position(&group.arm));
        for (index, measure) in shown.iter().enumerate() {
            let points = group.complete().median_curve(measure);
            curves.push(Curve {
                label: (index == 0).then(|| snapshot.label(&group.arm)),
                colour: if index == 0 { full } else { lighter(full, 0.45) },
                dashed: index > 0 && snapshot.design.figure.dashed,
                points: points.into_iter().map(|(epoch, value)| (epoch as f64, value)).collect(),
                band: Vec::new(),
            });
        }
    }
    let axis = match (snapshot.design.figure.axis.as_str(), shown) {
        ("", [measure, ..]) => measure.quantity.replace('_', " "),
        (said, _) => said.to_owned(),
    };
    Panel { title, y_axis: axis, curves }
}

fn caption(snapshot: &Snapshot, shown: &[Measure]) -> String {
    let of = runs_and_data(snapshot);
    let told_apart = match shown {
        [Measure { split: Some(first), .. }, Measure { split: Some(second), .. }, ..] => {
            let [strong, weak] = if snapshot.design.figure.dashed {
                ["solid", "dashed"]
            } else {
                ["strong", "faint"]
            };
            format!("{strong}: {first}, {weak}: {second}; ")
        }
        _ => String::new(),
    };
    format!("{told_apart}{of}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::RunStatus;
    use crate::testing::{example, without_epochs};

    #[test]
    fn panels_hold_one_pair_of_curves_per_activation_at_its_best_learning_rate() {
        let snapshot = example();
        let figure = figure(&snapshot).unwrap();
        assert_eq!(figure.panels.len(), 2);
        assert_eq!(figure.panels[1].title, "dropout 0.5");
        let labels: Vec<_> = figure.panels[0].curves.iter().map(|c| c.label.as_deref()).collect();
        assert_eq!(labels, [Some("GELU"), None, Some("ReLU"), None]);
        let best = best_groups(&snapshot)[0].median_curve(&snapshot.measure("train_loss"));
        assert_eq!(figure.panels[0].curves[0].points[0].1, best[0].1);
    }

    #[test]
    fn caption_says_what_the_lines_are_and_that_data_are_synthetic() {
        let figure = figure(&example()).unwrap();
        let expected = "strong: train, faint: valid; median of 3 runs; SYNTHETIC DATA (digits)";
        assert_eq!(figure.caption, expected);
    }

    #[test]
    fn panels_by_learning_rate_begin_with_the_largest() {
        let mut snapshot = example();
        snapshot.design.figure.panels = Panels::Tuned;
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
        run.epochs[0].set("train_loss", 1e6);
        let figure = figure(&snapshot).unwrap();
        let of_two = figure.panels[0].curves[0].points[0].1;
        let two = [8, 16].map(|index| snapshot.runs[index].epochs[0].get("train_loss").unwrap());
        assert_eq!(of_two, f64::midpoint(two[0], two[1]));
        assert!(figure.caption.contains("median of 2 to 3 runs"), "{}", figure.caption);
    }

    #[test]
    fn nothing_finished_is_no_figure() {
        assert_eq!(figure(&without_epochs()), None);
    }
}
