//! The table at the end of a comparison.

use super::difference_document::DifferenceDocument;
use super::document::{ArmDocument, Document, Edge, MeasuresDocument, SpreadDocument};
use crate::comparison::Headings;
use crate::measure::{Measure, Split};
use crate::setting::{Axis, Role, Setting};
use comfy_table::{CellAlignment, Table, presets};
use textwrap::Options;

/// Columns that every terminal has.
const TERMINAL: usize = 80;

/// What of the measures a table shows.
fn columns(document: &Document) -> Vec<&Measure> {
    // How well training examples are classified says little that their loss does not.
    let wanted = |m: &&Measure| {
        let fraction = m.unit.factor != 1.0;
        m.name == document.criterion.primary || !(m.split == Some(Split::Train) && fraction)
    };
    let has = |m: &&Measure| {
        let mut arms = document.arms.list.iter();
        arms.any(|arm| arm.reported(document.reported).get(&m.column).is_some())
    };
    let mut shown: Vec<&Measure> = document.measures.iter().filter(wanted).filter(has).collect();
    // Part by part of the data; what is on none of them comes last.
    shown.sort_by_key(|m| match m.split {
        Some(Split::Train) => 0,
        Some(Split::Valid) => 1,
        Some(Split::Test) => 2,
        None => 3,
    });
    shown
}

/// The order in which columns leave a terminal that is too narrow for all; what decides never does, nor
/// how well test examples are classified.
fn leaving<'a>(document: &Document, shown: &[&'a Measure]) -> Vec<&'a str> {
    let decides = &document.criterion.primary;
    let fraction = |m: &&Measure| m.unit.factor != 1.0;
    let stays = |m: &&Measure| m.name == *decides || fraction(m) && m.split == Some(Split::Test);
    let rank = |m: &&Measure| match (m.split, fraction(m)) {
        (Some(Split::Train), _) => 0,
        (Some(Split::Valid), true) => 1,
        (Some(Split::Valid), false) => 2,
        (None, _) => 3,
        (Some(Split::Test), false) => 4,
        (Some(Split::Test), true) => 5,
    };
    let mut leaving: Vec<&Measure> = shown.iter().copied().filter(|m| !stays(m)).collect();
    leaving.sort_by_key(rank);
    leaving.into_iter().map(|m| m.column.as_str()).collect()
}

