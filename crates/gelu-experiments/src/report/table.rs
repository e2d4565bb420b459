//! The table at the end of a comparison.

use super::document::{ActivationDocument, Document, MeasuresDocument, SpreadDocument};
use crate::comparison::label;
use crate::measure::Reported;
use comfy_table::{CellAlignment, Table, presets};

/// A measure: its split, where it stands, how it is shown.
struct Column {
    split: &'static str,
    of: fn(&MeasuresDocument) -> Option<SpreadDocument>,
    percent: bool,
    /// Whether a terminal of 80 columns has room for it.
    essential: bool,
}

const COLUMNS: [Column; 5] = [
    Column { split: "train", of: |m| m.train_loss, percent: false, essential: false },
    Column { split: "valid", of: |m| m.valid_loss, percent: false, essential: true },
    Column { split: "valid", of: |m| m.valid_error, percent: true, essential: false },
    Column { split: "test", of: |m| m.test_loss, percent: false, essential: true },
    Column { split: "test", of: |m| m.test_error, percent: true, essential: true },
];

impl Column {
    /// `test loss`, `test MSE`, `test error`.
    fn heading(&self, document: &Document) -> String {
        let measure = if self.percent { "error" } else { document.loss.heading() };
        format!("{} {measure}", self.split)
    }
}

/// For a terminal.
pub fn text(document: &Document) -> String {
    let mut table = table(document, |column| column.essential, Spread::Below);
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    format!("{}\n{table}\n{}\n", heading(document), notes(document).join("\n"))
}

/// For a Markdown page.
pub fn markdown(document: &Document) -> String {
    let mut table = table(document, |_| true, Spread::Beside);
    table.load_preset(presets::ASCII_MARKDOWN);
    format!("{}\n\n{table}\n\n{}\n", heading(document), notes(document).join("\n"))
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
    let mut header = ["activation", "dropout", "lr", "runs"].map(str::to_owned).to_vec();
    header.extend(shown.iter().map(|column| column.heading(document)));
    table.set_header(header);
    for entry in &document.activations {
        let mut row = vec![
            label(&entry.activation),
            entry.dropout.to_string(),
            format!("{:e}", entry.best_learning_rate),
            runs(entry),
        ];
        let measures = entry.reported(document.reported);
        row.extend(shown.iter().map(|column| value(column, measures, spread)));
        table.add_row(row);
    }
    align_numbers(&mut table);
    table
}

fn runs(entry: &ActivationDocument) -> String {
    match entry.diverged {
        0 => entry.finished.to_string(),
        diverged => format!("{} + {diverged} diverged", entry.finished),
    }
}

fn value(column: &Column, measures: &MeasuresDocument, place: Spread) -> String {
    let Some(spread) = (column.of)(measures) else { return "–".to_owned() };
    let number = |value: f64| match column.percent {
        true => format!("{:.2}", value * 100.0),
        false => format!("{value:.4}"),
    };
    let unit = if column.percent { " %" } else { "" };
    match spread.runs {
        1 => format!("{}{unit}", number(spread.median)),
        _ => {
            let (low, high) = (number(spread.lowest), number(spread.highest));
            match place {
                Spread::Below => format!("{}{unit}\n{low}–{high}", number(spread.median)),
                Spread::Beside => format!("{}{unit} [{low}–{high}]", number(spread.median)),
            }
        }
    }
}

fn notes(document: &Document) -> Vec<String> {
    let most = document.activations.iter().map(|a| a.finished).max().unwrap_or(0);
    let epoch = match document.reported {
        Reported::LastEpoch => "last epoch",
        Reported::BestEpoch => "epoch that was best on validation",
    };
    let mut notes = vec![match most {
        0 => "No run has finished yet.".to_owned(),
        1 => format!("After the {epoch}; one run each, so differences may be chance."),
        n => format!("After the {epoch}: median over {n} seeds, with lowest and highest."),
    }];
    let failed = document.runs.iter().filter(|run| run.status == "failed").count();
    let unfinished = document
        .runs
        .iter()
        .filter(|run| matches!(run.status.as_str(), "waiting" | "running" | "interrupted"))
        .count();
    if failed > 0 {
        notes.push(format!("{failed} of {} runs failed.", document.runs.len()));
    }
    if unfinished > 0 {
        let all = document.runs.len();
        notes.push(format!("{unfinished} of {all} runs are unfinished; the same command goes on."));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{example, without_epochs};

    #[test]
    fn rows_show_median_and_spread_of_what_was_measured() {
        let text = text(&Document::of(&example()));
        assert!(text.contains("SYNTHETIC DATA"), "{text}");
        assert!(text.contains("over 3 seeds"), "{text}");
        let gelu = text.lines().find(|line| line.contains("GELU")).unwrap();
        assert!(gelu.contains("1e-3") && gelu.contains(" %"), "{gelu}");
        assert_eq!(text.lines().filter(|line| line.contains("ReLU")).count(), 2);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
    }

    #[test]
    fn markdown_is_a_table() {
        let page = markdown(&Document::of(&example()));
        assert!(page.contains("| activation |") && page.contains("|---"), "{page}");
    }

    #[test]
    fn nothing_finished_is_said() {
        let text = text(&Document::of(&without_epochs()));
        assert!(text.contains("No run has finished yet"), "{text}");
        assert!(text.contains("12 of 12 runs are unfinished"), "{text}");
    }
}
