//! The table at the end of a comparison.

mod columns;
mod notes;
mod rows;
mod trivial;

pub(super) use notes::{capitalised, notes};
pub use rows::number_table;
pub use trivial::TrivialRow;

use super::captions::cuts;
use super::document::Document;
use crate::comparison::{Difference, Headings};
use crate::measure::Measure;
use columns::{columns, leaving};
use comfy_table::presets;
use rows::{Spread, table};
use textwrap::Options;

/// The assumed width of a terminal, in columns.
const TERMINAL: usize = 80;

/// Returns the table as text for a terminal.
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
    // If none fits, the narrowest is used.
    let fits = |table: &String| table.lines().all(|line| line.chars().count() <= TERMINAL);
    let mut narrowest = String::new();
    let fitting = all.inspect(|table| narrowest.clone_from(table)).find(fits);
    let table = fitting.unwrap_or(narrowest);
    let mut heading = vec![heading(document)];
    heading.extend(cuts(&document.cut_down).map(|said| wrapped(&said)));
    let paragraphs = paragraphs(document).join("\n\n");
    format!("{}\n{table}\n{paragraphs}\n", heading.join("\n"))
}

/// Returns the table as Markdown.
pub fn markdown(document: &Document) -> String {
    let mut table = table(document, &columns(document), Spread::Beside);
    table.load_preset(presets::ASCII_MARKDOWN);
    let list =
        |lines: Vec<String>| -> String { lines.iter().map(|line| format!("- {line}\n")).collect() };
    let parts = [
        list(verdicts(document)),
        list(document.sentences.clone()),
        list(notes(document)),
        list(details(document)),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut heading = vec![heading(document)];
    heading.extend(cuts(&document.cut_down));
    let page = format!("{}\n\n{table}\n\n{}", heading.join("\n\n"), parts.join("\n"));
    // Names and reasons may come from untrusted sources.
    page.replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns the header and the rows, for other formats. A median and its spread are two lines of a cell.
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

/// Returns the notes, and a sentence for each comparison, wrapped for a terminal.
fn paragraphs(document: &Document) -> Vec<String> {
    let lines = |lines: Vec<String>| -> String {
        lines.iter().map(|line| wrapped(line)).collect::<Vec<_>>().join("\n")
    };
    let further = document.sentences.clone();
    let parts = [notes(document), further, verdicts(document), details(document)].map(lines);
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// Wraps a line for a terminal.
fn wrapped(line: &str) -> String {
    textwrap::fill(line, Options::new(TERMINAL).subsequent_indent("  "))
}

/// Returns one sentence per comparison; over tasks, also one per task.
pub fn verdicts(document: &Document) -> Vec<String> {
    let sentences = with_context(document, |difference| Some(difference.finding.sentence.clone()));
    let over = document.differences.iter().map(|difference| difference.finding.over.iter());
    let tasks = over.map(|over| over.flat_map(|over| over.words.clone()));
    let with_tasks = sentences.into_iter().zip(tasks);
    with_tasks.flat_map(|(sentence, tasks)| std::iter::once(sentence).chain(tasks)).collect()
}

/// Returns what the pairs can show, for each comparison.
fn details(document: &Document) -> Vec<String> {
    with_context(document, |difference| {
        let finding = &difference.finding;
        finding
            .details
            .as_ref()
            .map(|said| format!("{} and {}: {said}", finding.arm, finding.baseline))
    })
}

/// Returns a sentence for each comparison, with its context as a heading if there are several.
fn with_context(document: &Document, said: impl Fn(&Difference) -> Option<String>) -> Vec<String> {
    let headings = Headings::of(&document.axes, document.differences.iter().map(|d| &d.context));
    let of = |d: &Difference| Some(headings.head(&d.context, &said(d)?));
    document.differences.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::Extras;
    use crate::runs::{RunStatus, Snapshot};
    use crate::setting::Setting;
    use crate::testing::{example, without_epochs};

    #[test]
    fn rows_show_median_and_spread_of_what_was_measured() {
        let text = text(&Document::of(&example()));
        assert!(text.contains("SYNTHETIC DATA"), "{text}");
        assert!(text.contains("the median (of n runs), and the lowest"), "{text}");
        assert!(text.contains(" % (3) "), "{text}");
        let gelu = text.lines().find(|line| line.contains("GELU")).unwrap();
        assert!(gelu.contains("1e-3") && gelu.contains(" %"), "{gelu}");
        assert_eq!(text.lines().filter(|line| line.starts_with("ReLU  ")).count(), 2);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
    }

    #[test]
    fn a_trivial_prediction_is_a_row_of_its_own() {
        let mut snapshot = example();
        let row = TrivialRow { label: "always 7".into(), at: Setting::default(), value: 0.9 };
        let rows = serde_json::to_value([row]).unwrap();
        snapshot.design.extra.insert(TrivialRow::KEY.to_owned(), rows);
        let document = Document::of(&snapshot);
        let text = text(&document);
        let line = text.lines().find(|line| line.starts_with("always 7")).unwrap();
        assert!(line.contains("90.00 %") && line.matches('–').count() >= 3, "{line}");
        assert!(markdown(&document).contains("| always 7 "), "{}", markdown(&document));
    }

    #[test]
    fn a_metric_of_whole_runs_has_a_column() {
        crate::extension::example::install();
        let mut snapshot = example();
        snapshot.criterion.primary = "noisy-test-error".to_owned();
        snapshot.design.measures.push(Measure {
            heading: "noisy error".to_owned(),
            column: "noisy_test_error".to_owned(),
            name: "noisy-test-error".to_owned(),
            of_run: true,
            ..snapshot.measure("test_error")
        });
        for run in &mut snapshot.runs {
            run.extras = Extras::default().with(0.46 + 1e-4 * run.key.seed as f64);
        }
        let document = Document::of(&snapshot);
        let text = text(&document);
        assert!(text.contains("noisy error") && text.contains("46.02 % (3)"), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
        assert!(document.arms[0].best_epoch.get("noisy_test_error").is_none(), "not reported");
    }

    /// Returns the example with names so long that not all columns fit.
    fn with_long_names() -> Snapshot {
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
        assert!(text.contains("takes 7 or more"), "{text}");
        assert!(text.contains("(dropout 0.5) is the largest"), "{text}");
        let unwrapped = text.replace("\n  ", " ");
        assert!(unwrapped.contains("are chosen by valid-loss among 2."), "{text}");
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
            text.replace("\n  ", " ").contains("ReLU diverged in 3 of 3 runs, and GELU in 3 of 3"),
            "{text}"
        );
    }

    #[test]
    fn what_was_cut_stands_below_the_heading() {
        let mut snapshot = example();
        let whole = Document::of(&snapshot);
        assert!(!text(&whole).contains("Cut down") && !markdown(&whole).contains("Cut down"));
        snapshot.design.cut_down =
            ["2 epochs instead of 20", "600 training examples alone"].map(str::to_owned).to_vec();
        let document = Document::of(&snapshot);
        let said = "Cut down: 2 epochs instead of 20; 600 training examples alone.";
        assert_eq!(text(&document).lines().nth(1), Some(said));
        assert_eq!(markdown(&document).lines().nth(2), Some(said));
        assert!(document.to_json().contains("\"600 training examples alone\""));
        snapshot.design.cut_down = vec!["one learning rate instead of three".to_owned(); 4];
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
