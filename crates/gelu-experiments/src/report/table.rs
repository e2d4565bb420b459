//! The table at the end of a comparison.

use super::difference_document::DifferenceDocument;
use super::document::{ActivationDocument, Document, Edge, MeasuresDocument, SpreadDocument};
use crate::comparison::{Headings, label};
use crate::measure::Metric;
use crate::recipe::cuts;
use comfy_table::{CellAlignment, Table, presets};
use textwrap::Options;

/// Columns that every terminal has.
const TERMINAL: usize = 80;

/// A measure: its split, where it stands, how it is shown.
struct Column {
    split: &'static str,
    of: fn(&MeasuresDocument) -> Option<SpreadDocument>,
    percent: bool,
    /// When it leaves a terminal that is too narrow for all: 1 is first, 0 is never.
    leaves: u8,
}

const COLUMNS: [Column; 6] = [
    Column { split: "train", of: |m| m.train_loss, percent: false, leaves: 1 },
    Column { split: "valid", of: |m| m.valid_loss, percent: false, leaves: 3 },
    Column { split: "valid", of: |m| m.valid_error, percent: true, leaves: 2 },
    Column { split: "test", of: |m| m.test_loss, percent: false, leaves: 4 },
    Column { split: "test", of: |m| m.test_error, percent: true, leaves: 0 },
    Column { split: "noisy", of: |m| m.noisy_test_error, percent: true, leaves: 0 },
];

impl Column {
    /// Whether it has left once so many columns have; what decides never does.
    fn has_left(&self, left: u8, document: &Document) -> bool {
        let (metric, split) = document.criterion.primary.by_epoch();
        let decides = self.percent == (metric == Metric::Error) && self.split == split.to_string();
        !decides && (1..=left).contains(&self.leaves)
    }

    /// `test loss`, `test MSE`, `test error`.
    fn heading(&self, document: &Document) -> String {
        let measure = if self.percent { "error" } else { document.loss.heading() };
        format!("{} {measure}", self.split)
    }
}

/// For a terminal.
pub fn text(document: &Document) -> String {
    let all = (0..=4).map(|left| {
        let mut table = table(document, |column| !column.has_left(left, document), Spread::Below);
        table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
        for column in table.column_iter_mut() {
            column.set_padding((0, 1));
        }
        table.to_string()
    });
    // Where none fits, the narrowest is left.
    let fits = |table: &String| table.lines().all(|line| line.chars().count() <= TERMINAL);
    let mut narrowest = String::new();
    let fitting = all.inspect(|table| narrowest.clone_from(table)).find(fits);
    let table = fitting.unwrap_or(narrowest);
    let mut heading = vec![heading(document)];
    heading.extend(cuts(&document.cut_down).map(|said| wrapped(&said)));
    let paragraphs = paragraphs(document).join("\n\n");
    format!("{}\n{table}\n{paragraphs}\n", heading.join("\n"))
}

/// For a Markdown page.
pub fn markdown(document: &Document) -> String {
    let mut table = table(document, |_| true, Spread::Beside);
    table.load_preset(presets::ASCII_MARKDOWN);
    let list =
        |lines: Vec<String>| -> String { lines.iter().map(|line| format!("- {line}\n")).collect() };
    let parts = [list(verdicts(document)), list(notes(document)), list(details(document))];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut heading = vec![heading(document)];
    heading.extend(cuts(&document.cut_down));
    let page = format!("{}\n\n{table}\n\n{}", heading.join("\n\n"), parts.join("\n"));
    // Names and reasons are anybody's text.
    page.replace('&', "&amp;").replace('<', "&lt;")
}

