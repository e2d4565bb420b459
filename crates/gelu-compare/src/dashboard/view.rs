use super::app::{App, Mode, Popup};
use super::bars::BarsView;
use super::clock::Reading;
use super::verdicts::VerdictsView;
use crate::comparison::{Group, best_groups, groups};
use crate::extension::DashboardBars;
use crate::measure::{Measure, Reported, Unit};
use crate::runs::{Quantity, RunStatus, Snapshot};
use crate::setting::{Role, Setting};

/// Everything that the screen shows at one moment, made from the state and a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub(super) title: String,
    pub(super) synthetic: bool,
    pub(super) tabs: Vec<String>,
    pub(super) tab: usize,
    /// The part of the comparison that is shown: the context and the tuned setting.
    pub(super) choice: String,
    pub(super) chart: ChartView,
    /// The verdicts to show instead of the chart.
    pub(super) verdicts: Option<VerdictsView>,
    /// The table of bars to show instead of the chart.
    pub(super) bars: Option<BarsView>,
    /// The help text for the key that shows tables of bars; `None` if no extension has any.
    pub(super) bars_help: Option<&'static str>,
    /// The epoch at which the rows' values were measured.
    pub(super) epoch: &'static str,
    /// The headings of the rows' values.
    pub(super) measured: Vec<String>,
    /// The names of the tuned axes.
    pub(super) tuned: String,
    pub(super) rows: Vec<Row>,
    /// One line per run that is under way.
    pub(super) running: Vec<String>,
    pub(super) reading: Reading,
    pub(super) keys: String,
    pub(super) popup: Option<Popup>,
    pub(super) stopping: bool,
}

/// The curves of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChartView {
    /// The unit of the vertical axis.
    pub(super) unit: Option<Unit>,
    pub(super) logarithmic: bool,
    /// The names of the lines and of the symbols.
    pub(super) drawn: [Option<String>; 2],
    pub(super) series: Vec<Series>,
    /// The text to show before there are curves.
    pub(super) message: Option<String>,
}

/// The curves of one arm.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) position: usize,
    pub(super) running: bool,
    pub(super) line: Vec<(f64, f64)>,
    pub(super) symbols: Vec<(f64, f64)>,
}

/// One arm's row in the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) position: usize,
    pub(super) running: bool,
    pub(super) name: String,
    /// Medians of the shown quantity at the reported epoch, for training, validation and test; empty without a value.
    pub(super) values: Vec<String>,
    /// The values that the arm was tuned to.
    pub(super) tuned: String,
    pub(super) runs: String,
}

impl View {
    pub(super) fn of(app: &App, snapshot: &Snapshot, reading: Reading) -> Self {
        let quantity = app.quantity(snapshot);
        let tabs = App::tabs(snapshot);
        let chosen = chosen_groups(app, snapshot);
        let parts = [&snapshot.design.title, &snapshot.data, &snapshot.device].into_iter();
        let parts: Vec<&str> = parts.map(String::as_str).filter(|part| !part.is_empty()).collect();
        let shown = columns(&quantity);
        let bars = app.bars_of(snapshot);
        Self {
            title: parts.join(" · "),
            synthetic: snapshot.synthetic,
            tab: tabs.iter().position(|tab| tab.name == quantity.name).unwrap_or(0),
            tabs: tabs.iter().map(|tab| capitalised(&tab.name.replace('_', " "))).collect(),
            choice: choice(app, snapshot),
            chart: chart(app, snapshot, &quantity, &chosen),
            measured: shown.iter().map(|(heading, _)| (*heading).to_owned()).collect(),
            tuned: names_of(snapshot, Role::Tuned),
            verdicts: app.verdicts.then(|| VerdictsView::of(snapshot)),
            bars: app.bars.and_then(|place| BarsView::of(bars.as_ref()?, place)),
            bars_help: bars.as_ref().map(|bars| bars.help),
            epoch: match snapshot.design.reported {
                Reported::LastEpoch => "last epoch",
                Reported::BestEpoch => "best epoch",
            },
            rows: chosen.iter().map(|group| row(snapshot, &shown, group)).collect(),
            running: running(snapshot),
            reading,
            keys: keys(app, snapshot, bars.as_ref()),
            popup: app.popup,
            stopping: app.stopping,
        }
    }
}

/// Returns the keys that do something here.
fn keys(app: &App, snapshot: &Snapshot, bars: Option<&DashboardBars>) -> String {
    let mut keys = vec!["←→ metric".to_owned(), "v verdicts".to_owned()];
    let bars = bars.filter(|bars| bars.tables.iter().any(|table| !table.rows.is_empty()));
    keys.extend(bars.map(|bars| format!("p {}", bars.name)));
    let mut axis = |key: char, role| {
        let names = names_of(snapshot, role);
        if !names.is_empty() {
            keys.push(format!("{key} {names}"));
        }
    };
    axis('d', Role::Each);
    axis('r', Role::Tuned);
    keys.push("l log".to_owned());
    keys.extend(match app.mode {
        Mode::Owning => ["s stop", "q quit", "h help"].map(str::to_owned).to_vec(),
        Mode::Watching => ["q leave", "h help"].map(str::to_owned).to_vec(),
    });
    keys.join("  ")
}

