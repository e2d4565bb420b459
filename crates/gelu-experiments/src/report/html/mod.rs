//! The report as one HTML file: nothing is fetched, nothing runs. Readable on a phone, on paper, on
//! light and dark screens.

mod curve;
mod session;

use super::{DifferenceDocument, Document, table};
use crate::comparison::{Headings, best_groups, colour, groups, label, reported_epoch};
use crate::measure::{Metric, Reported, Split, seconds};
use crate::recipe::{Recipe, cuts};
use crate::runs::{ComparisonSnapshot, RunSnapshot};
use curve::Scale;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use session::{Session, sessions};

/// What the template is filled with; whatever is no [`Value::from_safe_string`] is escaped.
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
    selection: String,
    rates: Vec<String>,
    choices: Vec<Choices>,
    summary: String,
    curves: String,
    staged: bool,
    /// Which epoch the measures of a run are those of.
    epoch: String,
    /// Whether it may be another one in every run.
    best: bool,
    measures: Vec<String>,
    runs: Vec<Run>,
    command: Option<String>,
    recipe: String,
    sessions: Vec<Session>,
}

/// What is said of one comparison.
#[derive(Serialize)]
struct Said {
    verdict: String,
    sentence: String,
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

/// How the learning rate of an activation was chosen.
#[derive(Serialize)]
struct Choices {
    label: String,
    dropout: String,
    cells: Vec<Cell>,
    /// `smallest` or `largest`, where the chosen rate is at that end of the grid.
    edge: Option<&'static str>,
}

#[derive(Serialize)]
struct Cell {
    score: String,
    chosen: bool,
}

#[derive(Serialize)]
struct Run {
    colour: String,
    label: String,
    dropout: String,
    rate: String,
    seed: u64,
    stage: &'static str,
    status: String,
    epochs: String,
    /// The epoch that counts.
    reported: String,
    time: String,
    measures: Vec<String>,
    curve: Value,
    link: String,
    folder: String,
}

/// The page. `pictures` are the figures with their SVG, `recipe` is what was compared; links lead to the
/// runs from a page in the comparison's folder.
pub fn html(
    snapshot: &ComparisonSnapshot,
    document: &Document,
    pictures: &[(String, String)],
    recipe: &Recipe,
) -> String {
    let page = Page {
        title: &snapshot.title,
        experiment: &snapshot.experiment,
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
        selection: selection(snapshot),
        rates: rates(snapshot),
        choices: choices(snapshot),
        summary: summary(snapshot),
        curves: Scale::of(snapshot).words(),
        staged: snapshot.runs.iter().any(|run| !run.key.stage.is_only()),
        epoch: snapshot.reported.words(snapshot.selection),
        best: snapshot.reported == Reported::BestEpoch,
        measures: MEASURES.map(|(metric, split)| format!("{split} {metric}")).to_vec(),
        runs: runs(snapshot),
        command: recipe.command(),
        recipe: toml::to_string(recipe).expect("a recipe holds plain values alone"),
        sessions: sessions(snapshot),
    };
    let mut environment = Environment::new();
    // A name the template has and the page has not is a mistake, never an empty place.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
        .add_template("page.html", include_str!("page.html"))
        .expect("the template is well-formed");
    let template = environment.get_template("page.html").expect("it was added just now");
    template.render(Serde(&page)).expect("the template names what the page has")
}

/// Shown of every run.
const MEASURES: [(Metric, Split); 4] = [
    (Metric::Loss, Split::Train),
    (Metric::Loss, Split::Valid),
    (Metric::Loss, Split::Test),
    (Metric::Error, Split::Test),
];

fn picture((name, svg): &(String, String)) -> Picture {
    Picture { name: name.clone(), svg: Value::from_safe_string(svg.clone()) }
}

fn verdicts(document: &Document) -> Vec<Said> {
    let headings = Headings::of(document.differences.iter().map(|d| d.dropout));
    let said = |d: &DifferenceDocument| Said {
        verdict: d.found.verdict.to_string(),
        sentence: headings.head(d.dropout, &d.found.sentence),
        details: d.found.details.clone(),
    };
    document.differences.iter().map(said).collect()
}

fn results(document: &Document) -> Results {
    let (header, rows) = table::cells(document);
    Results { header, rows }
}

fn selection(snapshot: &ComparisonSnapshot) -> String {
    let (metric, split) = snapshot.selection.measure();
    let words = match split {
        Split::Train => "training",
        Split::Valid => "validation",
        Split::Test => "test",
    };
    let epoch = match snapshot.reported {
        Reported::LastEpoch => "at the last epoch",
        Reported::BestEpoch => "at its best epoch",
    };
    format!("{words} {metric} {epoch}")
}

/// The grid; empty where there is nothing to choose.
fn rates(snapshot: &ComparisonSnapshot) -> Vec<String> {
    let rates = snapshot.rates_tried();
    match rates.len() {
        0 | 1 => Vec::new(),
        _ => rates.iter().map(|rate| format!("{rate:e}")).collect(),
    }
}

fn choices(snapshot: &ComparisonSnapshot) -> Vec<Choices> {
    let grid = snapshot.rates_tried();
    let tried = groups(snapshot);
    let tried: Vec<_> =
        tried.iter().filter(|group| group.planned && group.stage.word() != Some("final")).collect();
    let row = |best: &crate::comparison::Group<'_>| {
        let of = |rate: f64| {
            tried.iter().find(|group| {
                (group.activation, group.dropout, group.learning_rate)
                    == (best.activation, best.dropout, rate)
            })
        };
        let cell = |&rate: &f64| Cell {
            score: match of(rate).and_then(|group| group.score(snapshot)) {
                Some(score) if score.is_finite() => format!("{score:.4}"),
                Some(_) => "diverged".to_owned(),
                None => "–".to_owned(),
            },
            chosen: rate == best.learning_rate,
        };
        Choices {
            label: label(best.activation),
            dropout: best.dropout.to_string(),
            cells: grid.iter().map(cell).collect(),
            edge: edge(best.learning_rate, &grid),
        }
    };
    best_groups(snapshot).iter().map(row).collect()
}