/// For a terminal.
pub fn text(document: &Document) -> String {
    let shown = columns(document);
    let leaving = leaving(document, &shown);
    let all = (0..=leaving.len()).map(|left| {
        let stays = |m: &&Measure| !leaving[..left].contains(&m.column.as_str());
        let stay: Vec<&Measure> = shown.iter().copied().filter(stays).collect();
        let mut table = table(document, &stay, Spread::Below);
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
    heading.extend(super::cuts(&document.cut_down).map(|said| wrapped(&said)));
    let paragraphs = paragraphs(document).join("\n\n");
    format!("{}\n{table}\n{paragraphs}\n", heading.join("\n"))
}

/// For a Markdown page.
pub fn markdown(document: &Document) -> String {
    let mut table = table(document, &columns(document), Spread::Beside);
    table.load_preset(presets::ASCII_MARKDOWN);
    let list =
        |lines: Vec<String>| -> String { lines.iter().map(|line| format!("- {line}\n")).collect() };
    let parts = [
        list(verdicts(document)),
        list(document.layers.clone()),
        list(notes(document)),
        list(details(document)),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut heading = vec![heading(document)];
    heading.extend(super::cuts(&document.cut_down));
    let page = format!("{}\n\n{table}\n\n{}", heading.join("\n\n"), parts.join("\n"));
    // Names and reasons are anybody's text.
    page.replace('&', "&amp;").replace('<', "&lt;")
}

/// The notes, and a sentence for each comparison, as wide as a terminal.
fn paragraphs(document: &Document) -> Vec<String> {
    let lines = |lines: Vec<String>| -> String {
        lines.iter().map(|line| wrapped(line)).collect::<Vec<_>>().join("\n")
    };
    let layers = document.layers.clone();
    let parts = [notes(document), layers, verdicts(document), details(document)].map(lines);
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// As wide as a terminal.
fn wrapped(line: &str) -> String {
    textwrap::fill(line, Options::new(TERMINAL).subsequent_indent("  "))
}

/// One sentence a comparison.
pub fn verdicts(document: &Document) -> Vec<String> {
    with_context(document, |difference| Some(difference.found.sentence.clone()))
}

/// What is said of each comparison, headed by what it holds at where there are several.
fn with_context(
    document: &Document,
    said: impl Fn(&DifferenceDocument) -> Option<String>,
) -> Vec<String> {
    let headings = Headings::of(&document.axes, document.differences.iter().map(|d| &d.context));
    let of = |d: &DifferenceDocument| Some(headings.head(&d.context, &said(d)?));
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
    let table = table(document, &columns(document), Spread::Below);
    let cells = |row: &comfy_table::Row| row.cell_iter().map(|cell| cell.content()).collect();
    let header = table.header().map(cells).unwrap_or_default();
    (header, table.row_iter().map(cells).collect())
}

fn heading(document: &Document) -> String {
    let Document { title, data, device, .. } = document;
    let mark = if data.synthetic { " (SYNTHETIC DATA)" } else { "" };
    let mut parts = vec![title.clone()];
    if !data.source.is_empty() {
        parts.push(format!("data: {}{mark}", data.source));
    }
    if !device.is_empty() {
        parts.push(format!("device: {device}"));
    }
    parts.join(" · ")
}

/// Where the spread of a measure stands.
#[derive(Clone, Copy)]
enum Spread {
    Below,
    Beside,
}

fn table(document: &Document, shown: &[&Measure], spread: Spread) -> Table {
    let mut table = Table::new();
    let axes = |role: Role| role.of(&document.axes).map(|axis| axis.name.clone());
    let roles = [Role::Compared, Role::Each, Role::Tuned];
    let mut header: Vec<String> = roles.into_iter().flat_map(axes).collect();
    header.extend(shown.iter().map(|measure| measure.heading.clone()));
    header.push("verdict".to_owned());
    table.set_header(header);
    for entry in &document.arms.list {
        let mut row = labels(document, entry);
        let measures = entry.reported(document.reported);
        row.extend(shown.iter().map(|measure| value(measure, measures, spread)));
        row.push(verdict(document, entry));
        table.add_row(row);
    }
    align_numbers(&mut table);
    table
}

/// What a row is of: what is compared, what that holds at, and what was tuned to what.
fn labels(document: &Document, entry: &ArmDocument) -> Vec<String> {
    let of = |role: Role, setting: &Setting, prefix: &str| -> Vec<String> {
        let label = |axis: &Axis| {
            let value = setting.get(&format!("{prefix}{}", axis.column()));
            value.map_or_else(|| "–".to_owned(), |value| axis.label(value))
        };
        role.of(&document.axes).map(label).collect()
    };
    [
        of(Role::Compared, &entry.arm, ""),
        of(Role::Each, &entry.context, ""),
        of(Role::Tuned, &entry.best, "best_"),
    ]
    .concat()
}

/// What the comparison with the baseline says of a row.
fn verdict(document: &Document, entry: &ArmDocument) -> String {
    let same = |d: &&DifferenceDocument| (&d.arm, &d.context) == (&entry.arm, &entry.context);
    match document.differences.iter().find(same) {
        Some(difference) => difference.found.verdict.to_string(),
        None if entry.is_baseline => "baseline".to_owned(),
        None => "–".to_owned(),
    }
}

/// The median and how many complete runs it is of, then the lowest and the highest.
fn value(measure: &Measure, measures: &MeasuresDocument, place: Spread) -> String {
    let Some(spread) = measures.get(&measure.column) else { return "–".to_owned() };
    let SpreadDocument { runs, median, lowest, highest, .. } = spread;
    let number =
        |value: Option<f64>| value.map_or_else(|| "∞".to_owned(), |v| measure.unit.number(v));
    let median = format!("{}{} ({runs})", number(median), measure.unit.sign);
    match runs {
        1 => median,
        _ => {
            let (low, high) = (number(lowest), number(highest));
            match place {
                Spread::Below => format!("{median}\n{low}–{high}"),
                Spread::Beside => format!("{median} [{low}–{high}]"),
            }
        }
    }
}

/// What is to be said below the table.
pub(super) fn notes(document: &Document) -> Vec<String> {
    let epoch = document.reported.words(&document.selection);
    let complete = document.arms.list.iter().map(|a| a.finished + a.diverged);
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
    notes.extend(no_new_examples(document));
    notes.extend(beside(document));
    let failed = document.runs.iter().filter(|run| run.status == "failed");
    let failed: Vec<String> = failed
        .map(|run| format!("{} ({})", run.name, run.reason.as_deref().unwrap_or("no reason")))
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
            "No comparison was planned here, so none is judged; the command `compare` plans one."
                .into(),
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
        mixed.map(|run| format!("{} ({})", run.name, run.arithmetics.join(", "))).collect();
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

/// How what is tuned was chosen, and whether the choice lies at the end of what was tried.
fn choices(document: &Document) -> Vec<String> {
    let tuned: Vec<&Axis> = Role::Tuned.of(&document.axes).collect();
    let several = |axis: &&&Axis| {
        let planned = document.runs.iter().filter(|run| run.planned);
        let mut values = planned.filter_map(|run| run.setting.get(axis.column()));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let chosen: Vec<&&Axis> = tuned.iter().filter(several).collect();
    let mut notes: Vec<String> = chosen
        .iter()
        .map(|axis| {
            format!("{} are chosen by {}.", capitalised(&axis.plural()), document.selection)
        })
        .collect();
    let [axis] = chosen.as_slice() else { return notes };
    let end = |entry: &ArmDocument| {
        let end = match entry.edge? {
            Edge::Smallest => "smallest",
            Edge::Largest => "largest",
        };
        let value = entry.best.get(&format!("best_{}", axis.column()))?;
        let context = entry.context.iter().map(|(name, value)| format!("{name} {value}"));
        let context = match context.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => none,
            some => format!(" ({some})"),
        };
        Some(format!("{} {}{context} is the {end}", entry.label, axis.label(value)))
    };
    let ends: Vec<String> = document.arms.list.iter().filter_map(end).collect();
    if !ends.is_empty() {
        notes.push(format!(
            "At the end of the {} tried, beyond which may be a better: {}.",
            axis.short_plural(),
            ends.join(", ")
        ));
    }
    notes
}

pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
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

/// Where an interval over new test examples is due and cannot be told.
fn no_new_examples(document: &Document) -> Option<String> {
    let mut reasons: Vec<&String> = Vec::new();
    let due = document.differences.iter().filter_map(|d| d.found.no_new_examples.as_ref());
    due.for_each(|reason| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    });
    let reasons: Vec<String> = reasons.into_iter().cloned().collect();
    (!reasons.is_empty()).then(|| {
        format!("What holds for new test examples cannot be told: {}.", reasons.join("; "))
    })
}

/// What the pairs can show.
fn details(document: &Document) -> Vec<String> {
    with_context(document, |difference| {
        difference.found.details.as_ref().map(|text| format!("{text}."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Measure, NoiseMetrics};
    use crate::report::snapshot_example::{example, without_epochs};
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
        snapshot.criterion.primary = "noisy-test-error".to_owned();
        snapshot.criterion.amplitudes = vec![1.0];
        snapshot.measures.push(Measure {
            heading: "noisy error".to_owned(),
            column: "noisy_test_error".to_owned(),
            name: "noisy-test-error".to_owned(),
            ..snapshot.measure("test_error")
        });
        for run in &mut snapshot.runs {
            let test_error = Some(0.46 + 1e-4 * run.key.seed as f64);
            run.noise = vec![NoiseMetrics { amplitude: 1.0, test_loss: 2.0, test_error }];
        }
        let document = Document::of(&snapshot);
        let text = text(&document);
        assert!(text.contains("noisy error") && text.contains("46.02 % (3)"), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
        assert!(document.arms.list[0].best_epoch.get("noisy_test_error").is_none(), "not reported");
    }

    /// The example, with names that leave a terminal no room for all columns.
    fn with_long_names() -> ComparisonSnapshot {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            let long = format!("{:x<30}", run.key.setting.text("activation"));
            run.key.setting.set("activation", long);
        }
        let long = format!("{:x<30}", "gelu");
        snapshot.criterion.baseline.set("activation", long);
        snapshot
    }

    #[test]
    fn what_decides_is_shown_however_narrow_the_terminal() {
        let mut snapshot = with_long_names();
        assert!(!text(&Document::of(&snapshot)).contains("train loss"));
        snapshot.criterion.primary = "train-loss".to_owned();
        let text = text(&Document::of(&snapshot));
        assert!(text.contains("train loss") && text.contains("test error"), "{text}");
        assert!(!text.contains("test loss"), "{text}");
    }

    #[test]
    fn enormous_losses_are_short_numbers() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            for epoch in &mut run.epochs {
                epoch.set("test_loss", 1.9e29);
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
        let due = "What holds for new test examples cannot be told: runs have not kept";
        assert_eq!(unwrapped.matches(due).count(), 1, "{text}");
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
