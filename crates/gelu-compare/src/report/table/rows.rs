//! The rows of a table: one per arm and context.

use super::TrivialRow;
use crate::comparison::Difference;
use crate::measure::Measure;
use crate::report::{ArmDocument, Document, MeasuresDocument, SpreadDocument};
use crate::setting::{Axis, Role, Setting};
use comfy_table::{CellAlignment, Table, presets};

/// The position of a measure's spread: below its median, or next to it.
#[derive(Clone, Copy)]
pub(super) enum Spread {
    Below,
    Beside,
}

pub(super) fn table(document: &Document, shown: &[&Measure], spread: Spread) -> Table {
    let mut table = Table::new();
    let axes = |role: Role| role.of(&document.axes).map(|axis| axis.name.clone());
    let roles = [Role::Compared, Role::Each, Role::Tuned];
    let mut header: Vec<String> = roles.into_iter().flat_map(axes).collect();
    header.extend(shown.iter().map(|measure| measure.heading.clone()));
    header.push("verdict".to_owned());
    table.set_header(header);
    for entry in &document.arms {
        let mut row = labels(document, entry);
        let measures = entry.reported(document.reported);
        row.extend(shown.iter().map(|measure| value(measure, measures, spread)));
        row.push(verdict(document, entry));
        table.add_row(row);
    }
    for trivial in TrivialRow::all(document) {
        let mut row = trivial.labels(document);
        row.extend(shown.iter().map(|measure| match measure.name == document.criterion.primary {
            true => measure.unit.shown(trivial.value),
            false => "–".to_owned(),
        }));
        row.push("–".to_owned());
        table.add_row(row);
    }
    align_numbers(&mut table);
    table
}

/// Returns the labels of a row: the compared values, the context, and the tuned values.
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

/// Returns the verdict for a row. At a task of a verdict over tasks, says which of the two settings is ahead.
fn verdict(document: &Document, entry: &ArmDocument) -> String {
    if let Some(over) = &document.criterion.over {
        return at_task(document, entry, &over.axis);
    }
    let same = |d: &&Difference| (&d.arm, &d.context) == (&entry.arm, &entry.context);
    match document.differences.iter().find(same) {
        Some(difference) => difference.finding.verdict.to_string(),
        None if entry.is_baseline => "baseline".to_owned(),
        None => "–".to_owned(),
    }
}

fn at_task(document: &Document, entry: &ArmDocument, axis: &str) -> String {
    if entry.is_baseline {
        return "baseline".to_owned();
    }
    let column = document.axes.iter().find(|other| other.name == axis).map(Axis::column);
    let context = column.map(|column| entry.context.without(column));
    let same = |d: &&Difference| d.arm == entry.arm && Some(&d.context) == context.as_ref();
    let task = column.map_or_else(String::new, |column| entry.context.text(column));
    let over = document.differences.iter().find(same).and_then(|d| d.finding.over.as_ref());
    let effect = over.and_then(|over| over.tasks.iter().find(|effect| effect.task == task));
    match effect.and_then(|effect| effect.ahead) {
        Some(true) => "ahead".to_owned(),
        Some(false) => "behind".to_owned(),
        None => "–".to_owned(),
    }
}

/// Returns the median and the number of complete runs, then the lowest and the highest value.
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

/// Returns a table of numbers for a terminal; the first column has text.
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