/// The end of the grid that a rate stands at.
fn edge(rate: f64, grid: &[f64]) -> Option<&'static str> {
    match grid {
        [_] => None,
        [first, ..] if *first == rate => Some("smallest"),
        [.., last] if *last == rate => Some("largest"),
        _ => None,
    }
}

fn summary(snapshot: &ComparisonSnapshot) -> String {
    let over = snapshot.runs.iter().filter(|run| run.status.is_complete()).count();
    let spent = snapshot.runs.iter().map(|run| run.seconds).sum();
    format!("{over} of {} runs complete, {} of training", snapshot.runs.len(), seconds(spent))
}

fn runs(snapshot: &ComparisonSnapshot) -> Vec<Run> {
    let scale = Scale::of(snapshot);
    let activations = snapshot.activations();
    snapshot.runs.iter().map(|run| row(snapshot, run, &scale, &activations)).collect()
}

fn row(
    snapshot: &ComparisonSnapshot,
    run: &RunSnapshot,
    scale: &Scale,
    activations: &[&str],
) -> Run {
    let key = &run.key;
    let position = activations.iter().position(|name| *name == key.activation);
    let rgb = colour(position.expect("the snapshot lists every run's activation"));
    let reported = reported_epoch(snapshot, run);
    let measure = |(metric, split): (Metric, Split)| match (
        reported.and_then(|epoch| epoch.get(metric, split)),
        metric,
    ) {
        (None, _) => "–".to_owned(),
        (Some(loss), Metric::Loss) => format!("{loss:.4}"),
        (Some(error), Metric::Error) => format!("{:.2} %", error * 100.0),
    };
    Run {
        colour: format!("rgb({}, {}, {})", rgb[0], rgb[1], rgb[2]),
        label: label(&key.activation),
        dropout: key.dropout.to_string(),
        rate: format!("{:e}", key.learning_rate),
        seed: key.seed,
        stage: key.stage.word().unwrap_or_default(),
        status: run.status.to_string(),
        epochs: format!("{}/{}", run.epochs.len(), run.epochs_planned),
        reported: reported.map_or_else(|| "–".to_owned(), |epoch| epoch.epoch.to_string()),
        time: seconds(run.seconds),
        measures: MEASURES.map(measure).to_vec(),
        curve: Value::from_safe_string(scale.svg(run, rgb)),
        link: format!("runs/{}/", run.folder),
        folder: run.folder.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{example, without_epochs};

    fn page(snapshot: &ComparisonSnapshot) -> String {
        let recipe = Recipe::named("digits").unwrap();
        let pictures = [("figure-9".to_owned(), "<svg>drawn</svg>".to_owned())];
        let page = html(snapshot, &Document::of(snapshot), &pictures, &recipe);
        // A slash within text is escaped too.
        page.replace("&#x2f;", "/")
    }

    #[test]
    fn page_has_every_part() {
        let page = page(&example());
        for expected in [
            "SYNTHETIC DATA",
            "<p>Dropout 0.5: ReLU against GELU",
            "<svg>drawn</svg>",
            "Chosen by validation loss at the last epoch",
            "▲ at the largest rate tried",
            "diverged in epoch 5",
            "href=\"runs/gelu-lr0.001-dropout0-seed1/\"",
            "gelu compare digits",
        ] {
            assert!(page.contains(expected), "{expected:?} is missing in:\n{page}");
        }
        assert_eq!(page.matches("<polyline").count(), 2 * example().runs.len());
    }

    #[test]
    fn a_runs_measures_are_those_of_the_epoch_that_is_reported() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.epochs[2].valid_loss = Some(0.001);
            run.epochs[2].test_error = Some(0.4321);
        }
        let first = |snapshot: &ComparisonSnapshot| runs(snapshot).swap_remove(0);
        let last = snapshot.runs[0].epochs[11].test_error.unwrap();
        let shown = first(&snapshot);
        assert_eq!(shown.measures[3], format!("{:.2} %", last * 100.0));
        assert_eq!(shown.reported, "12");
        let last = page(&snapshot);
        assert!(last.contains("Measures are those of the last epoch."), "{last}");
        assert!(!last.contains("<th>reported</th>"), "{last}");
        snapshot.reported = Reported::BestEpoch;
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
        snapshot.title.clone_from(&hostile);
        snapshot.data.clone_from(&hostile);
        snapshot.device.clone_from(&hostile);
        for run in &mut snapshot.runs {
            run.status = crate::runs::RunStatus::Failed { reason: hostile.clone() };
            run.folder = format!("{hostile}{}", run.folder);
            run.key.activation.clone_from(&hostile);
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