fn names_of(snapshot: &Snapshot, role: Role) -> String {
    role.of(&snapshot.design.axes).map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns what the table shows, with headings: training, validation and test, or a single measure that belongs to no
/// part of the data.
fn columns(quantity: &Quantity) -> Vec<(&'static str, Option<&Measure>)> {
    let [train, valid, test] = &quantity.on;
    match (train, valid, test) {
        (None, None, Some(measure)) if measure.split.is_none() => vec![("median", Some(measure))],
        _ => vec![("train", train.as_ref()), ("valid", valid.as_ref()), ("test", test.as_ref())],
    }
}

/// Returns one group per arm: those of the chosen context and tuned setting.
fn chosen_groups<'a>(app: &App, snapshot: &'a Snapshot) -> Vec<Group<'a>> {
    let of_tuned = match app.tuned(snapshot) {
        Some(tuned) => groups(snapshot).into_iter().filter(|g| g.tuned == tuned).collect(),
        None => best_groups(snapshot),
    };
    let context = app.context(snapshot);
    of_tuned.into_iter().filter(|group| Some(&group.context) == context.as_ref()).collect()
}

fn tuned_label(snapshot: &Snapshot, tuned: &Setting) -> String {
    let labels = Role::Tuned.of(&snapshot.design.axes).map(|axis| axis.label_in(tuned));
    labels.collect::<Vec<_>>().join(", ")
}

fn choice(app: &App, snapshot: &Snapshot) -> String {
    let mut parts = Vec::new();
    if let Some(context) = app.context(snapshot).filter(|_| snapshot.contexts().len() > 1) {
        parts.push(context.context(&snapshot.design.axes));
    }
    let names = names_of(snapshot, Role::Tuned);
    match app.tuned(snapshot) {
        Some(tuned) => parts.push(format!("{names} {}", tuned_label(snapshot, &tuned))),
        None if snapshot.tuned().len() > 1 => parts.push(format!("best {names}")),
        None => {}
    }
    if app.logarithmic {
        parts.push("log".to_owned());
    }
    if let Some(window) = app.window {
        parts.push(format!("last {window} epochs"));
    }
    parts.join(" · ")
}

fn chart(app: &App, snapshot: &Snapshot, quantity: &Quantity, chosen: &[Group<'_>]) -> ChartView {
    let [train, valid, test] = &quantity.on;
    let (lines, symbols) = match train {
        Some(_) => (train.as_ref(), valid.as_ref().or(test.as_ref())),
        None => (valid.as_ref().or(test.as_ref()), valid.as_ref().and(test.as_ref())),
    };
    let longest =
        chosen.iter().flat_map(|g| &g.runs).map(|run| run.epochs.len()).max().unwrap_or(0);
    let first = app.window.map_or(1, |window| longest.saturating_sub(window) + 1);
    let points = |group: &Group<'_>, measure: Option<&Measure>| -> Vec<(f64, f64)> {
        let curve = measure.map_or_else(Vec::new, |measure| group.median_curve(measure));
        let drawable = |y: f64| y.is_finite() && (!app.logarithmic || y > 0.0);
        curve
            .into_iter()
            .filter(|&(epoch, y)| epoch >= first && drawable(y))
            .map(|(epoch, y)| (epoch as f64, if app.logarithmic { y.log10() } else { y }))
            .collect()
    };
    let series: Vec<Series> = chosen
        .iter()
        .map(|group| Series {
            position: snapshot.position(&group.arm),
            running: is_running(group),
            line: points(group, lines),
            symbols: points(group, symbols),
        })
        .collect();
    let empty = series.iter().all(|s| s.line.is_empty() && s.symbols.is_empty());
    let name = |measure: Option<&Measure>| {
        let of = measure?;
        Some(of.split.map_or_else(|| of.quantity.replace('_', " "), |split| split.to_string()))
    };
    ChartView {
        unit: lines.or(symbols).map(|measure| measure.unit.clone()),
        logarithmic: app.logarithmic,
        drawn: [name(lines), name(symbols)],
        message: empty.then(|| waiting(snapshot)),
        series,
    }
}

/// Returns the text to show before a curve has a point.
fn waiting(snapshot: &Snapshot) -> String {
    let losses: Vec<String> = snapshot
        .runs
        .iter()
        .filter_map(|run| {
            let loss = run.progress.as_ref()?.batch_loss?;
            Some(format!("{}: batch loss {loss:.4}", run.name))
        })
        .collect();
    match losses.is_empty() {
        true => "No epoch is finished here yet.".to_owned(),
        false => format!("The first epoch is under way.\n{}", losses.join("\n")),
    }
}

