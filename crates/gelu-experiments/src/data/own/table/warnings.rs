//! Warnings about a table that matter for trusting results on it.

use super::column::{Content, NUMBERINGS};
use super::parts::Given;
use super::sheet::Sheet;
use super::{Column, Target, shown};
use gelu_compare::names::excerpts;
use std::collections::{HashMap, HashSet};

/// The number of rows below which a class is rare: with a fifth for test, it has fewer than three test rows.
const RARE: usize = 15;

/// Returns warnings, one sentence each.
pub(super) fn warnings(
    sheet: &Sheet<'_>,
    columns: &[Column],
    target: &Target,
    given: Option<&Given>,
) -> Vec<String> {
    let mut said = Vec::new();
    for column in columns {
        if let Content::LeftOut(why) = &column.content
            && NUMBERINGS.contains(&why.as_str())
        {
            let name = shown(&column.name);
            said.push(format!(
                "column {name} is left out, because {why}; --keep {} makes it an input",
                column.name
            ));
        }
    }
    said.extend(rare(target));
    said.extend(twice(sheet, columns, target, given));
    said
}

fn rare(target: &Target) -> Option<String> {
    let Target::Classes { names, .. } = target else { return None };
    let rare: Vec<String> = target
        .rows_of_classes()
        .iter()
        .zip(names)
        .filter(|(rows, _)| **rows < RARE)
        .map(|(rows, name)| format!("{name}: {rows}"))
        .collect();
    let classes = match rare.len() {
        0 => return None,
        1 => "1 class has".to_owned(),
        count => format!("{count} classes have"),
    };
    let listed = excerpts(rare.iter().map(String::as_str));
    Some(format!(
        "{classes} fewer than {RARE} rows, too few to say how well a network knows them: {listed}"
    ))
}

/// Warns about rows that are equal in all inputs and the target, and about test rows that have the inputs of a
/// training row.
fn twice(
    sheet: &Sheet<'_>,
    columns: &[Column],
    target: &Target,
    given: Option<&Given>,
) -> Vec<String> {
    let inputs: Vec<usize> =
        (0..columns.len()).filter(|&c| columns[c].content.width() > 0).collect();
    let cells = |row: usize| -> Vec<&str> {
        inputs.iter().map(|&column| sheet.cell(row, column)).collect()
    };
    let mut rows_of: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
    (0..sheet.rows.len()).for_each(|row| rows_of.entry(cells(row)).or_default().push(row));
    let value = |row: usize| match target {
        Target::Classes { labels, .. } => u64::from(labels[row]),
        Target::Numbers(numbers) => numbers[row].to_bits(),
    };
    let repeated: usize = rows_of
        .values()
        .map(|rows| rows.len() - rows.iter().map(|&row| value(row)).collect::<HashSet<_>>().len())
        .sum();
    let mut said = Vec::new();
    if repeated > 0 {
        let rows = match repeated {
            1 => "1 row repeats an earlier one".to_owned(),
            _ => format!("{repeated} rows repeat an earlier one"),
        };
        let of = format!("{rows} (of {})", sheet.rows.len());
        said.push(match given {
            None => format!("{of}: a copy may be trained on and tested on, so errors look smaller than on new rows"),
            Some(_) => format!("{of}; each counts as often as it stands there"),
        });
    }
    if let Some(given) = given {
        let is = |row: &usize, part: u8| given.of_row[*row] == part;
        let leaked: usize = rows_of
            .values()
            .filter(|rows| rows.iter().any(|row| is(row, 0)))
            .map(|rows| rows.iter().filter(|row| is(row, 2)).count())
            .sum();
        let tested = given.of_row.iter().filter(|&&part| part == 2).count();
        if leaked > 0 {
            said.push(format!(
                "{leaked} of {tested} test rows have the inputs of a row that is trained on; errors on them say little \
                 about new rows"
            ));
        }
    }
    said
}
