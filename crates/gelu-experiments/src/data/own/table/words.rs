//! Describes how a table was read.

use super::column::Content;
use super::sheet::Sheet;
use super::{Column, DataRequest, Result, Table, Target, check_file, from_utf8, read_bytes, shown};
use std::path::Path;

/// The largest number of omitted columns to list individually.
const MOST_NAMED: usize = 6;

/// Returns one line about the file and one about each of its columns: how it is read, or why it cannot be read.
///
/// # Errors
///
/// If the file is not a table.
pub fn columns(asked: &DataRequest, path: &Path) -> Result<Vec<String>> {
    check_file(path)?;
    let bytes = read_bytes(path)?;
    let mut sheet = Sheet::parse(path, from_utf8(path, &bytes)?, asked.header)?;
    let mut lines = vec![sheet.in_words()];
    let column = |name: &String| sheet.column(name).ok();
    let target = asked.target.as_ref().and_then(column);
    let split = match &asked.split {
        Some(name) => column(name),
        None => sheet.find_split().filter(|split| Some(*split) != target),
    };
    let ignored: Vec<usize> = asked.ignore.iter().filter_map(column).collect();
    let kept: Vec<usize> = asked.keep.iter().filter_map(column).collect();
    if let Some(target) = target {
        match sheet.remove_untargeted(target)? {
            0 => {}
            count => lines.push(format!("rows left out, because they have no target: {count}")),
        }
    }
    for (column, name) in sheet.names.iter().enumerate() {
        let how = match column {
            _ if Some(column) == target => match sheet.target(column, asked.numbers) {
                Ok(target) => target.in_words(),
                Err(error) => format!("to be predicted; {error}"),
            },
            _ if Some(column) == split => "says which part a row is in".to_owned(),
            _ if ignored.contains(&column) => "left out".to_owned(),
            _ => match sheet.content(column, kept.contains(&column)) {
                Ok(content) => content.in_words(),
                Err(error) => format!("cannot be read: {error}"),
            },
        };
        lines.push(format!("{}: {how}", shown(name)));
    }
    Ok(lines)
}

impl Table {
    /// Returns one line for the file, for each column, and for the splits: how they were read.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        notes.extend(self.lines());
        notes.push(self.parts_in_words());
        notes
    }

    /// Returns one line per column about how it was read.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |column: &Column| {
            let how = match column.name == self.target_name {
                true => self.target.in_words(),
                false => column.content.in_words(),
            };
            format!("{}: {how}", shown(&column.name))
        };
        self.columns.iter().map(line).collect()
    }

    pub(super) fn parts_in_words(&self) -> String {
        let [train, valid, test] = self.sizes();
        let how = match (&self.given, &self.target) {
            (Some(given), _) if given.has_validation => "as the table says".to_owned(),
            (Some(_), _) => {
                "train and test as the table says, and a fifth of train to choose by, by seed"
                    .to_owned()
            }
            (None, Target::Classes { .. }) => {
                "three, one and one of five rows of each class, by seed".to_owned()
            }
            (None, Target::Numbers(_)) => "three, one and one of five rows, by seed".to_owned(),
        };
        format!("{train} rows to train on, {valid} to choose by and {test} to report on: {how}")
    }

    /// Returns a summary of how the table was read, one line per topic; the later lines are indented.
    pub fn summary(&self) -> String {
        let count =
            |is: &dyn Fn(&Content) -> bool| self.columns.iter().filter(|c| is(&c.content)).count();
        let numbers = count(&|content| matches!(content, Content::Numbers { .. }));
        let texts = count(&|content| matches!(content, Content::Texts { .. }));
        let mut said = self.notes.clone();
        said.push(format!("{} is {}", shown(&self.target_name), self.target.in_words()));
        let columns = |count: usize| {
            if count == 1 { "1 column".to_owned() } else { format!("{count} columns") }
        };
        let inputs = |count: usize| {
            if count == 1 { "1 input".to_owned() } else { format!("{count} inputs") }
        };
        let of = match (numbers, texts) {
            (numbers, 0) => format!("{} of numbers", columns(numbers)),
            (0, texts) => format!("{} of texts", columns(texts)),
            _ => format!("{} of numbers and {texts} of texts", columns(numbers)),
        };
        said.push(format!("{of}: {}", inputs(self.width())));
        let empty = |is: &dyn Fn(&Content) -> bool| -> usize {
            self.columns.iter().filter(|c| is(&c.content)).map(|c| c.content.empty()).sum()
        };
        let medians = empty(&|content| matches!(content, Content::Numbers { .. }));
        let more = empty(&|content| matches!(content, Content::Texts { .. }));
        if medians > 0 {
            said.push(format!(
                "{medians} empty cells are read as the median of their column's training rows"
            ));
        }
        if more > 0 {
            said.push(format!("{more} empty cells are read as one more text of their column"));
        }
        let left_out: Vec<String> = self
            .columns
            .iter()
            .filter(|column| column.name != self.target_name)
            .filter_map(|column| match &column.content {
                Content::LeftOut(why) => Some(format!("{} ({why})", shown(&column.name))),
                _ => None,
            })
            .collect();
        if !left_out.is_empty() {
            let more = left_out.len().saturating_sub(MOST_NAMED);
            let listed = left_out[..left_out.len() - more].join(", ");
            said.push(match more {
                0 => format!("left out: {listed}"),
                _ => format!("left out: {listed} and {more} more"),
            });
        }
        said.push(self.parts_in_words());
        said.join("\n  ")
    }
}