fn row(snapshot: &Snapshot, shown: &[(&str, Option<&Measure>)], group: &Group<'_>) -> Row {
    let value = |(_, measure): &(&str, Option<&Measure>)| {
        let standing = measure.and_then(|m| Some((m, group.standing(snapshot, m)?)));
        standing.map_or_else(String::new, |(measure, value)| measure.unit.shown(value))
    };
    let count = |wanted: fn(&RunStatus) -> bool| {
        group.runs.iter().filter(|run| wanted(&run.status)).count()
    };
    let mut runs = format!("{}/{}", count(|s| *s == RunStatus::Finished), group.runs.len());
    for (number, word) in [
        (count(|s| matches!(s, RunStatus::Diverged { .. })), "diverged"),
        (count(|s| matches!(s, RunStatus::Failed { .. })), "failed"),
    ] {
        if number > 0 {
            runs.push_str(&format!(" {number} {word}"));
        }
    }
    Row {
        position: snapshot.position(&group.arm),
        running: is_running(group),
        name: snapshot.label(&group.arm),
        values: shown.iter().map(value).collect(),
        tuned: tuned_label(snapshot, &group.tuned),
        runs,
    }
}

fn running(snapshot: &Snapshot) -> Vec<String> {
    let live = snapshot.runs.iter().filter_map(|run| {
        let progress = run.progress.as_ref()?;
        let percent = (100.0 * progress.share()).floor();
        let doing = match progress.phase {
            crate::runs::Phase::Train => "training",
            crate::runs::Phase::Evaluate => "measuring",
        };
        let of = snapshot.epochs_of(run).map_or_else(String::new, |planned| format!("/{planned}"));
        Some(format!("▶ {}  epoch {}{of}  {doing} {percent} %", run.name, progress.epoch))
    });
    live.collect()
}

fn is_running(group: &Group<'_>) -> bool {
    group.runs.iter().any(|run| run.status == RunStatus::Running)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::super::clock::Clock;
    use super::*;
    use crate::testing::{example, without_epochs};

    fn view(app: &App, snapshot: &Snapshot) -> View {
        View::of(app, snapshot, Clock::start().read(snapshot))
    }

    #[test]
    fn a_measure_of_no_part_of_the_data_has_one_column() {
        let headings = |split| {
            let measure = Measure { split, ..Measure::test_error() };
            let quantity = Quantity { name: "error".to_owned(), on: [None, None, Some(measure)] };
            columns(&quantity).into_iter().map(|(heading, _)| heading).collect::<Vec<_>>()
        };
        assert_eq!(headings(None), ["median"]);
        assert_eq!(headings(Some(crate::measure::Split::Test)), ["train", "valid", "test"]);
    }

    #[test]
    fn one_row_and_one_series_per_activation() {
        let view = view(&App::new(Mode::Watching), &example());
        let names: Vec<&str> = view.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["GELU", "ReLU"]);
        assert_eq!(view.chart.series.len(), 2);
        assert_eq!(view.chart.series[0].line.len(), 12);
        assert_eq!(view.rows[0].runs, "3/3");
        assert_eq!(view.chart.message, None);
    }

    #[test]
    fn values_are_those_of_the_epoch_that_is_reported_the_test_sets_too() {
        let mut snapshot = example();
        // At an earlier epoch, the test loss was lower than at the end and than where validation was best.
        for run in &mut snapshot.runs {
            run.epochs[1].set("test_loss", 0.001);
            run.epochs[3].set("valid_loss", 0.01);
            run.epochs[3].set("test_loss", 0.5);
        }
        let values =
            |snapshot: &Snapshot| view(&App::new(Mode::Watching), snapshot).rows[0].values.clone();
        let last = snapshot.runs[8].epochs[11].get("test_loss").unwrap();
        assert_eq!(values(&snapshot)[2], format!("{last:.4}"));
        snapshot.design.reported = Reported::BestEpoch;
        assert_eq!(values(&snapshot)[1..], ["0.0100", "0.5000"]);
    }

    #[test]
    fn before_a_run_is_complete_values_are_those_so_far() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.status = RunStatus::Running;
            run.epochs.truncate(3);
        }
        let complete_or_started = snapshot.runs[8].epochs[2].get("valid_loss").unwrap();
        let rows = view(&App::new(Mode::Watching), &snapshot).rows;
        assert_eq!(rows[0].values[1], format!("{complete_or_started:.4}"));
    }

    #[test]
    fn window_shows_the_last_epochs_only() {
        let mut app = App::new(Mode::Watching);
        app.window = Some(3);
        let line = &view(&app, &example()).chart.series[0].line;
        assert_eq!(line.iter().map(|p| p.0).collect::<Vec<_>>(), [10.0, 11.0, 12.0]);
    }

    #[test]
    fn before_the_first_epoch_there_is_a_message() {
        let message = view(&App::new(Mode::Owning), &without_epochs()).chart.message;
        assert_eq!(message.as_deref(), Some("No epoch is finished here yet."));
    }
}
