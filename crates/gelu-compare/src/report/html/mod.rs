//! The report as one HTML file without external resources and scripts. It is readable on a phone, on paper, and on
//! light and dark screens.

mod axes;
mod curve;
mod session;
mod tuning;

use super::captions::cuts;
use super::{Document, table};
use crate::comparison::{Difference, Headings, colour, reported_epoch};
use crate::extension::{Section, extensions};
use crate::measure::{Measure, Reported, Split, seconds};
use crate::runs::{Recipe, RunSnapshot, Snapshot};
use crate::setting::{Role, Setting};
use axes::{in_order, labels};
use curve::Scale;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use session::{Session, sessions};
use tuning::{Choices, Tuning, choices, tuning};

/// The values for the template. All texts are escaped, except for [`Value::from_safe_string`].
#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    experiment: &'a str,
    data: String,
    device: &'a str,
    synthetic: bool,
    cuts: Option<String>,
    verdicts: Vec<Said>,
    figures: Vec<Picture>,
    results: Results,
    notes: Vec<String>,
    sections: Vec<Section>,
    selection: String,
    tuning: Tuning,
    choices: Vec<Choices>,
    /// The names of the axes along which runs differ, in the order of their cells.
    axes: Vec<String>,
    summary: String,
    curves: String,
    staged: bool,
    /// The epoch that provides the measures of a run, in words.
    epoch: String,
    /// Whether that epoch may be another one in every run.
    best: bool,
    measures: Vec<String>,
    runs: Vec<Run>,
    tool: String,
    takes_file: bool,
    command: Option<String>,
    recipe: String,
    sessions: Vec<Session>,
}

/// The texts about one comparison.
#[derive(Serialize)]
struct Said {
    verdict: String,
    sentence: String,
    by_task: Vec<String>,
    details: Option<String>,
}

#[derive(Serialize)]
struct Picture {
    name: String,
    svg: Value,
}