/// The notes, and a sentence for each comparison, as wide as a terminal.
fn paragraphs(document: &Document) -> Vec<String> {
    let lines = |lines: Vec<String>| -> String {
        lines.iter().map(|line| wrapped(line)).collect::<Vec<_>>().join("\n")
    };
    let parts = [notes(document), verdicts(document), details(document)].map(lines);
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// As wide as a terminal.
fn wrapped(line: &str) -> String {
    textwrap::fill(line, Options::new(TERMINAL).subsequent_indent("  "))
}

/// One sentence a comparison.
pub fn verdicts(document: &Document) -> Vec<String> {
    with_dropout(document, |difference| Some(difference.found.sentence.clone()))
}

/// What is said of each comparison, headed by its dropout rate where there are several.
fn with_dropout(
    document: &Document,
    said: impl Fn(&DifferenceDocument) -> Option<String>,
) -> Vec<String> {
    let headings = Headings::of(document.differences.iter().map(|d| d.dropout));
    let of = |d: &DifferenceDocument| Some(headings.head(d.dropout, &said(d)?));
    document.differences.iter().filter_map(of).collect()
}

/// A table for a terminal whose cells, but for the first column's, are numbers.
pub fn number_table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(header.to_vec()).add_rows(rows);
    align_numbers(&mut table);
    table.to_string()
}

fn align_numbers(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// The header and the rows, for another kind of page; a median and its spread are two lines of a cell.
pub(super) fn cells(document: &Document) -> (Vec<String>, Vec<Vec<String>>) {
    let table = table(document, |_| true, Spread::Below);
    let cells = |row: &comfy_table::Row| row.cell_iter().map(|cell| cell.content()).collect();
    let header = table.header().map(cells).unwrap_or_default();
    (header, table.row_iter().map(cells).collect())
}

fn heading(document: &Document) -> String {
    let Document { title, data, device, .. } = document;
    let mark = if data.synthetic { " (SYNTHETIC DATA)" } else { "" };
    format!("{title} · data: {}{mark} · device: {device}", data.source)
}

/// Where the spread of a measure stands.
#[derive(Clone, Copy)]
enum Spread {
    Below,
    Beside,
}

fn table(document: &Document, wanted: impl Fn(&&Column) -> bool, spread: Spread) -> Table {
    let shown: Vec<&Column> = COLUMNS
        .iter()
        .filter(wanted)
        .filter(|c| {
            document.activations.iter().any(|a| (c.of)(a.reported(document.reported)).is_some())
        })
        .collect();
    let mut table = Table::new();
    let mut header = ["activation", "dropout", "lr"].map(str::to_owned).to_vec();
    header.extend(shown.iter().map(|column| column.heading(document)));
    header.push("verdict".to_owned());
    table.set_header(header);
    for entry in &document.activations {
        let mut row = vec![
            label(&entry.activation),
            entry.dropout.to_string(),
            format!("{:e}", entry.best_learning_rate),
        ];
        let measures = entry.reported(document.reported);
        row.extend(shown.iter().map(|column| value(column, measures, spread)));
        row.push(verdict(document, entry));
        table.add_row(row);
    }
    align_numbers(&mut table);
    table
}

/// What the comparison with the baseline says of a row.
fn verdict(document: &Document, entry: &ActivationDocument) -> String {
    let same = |d: &&DifferenceDocument| {
        (d.activation.as_str(), d.dropout) == (entry.activation.as_str(), entry.dropout)
    };
    match document.differences.iter().find(same) {
        Some(difference) => difference.found.verdict.to_string(),
        None if entry.activation == document.criterion.baseline => "baseline".to_owned(),
        None => "–".to_owned(),
    }
}

/// The median and how many complete runs it is of, then the lowest and the highest.
fn value(column: &Column, measures: &MeasuresDocument, place: Spread) -> String {
    let Some(spread) = (column.of)(measures) else { return "–".to_owned() };
    let number = |value: Option<f64>| match (value, column.percent) {
        (None, _) => "∞".to_owned(),
        (Some(value), true) => format!("{:.2}", value * 100.0),
        // What has run away, but not as far as infinity.
        (Some(value), false) if value >= 1e4 => format!("{value:.2e}"),
        (Some(value), false) => format!("{value:.4}"),
    };
    let unit = if column.percent { " %" } else { "" };
    let median = format!("{}{unit} ({})", number(spread.median), spread.runs);
    match spread.runs {
        1 => median,
        _ => {
            let (low, high) = (number(spread.lowest), number(spread.highest));
            match place {
                Spread::Below => format!("{median}\n{low}–{high}"),
                Spread::Beside => format!("{median} [{low}–{high}]"),
            }
        }
    }
}

/// What is to be said below the table.
pub(super) fn notes(document: &Document) -> Vec<String> {
    let epoch = document.reported.words(document.selection);
    let complete = document.activations.iter().map(|a| a.finished + a.diverged);
    let most = complete.max().unwrap_or(0);
    let mut notes = vec![match most {
        0 => "No run is complete yet.".to_owned(),
        1 => format!("After the {epoch}; (n) is the number of runs."),
        _ => format!("After the {epoch}: median (of n complete runs), lowest–highest."),
    }];
    if document.runs.iter().any(|run| run.status == "diverged") {
        notes.push("∞: the run diverged; it counts as the worst.".to_owned());
    }
    notes.extend(choices(document));
    notes.extend(intervals(document));
    notes.extend(beside(document));
    let failed = document.runs.iter().filter(|run| run.status == "failed");
    let failed: Vec<String> = failed
        .map(|run| format!("{} ({})", run.key(), run.reason.as_deref().unwrap_or("no reason")))
        .collect();
    let all = document.runs.len();
    if !failed.is_empty() {
        notes.push(format!("{} of {all} runs failed: {}.", failed.len(), failed.join("; ")));
    }
    let unfinished = document
        .runs
        .iter()
        .filter(|run| matches!(run.status.as_str(), "waiting" | "running" | "interrupted"))
        .count();
    if unfinished > 0 {
        notes.push(format!("{unfinished} of {all} runs are unfinished; the same command goes on."));
    }
    notes.extend(arithmetics(document));
    notes
}

/// Runs that were not planned.
fn beside(document: &Document) -> Option<String> {
    let count = document.runs.iter().filter(|run| !run.planned).count();
    match count {
        0 => None,
        all if all == document.runs.len() => Some(
            "No comparison was planned here, so none is judged; `gelu compare` plans one.".into(),
        ),
        _ => Some(format!(
            "{count} of {} runs were trained beside the plan; they are shown, and change no verdict.",
            document.runs.len()
        )),
    }
}

/// Which runs were trained here and there, in arithmetics whose last bits differ.
fn arithmetics(document: &Document) -> Option<String> {
    let mixed = document.runs.iter().filter(|run| run.arithmetics.len() > 1);
    let mixed: Vec<String> =
        mixed.map(|run| format!("{} ({})", run.key(), run.arithmetics.join(", "))).collect();
    (!mixed.is_empty()).then(|| {
        format!(
            "{} of {} runs went on where the last bits are computed otherwise, and cannot be repeated \
             bit for bit: {}.",
            mixed.len(),
            document.runs.len(),
            mixed.join("; ")
        )
    })
}

/// How learning rates were chosen, and whether the choice lies at the end of what was tried.
fn choices(document: &Document) -> Vec<String> {
    let at_end = |entry: &&ActivationDocument| entry.edge.is_some();
    let ends: Vec<String> = document
        .activations
        .iter()
        .filter(at_end)
        .map(|entry| {
            let end = if entry.edge == Some(Edge::Smallest) { "smallest" } else { "largest" };
            let (name, rate) = (label(&entry.activation), entry.best_learning_rate);
            format!("{name} {rate:e} (dropout {}) is the {end}", entry.dropout)
        })
        .collect();
    let mut planned = document.runs.iter().filter(|run| run.planned).map(|run| run.learning_rate);
    let first = planned.next();
    if planned.all(|rate| Some(rate) == first) {
        return Vec::new();
    }
    let mut notes = vec![format!("Learning rates are chosen by {}.", document.selection)];
    if !ends.is_empty() {
        let list = ends.join(", ");
        notes.push(format!("At the end of the rates tried, beyond which may be a better: {list}."));
    }
    notes
}

/// What the intervals hold for, and how often verdicts err.
fn intervals(document: &Document) -> Option<String> {
    let shown = document.differences.iter().any(|difference| difference.found.interval.is_some());
    let comparisons = match document.criterion.comparisons {
        1 => "the comparison".to_owned(),
        several => format!("all {several} comparisons"),
    };
    let looks = match document.looks.len() {
        1 => String::new(),
        several => format!(" and all {several} looks"),
    };
    shown.then(|| {
        format!(
            "Intervals are 95 % intervals over {comparisons}{looks}; p counts them, too, and is held \
             against 0.05."
        )
    })
}

/// What the pairs can show.
fn details(document: &Document) -> Vec<String> {
    with_dropout(document, |difference| {
        difference.found.details.as_ref().map(|text| format!("{text}."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{NoiseMetrics, Primary};
    use crate::report::example::{example, without_epochs};
    use crate::runs::{ComparisonSnapshot, RunStatus};

    #[test]
    fn rows_show_median_and_spread_of_what_was_measured() {
        let text = text(&Document::of(&example()));
        assert!(text.contains("SYNTHETIC DATA"), "{text}");
        assert!(text.contains("median (of n complete runs), lowest–highest"), "{text}");
        assert!(text.contains(" % (3) "), "{text}");
        let gelu = text.lines().find(|line| line.contains("GELU")).unwrap();
        assert!(gelu.contains("1e-3") && gelu.contains(" %"), "{gelu}");
        assert_eq!(text.lines().filter(|line| line.starts_with("ReLU  ")).count(), 2);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
    }

    #[test]
    fn errors_under_noise_have_a_column_where_they_decide() {
        let mut snapshot = example();
        snapshot.criterion.primary = Primary::NoisyTestError;
        snapshot.criterion.amplitudes = vec![1.0];
        for run in &mut snapshot.runs {
            let test_error = Some(0.46 + 1e-4 * run.key.seed as f64);
            run.noise = vec![NoiseMetrics { amplitude: 1.0, test_loss: 2.0, test_error }];
        }
        let document = Document::of(&snapshot);
        let text = text(&document);
        assert!(text.contains("noisy error") && text.contains("46.02 % (3)"), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
        assert!(document.activations[0].best_epoch.noisy_test_error.is_none(), "not reported");
    }

    /// The example, with names that leave a terminal no room for all columns.
    fn with_long_names() -> ComparisonSnapshot {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.key.activation = format!("{:x<30}", run.key.activation);
        }
        snapshot.criterion.baseline = format!("{:x<30}", snapshot.criterion.baseline);
        snapshot
    }

    #[test]
    fn what_decides_is_shown_however_narrow_the_terminal() {
        let mut snapshot = with_long_names();
        assert!(!text(&Document::of(&snapshot)).contains("train loss"));
        snapshot.criterion.primary = Primary::TrainLoss;
        let text = text(&Document::of(&snapshot));
        assert!(text.contains("train loss") && text.contains("test error"), "{text}");
        assert!(!text.contains("test loss"), "{text}");
    }

    #[test]
    fn enormous_losses_are_short_numbers() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            for epoch in &mut run.epochs {
                epoch.test_loss = Some(1.9e29);
            }
        }
        let text = markdown(&Document::of(&snapshot));
        assert!(text.contains("1.90e29 (3)") && !text.contains("0000000"), "{text}");
    }

    #[test]
    fn columns_leave_a_terminal_that_names_leave_no_room_in() {
        let snapshot = with_long_names();
        let text = text(&Document::of(&snapshot));
        assert!(text.contains("test error") && !text.contains("valid loss"), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
    }

    #[test]
    fn every_comparison_has_a_verdict_and_a_sentence() {
        let text = text(&Document::of(&example()));
        assert_eq!(text.matches("baseline").count(), 2, "{text}");
        assert_eq!(text.matches("Dropout 0.5: ReLU").count(), 2, "{text}");
        assert!(text.contains("takes 8 seeds or more"), "{text}");
        assert!(text.contains("(dropout 0.5) is the largest"), "{text}");
        let unwrapped = text.replace("\n  ", " ");
        assert!(unwrapped.contains("95 % intervals over all 2 comparisons; p counts"), "{text}");
    }

    #[test]
    fn diverged_runs_are_shown_as_the_worst_and_counted() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.status = RunStatus::Diverged { epoch: 2 };
            run.epochs.truncate(1);
        }
        let text = text(&Document::of(&snapshot));
        assert!(text.contains("∞ % (3)") && text.contains("counts as the worst"), "{text}");
        assert!(!text.contains("No run"), "{text}");
        assert!(
            text.replace("\n  ", " ").contains("3 of 3 runs of ReLU and 3 of 3 runs of GELU"),
            "{text}"
        );
    }

    #[test]
    fn what_was_cut_stands_below_the_heading() {
        let mut snapshot = example();
        let whole = Document::of(&snapshot);
        assert!(!text(&whole).contains("Cut down") && !markdown(&whole).contains("Cut down"));
        snapshot.cut_down =
            ["2 epochs instead of 20", "600 training examples alone"].map(str::to_owned).to_vec();
        let document = Document::of(&snapshot);
        let said = "Cut down: 2 epochs instead of 20; 600 training examples alone.";
        assert_eq!(text(&document).lines().nth(1), Some(said));
        assert_eq!(markdown(&document).lines().nth(2), Some(said));
        assert!(document.to_json().contains("\"600 training examples alone\""));
        snapshot.cut_down = vec!["one learning rate instead of three".to_owned(); 4];
        let widest = text(&Document::of(&snapshot)).lines().map(|l| l.chars().count()).max();
        assert!(widest <= Some(80));
    }

    #[test]
    fn failed_runs_are_named() {
        let mut snapshot = example();
        snapshot.runs[0].status = RunStatus::Failed { reason: "the disk is full".into() };
        let text = text(&Document::of(&snapshot)).replace("\n  ", " ");
        assert!(text.contains("gelu lr 0.001 dropout 0 seed 1 (the disk is full)"), "{text}");
        assert!(text.contains(" % (2) "), "{text}");
    }

    #[test]
    fn runs_that_went_on_in_another_arithmetic_are_named() {
        let mut document = Document::of(&example());
        let note = |document: &Document| {
            notes(document).into_iter().find(|note| note.contains("bit for bit"))
        };
        document.runs[0].arithmetics = vec!["flex with avx512".into()];
        assert_eq!(note(&document), None);
        document.runs[0].arithmetics.insert(0, "flex with avx2".into());
        let note = note(&document).unwrap();
        assert!(note.starts_with("1 of 24 runs went on"), "{note}");
        assert!(note.contains("seed 1 (flex with avx2, flex with avx512)"), "{note}");
    }

    #[test]
    fn markdown_is_a_table() {
        let mut document = Document::of(&example());
        document.title = "<script> & co".into();
        let page = markdown(&document);
        assert!(page.contains("| activation |") && page.contains("|---"), "{page}");
        assert!(page.starts_with("&lt;script> &amp; co · data"), "{page}");
    }

    #[test]
    fn nothing_finished_is_said() {
        let text = text(&Document::of(&without_epochs()));
        assert!(text.contains("No run is complete yet"), "{text}");
        assert!(text.contains("12 of 12 runs are unfinished"), "{text}");
    }
}