#[derive(Serialize)]
struct Results {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct Run {
    colour: String,
    labels: Vec<String>,
    seed: u64,
    stage: &'static str,
    status: String,
    epochs: String,
    /// The epoch that provides the results.
    reported: String,
    time: String,
    measures: Vec<String>,
    curve: Value,
    link: String,
    folder: String,
}

/// Returns the HTML report. `pictures` are the figures' names with their SVG. `recipe` is the compared
/// recipe. Links to the runs work if the report is in the comparison's folder.
pub fn html<R: Recipe>(
    snapshot: &Snapshot,
    document: &Document,
    pictures: &[(String, String)],
    recipe: &R,
) -> String {
    let measures = measures(snapshot);
    let page = Page {
        title: &snapshot.design.title,
        experiment: &snapshot.design.name,
        data: match &snapshot.data_location {
            Some(location) => format!("{} from {location}", snapshot.data),
            None => snapshot.data.clone(),
        },
        device: &snapshot.device,
        synthetic: snapshot.synthetic,
        cuts: cuts(&document.cut_down),
        verdicts: verdicts(document),
        figures: pictures.iter().map(picture).collect(),
        results: results(document),
        notes: table::notes(document),
        sections: extensions().iter().flat_map(|by| by.sections(snapshot)).collect(),
        selection: selection(snapshot),
        tuning: tuning(snapshot),
        choices: choices(snapshot),
        axes: in_order(&snapshot.design.axes).map(|axis| axis.name.clone()).collect(),
        summary: summary(snapshot),
        curves: Scale::of(snapshot).words(),
        staged: snapshot.runs.iter().any(|run| !run.key.stage.is_only()),
        epoch: snapshot.design.reported.words(&snapshot.design.selection),
        best: snapshot.design.reported == Reported::BestEpoch,
        measures: measures.iter().map(|measure| measure.column.replace('_', " ")).collect(),
        runs: runs(snapshot, &measures),
        tool: recipe.program(),
        takes_file: recipe.takes_file(),
        command: recipe.command(),
        recipe: toml::to_string(recipe).expect("a recipe holds plain values alone"),
        sessions: sessions(snapshot),
    };
    let mut environment = Environment::new();
    // A name that the template uses and the page lacks is a programming error, so it must not become an empty text.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
        .add_template("page.html", include_str!("page.html"))
        .expect("the template is well-formed");
    let template = environment.get_template("page.html").expect("it was added just now");
    template.render(Serde(&page)).expect("the template names what the page has")
}

/// Returns the measures to show for every run. Leaves out fractions on training and validation data, and measures of
/// whole runs.
fn measures(snapshot: &Snapshot) -> Vec<Measure> {
    let of_epochs = |measure: &&Measure| {
        let fraction = measure.unit.factor != 1.0;
        !(measure.of_run || fraction && matches!(measure.split, Some(Split::Train | Split::Valid)))
    };
    snapshot.design.measures.iter().filter(of_epochs).cloned().collect()
}

fn picture((name, svg): &(String, String)) -> Picture {
    Picture { name: name.clone(), svg: Value::from_safe_string(svg.clone()) }
}

fn verdicts(document: &Document) -> Vec<Said> {
    let contexts = document.differences.iter().map(|d| &d.context);
    let headings = Headings::of(&document.axes, contexts);
    let said = |d: &Difference| Said {
        verdict: d.finding.verdict.to_string(),
        sentence: headings.head(&d.context, &d.finding.sentence),
        by_task: d.finding.over.as_ref().map_or_else(Vec::new, |over| over.words.clone()),
        details: d.finding.details.clone(),
    };
    document.differences.iter().map(said).collect()
}

fn results(document: &Document) -> Results {
    let (header, rows) = table::cells(document);
    Results { header, rows }
}

fn selection(snapshot: &Snapshot) -> String {
    let measure = snapshot.selection();
    let words = match measure.split {
        Some(Split::Train) => "training ",
        Some(Split::Valid) => "validation ",
        Some(Split::Test) => "test ",
        None => "",
    };
    let epoch = match snapshot.design.reported {
        Reported::LastEpoch => "at the last epoch",
        Reported::BestEpoch => "at its best epoch",
    };
    format!("{words}{} {epoch}", measure.quantity.replace('_', " "))
}

fn summary(snapshot: &Snapshot) -> String {
    let over = snapshot.runs.iter().filter(|run| run.status.is_complete()).count();
    let spent = snapshot.runs.iter().map(|run| run.seconds).sum();
    format!("{over} of {} runs complete, {} of training", snapshot.runs.len(), seconds(spent))
}

fn runs(snapshot: &Snapshot, measures: &[Measure]) -> Vec<Run> {
    let scale = Scale::of(snapshot);
    snapshot.runs.iter().map(|run| row(snapshot, run, &scale, measures)).collect()
}

fn run_arm(snapshot: &Snapshot, run: &RunSnapshot) -> Setting {
    run.key.setting.of_role(&snapshot.design.axes, Role::Compared)
}

fn row(snapshot: &Snapshot, run: &RunSnapshot, scale: &Scale, measures: &[Measure]) -> Run {
    let key = &run.key;
    let rgb = colour(snapshot.position(&run_arm(snapshot, run)));
    let reported = reported_epoch(snapshot, run);
    let measure = |measure: &Measure| {
        let value = reported.and_then(|epoch| epoch.get(&measure.column));
        value.map_or_else(|| "–".to_owned(), |value| measure.unit.shown(value))
    };
    Run {
        colour: format!("rgb({}, {}, {})", rgb[0], rgb[1], rgb[2]),
        labels: labels(
            &snapshot.design.axes,
            &key.setting,
            &[Role::Compared, Role::Each, Role::Tuned],
        ),
        seed: key.seed,
        stage: key.stage.word().unwrap_or_default(),
        status: run.status.to_string(),
        epochs: format!("{}/{}", run.epochs.len(), run.epochs_planned),
        reported: reported.map_or_else(|| "–".to_owned(), |epoch| epoch.epoch.to_string()),
        time: seconds(run.seconds),
        measures: measures.iter().map(measure).collect(),
        curve: Value::from_safe_string(scale.svg(run, rgb)),
        link: format!("runs/{}/", run.folder),
        folder: run.folder.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{example, without_epochs};

    fn page(snapshot: &Snapshot) -> String {
        let pictures = [("figure-9".to_owned(), "<svg>drawn</svg>".to_owned())];
        let page = html(snapshot, &Document::of(snapshot), &pictures, &crate::program::example());
        // The template engine also escapes slashes within text.
        page.replace("&#x2f;", "/")
    }

    #[test]
    fn page_has_every_part() {
        let page = page(&example());
        for expected in [
            "SYNTHETIC DATA",
            "<p>Dropout 0.5: ReLU and GELU",
            "<svg>drawn</svg>",
            "Chosen by validation loss at the last epoch",
            "▲ at the largest rate tried",
            "diverged in epoch 5",
            "href=\"runs/gelu-lr0.001-dropout0-seed1/\"",
            "gelu-compare compare",
        ] {
            assert!(page.contains(expected), "{expected:?} is missing in:\n{page}");
        }
        assert_eq!(page.matches("<polyline").count(), 2 * example().runs.len());
    }

    #[test]
    fn a_runs_measures_are_those_of_the_epoch_that_is_reported() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.epochs[2].set("valid_loss", 0.001);
            run.epochs[2].set("test_error", 0.4321);
        }
        let first = |snapshot: &Snapshot| runs(snapshot, &measures(snapshot)).swap_remove(0);
        let last = snapshot.runs[0].epochs[11].get("test_error").unwrap();
        let shown = first(&snapshot);
        assert_eq!(shown.measures[3], format!("{:.2} %", last * 100.0));
        assert_eq!(shown.reported, "12");
        let last = page(&snapshot);
        assert!(last.contains("Measures are those of the last epoch."), "{last}");
        assert!(!last.contains("<th>reported</th>"), "{last}");
        snapshot.design.reported = Reported::BestEpoch;
        let shown = first(&snapshot);
        assert_eq!((shown.measures[1].as_str(), shown.measures[3].as_str()), ("0.0010", "43.21 %"));
        assert_eq!(shown.reported, "3");
        let page = page(&snapshot);
        assert!(page.contains("those of the epoch that was best by valid-loss."), "{page}");
        assert!(page.contains("<td>12/12</td><td>3</td>"), "{page}");
    }

    #[test]
    fn text_is_escaped_wherever_it_stands() {
        let mut snapshot = example();
        let hostile = "<script src='http://evil.example'>\"&".to_owned();
        snapshot.design.title.clone_from(&hostile);
        snapshot.data.clone_from(&hostile);
        snapshot.device.clone_from(&hostile);
        for run in &mut snapshot.runs {
            run.status = crate::runs::RunStatus::Failed { reason: hostile.clone() };
            run.folder = format!("{hostile}{}", run.folder);
            run.key.setting.set("activation", hostile.clone());
        }
        let page = page(&snapshot);
        assert!(!page.contains("<script") && page.contains("&lt;script"), "{page}");
    }

    #[test]
    fn nothing_in_the_page_leads_outside() {
        let page = page(&example());
        let namespace = "http://www.w3.org/2000/svg";
        assert!(!page.replace(namespace, "").contains("://"), "{page}");
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn unfinished_comparison_has_a_page_too() {
        let page = page(&without_epochs());
        assert!(page.contains("0 of 12 runs complete"), "{page}");
    }
}
