//! A table in a file of separated values: a row is an example, one column is the target, and the others are inputs.
//!
//! A run's seed determines the rows for training, validation and test, unless the table does. Inputs are scaled by
//! the training rows.

mod column;
mod folder;
mod parts;
mod reader;
mod sheet;
mod target;
mod warnings;
mod words;

pub use folder::read_folder;
pub(in crate::data) use parts::part_of;
pub use reader::RowReader;
pub use target::Target;
pub use words::columns;

use super::DataRequest;
use super::checks::{check_classes, check_file, name_of};
use crate::data::files::read_bytes;
use crate::data::points::Scale;
use crate::data::text::{from_utf8, shown};
use crate::data::{DataSource, WindowReader};
use crate::{Error, Result};
use column::Content;
use gelu_compare::error::Place;
use gelu_compare::names::excerpts;
use parts::{Given, parts};
use reader::{ColumnReader, NamedColumn};
use sheet::Sheet;
use std::path::Path;
use warnings::warnings;

/// Version of the reader; increase it when the same file gives other data.
const VERSION: u32 = 2;
/// The largest number of all inputs together: 4 GiB.
const MOST_NUMBERS: usize = 1 << 30;

/// The user's own tables.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSet {
    /// One table, or those of a folder in the order of their file names.
    pub tables: Vec<Table>,
    /// The reasons why other files of the folder are left out.
    pub refused: Vec<String>,
    /// The source of the tables.
    pub source: DataSource,
}

/// A table as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name of the file without the ending.
    pub name: String,
    columns: Vec<Column>,
    /// The value to predict for each row.
    pub target: Target,
    target_name: String,
    given: Option<Given>,
    separator: u8,
    /// Notes on how the file was read, one per line.
    notes: Vec<String>,
    /// Warnings to read before trusting a result.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: String,
    content: Content,
}

/// The rows of a table in splits, as inputs for a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TableParts {
    /// The training, validation and test rows.
    pub parts: [Rows; 3],
    /// Converts a row that is not in the table.
    pub reader: WindowReader,
    /// The mean and deviation of the numbers to predict over the training rows, in which they are scaled.
    pub scale: Option<Scale>,
}

/// Some rows of a table as inputs and targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// `[rows, width]`
    pub inputs: Vec<f32>,
    /// Numbers per input.
    pub width: usize,
    /// The class of each row; 0 if a number is predicted.
    pub labels: Vec<u8>,
    /// The number to predict for each row, scaled.
    pub numbers: Option<Vec<f32>>,
}

impl Rows {
    /// Returns the variance of the numbers to predict; if all are equal, 1, the variance of the training rows.
    pub fn variance(&self) -> Option<f64> {
        let numbers = self.numbers.as_ref()?.iter().map(|&number| f64::from(number));
        let count = numbers.len().max(1) as f64;
        let mean = numbers.clone().sum::<f64>() / count;
        let variance = numbers.map(|number| (number - mean).powi(2)).sum::<f64>() / count;
        Some(if variance > 1e-12 { variance } else { 1.0 })
    }
}

/// Reads a table: UTF-8 with commas, semicolons, tabs or bars between cells. [`Table::notes()`] says how it was read.
///
/// # Errors
///
/// If the file cannot be read, has no rows, a row of another length, two columns of the same name, no column of a
/// requested name, a cell among numbers that is not a finite number, texts that represent numbers, no input column,
/// one class or more than 256 classes, or a split without rows.
pub fn read(asked: &DataRequest, path: &Path) -> Result<TableSet> {
    check_file(path)?;
    parse(asked, path, &read_bytes(path)?)
}

/// Parses the content of a table; error messages name `path`.
///
/// # Errors
///
/// If [`read`] would fail for this content.
pub fn parse(asked: &DataRequest, path: &Path, bytes: &[u8]) -> Result<TableSet> {
    let table = Table::parse(asked, path, bytes)?;
    let content = [&VERSION.to_le_bytes()[..], bytes];
    let source = DataSource::new(&name_of(path), Some(path.to_path_buf()), false, content);
    Ok(TableSet { tables: vec![table], refused: Vec::new(), source })
}

impl TableSet {
    /// Returns the table called `name`; without a name, the first one.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] listing the tables.
    pub fn table(&self, name: Option<&str>) -> Result<&Table> {
        let Some(name) = name else { return Ok(&self.tables[0]) };
        self.tables.iter().find(|table| table.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.tables.iter().map(|table| table.name.as_str()).collect();
            Error::Usage(gelu_compare::suggestion::unknown("table", name, &names))
        })
    }

    /// Returns whether all files determine their test rows.
    pub fn has_test_rows(&self) -> bool {
        self.tables.iter().all(Table::has_test_rows)
    }
}

impl Table {
    pub(super) fn parse(asked: &DataRequest, path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut sheet = Sheet::parse(path, from_utf8(path, bytes)?, asked.header)?;
        let target = match &asked.target {
            Some(name) => sheet.column(name)?,
            None => {
                return Err(Error::Usage(format!(
                    "which column of {} is to be predicted? --target COLUMN says it (in a recipe `target = COLUMN`); \
                     there are: {}",
                    path.display(),
                    sheet.listed()
                )));
            }
        };
        let mut notes = vec![sheet.in_words()];
        match sheet.remove_untargeted(target)? {
            0 => {}
            1 => notes.push("1 row without a target is left out".to_owned()),
            count => notes.push(format!("{count} rows without a target are left out")),
        }
        let split = match &asked.split {
            Some(name) => Some(sheet.column(name)?),
            None => sheet.find_split().filter(|&column| column != target),
        };
        let given = split.map(|column| sheet.given(column)).transpose()?;
        let columns_of = |names: &[String]| {
            names.iter().map(|name| sheet.column(name)).collect::<Result<Vec<_>>>()
        };
        let (ignored, kept) = (columns_of(&asked.ignore)?, columns_of(&asked.keep)?);
        let mut columns = Vec::with_capacity(sheet.names.len());
        for (column, name) in sheet.names.iter().enumerate() {
            let content = match column {
                _ if column == target => Content::LeftOut(String::new()),
                _ if Some(column) == split => {
                    Content::LeftOut("it says which part a row is in".to_owned())
                }
                _ if ignored.contains(&column) => Content::LeftOut("as asked".to_owned()),
                _ => sheet.content(column, kept.contains(&column))?,
            };
            columns.push(Column { name: name.clone(), content });
        }
        let target_name = sheet.names[target].clone();
        let target = sheet.target(target, asked.numbers)?;
        let name = name_of(path);
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
        let warnings = warnings(&sheet, &columns, &target, given.as_ref());
        let table = Self {
            name,
            columns,
            target,
            target_name,
            given,
            separator: sheet.separator,
            notes,
            warnings,
        };
        table.check(&sheet)?;
        Ok(table)
    }

    /// Checks that the table has inputs, and rows in each split.
    fn check(&self, sheet: &Sheet<'_>) -> Result<()> {
        let refuse = |problem: String, advice: &str| {
            Err(Error::data(sheet.path, Place::File, problem, advice))
        };
        let width = self.width();
        if width == 0 {
            // The message shows only a few columns.
            let columns = self.columns.iter().filter(|column| column.name != self.target_name);
            let lines =
                columns.take(3).map(|c| format!("{} {}", shown(&c.name), c.content.in_words()));
            let advice = match lines.collect::<Vec<_>>() {
                none if none.is_empty() => {
                    "the table needs a column besides the one to predict".to_owned()
                }
                lines => lines.join("; "),
            };
            return refuse("no column is left as an input".to_owned(), &advice);
        }
        if width.saturating_mul(self.rows()) > MOST_NUMBERS {
            return refuse(
                format!("more than {MOST_NUMBERS} numbers"),
                "leave rows or columns out",
            );
        }
        let parts = parts(&self.target, self.rows(), self.given.as_ref(), 1);
        if let Some(empty) = parts.iter().position(Vec::is_empty) {
            let purpose = ["train on", "choose by", "report on"][empty];
            return refuse(
                format!("there is no row to {purpose}"),
                "each part needs one: add rows, or a column that says train, valid or test",
            );
        }
        // If the table determines the splits, some classes may have no training rows with any seed.
        let (Some(given), Target::Classes { names, labels }) = (&self.given, &self.target) else {
            return Ok(());
        };
        let is_trained = |class: usize| {
            let mut rows = labels.iter().zip(&given.of_row);
            rows.any(|(&label, &part)| usize::from(label) == class && part == 0)
        };
        match (0..names.len()).find(|&class| !is_trained(class)) {
            None => Ok(()),
            Some(class) => {
                let row = labels.iter().position(|&label| usize::from(label) == class).unwrap_or(0);
                let column = sheet.column(&self.target_name)?;
                sheet.refuse(row, column, "no row of that class is trained on")
            }
        }
    }

    /// Returns whether the file determines the test rows; otherwise they depend on the seed.
    pub fn has_test_rows(&self) -> bool {
        self.given.is_some()
    }

    /// Returns the number of rows with a target.
    pub fn rows(&self) -> usize {
        match &self.target {
            Target::Classes { labels, .. } => labels.len(),
            Target::Numbers(numbers) => numbers.len(),
        }
    }

    /// Returns the numbers per input.
    pub fn width(&self) -> usize {
        self.columns.iter().map(|column| column.content.width()).sum()
    }

    /// Returns the name of the column to predict.
    pub fn target_name(&self) -> &str {
        &self.target_name
    }

    /// Returns the numbers of training, validation and test rows of a run.
    pub fn sizes(&self) -> [usize; 3] {
        parts(&self.target, self.rows(), self.given.as_ref(), 1).map(|part| part.len())
    }

    /// Returns the commonest class of the training rows and the error of always predicting it for the test rows; if
    /// the table does not determine its splits, both are of all rows. `None` if a number is predicted.
    pub fn error_of_commonest(&self) -> Option<(String, f64)> {
        let Target::Classes { names, labels } = &self.target else { return None };
        let is = |part: u8, row: usize| {
            self.given.as_ref().is_none_or(|given| given.of_row[row] == part)
        };
        let count = |part: u8| {
            let mut counts = vec![0; names.len()];
            let rows = (0..labels.len()).filter(|&row| is(part, row));
            rows.for_each(|row| counts[usize::from(labels[row])] += 1);
            counts
        };
        let trained: Vec<usize> = count(0);
        let commonest = (0..names.len()).rev().max_by_key(|&class| trained[class])?;
        let tested = count(2);
        let all: usize = tested.iter().sum();
        Some((names[commonest].clone(), (all - tested[commonest]) as f64 / all as f64))
    }

    /// Returns the rows of the run with this seed; `limits` are the largest numbers of rows per split.
    pub fn of_seed(&self, seed: u64, limits: [usize; 3]) -> TableParts {
        let mut parts = parts(&self.target, self.rows(), self.given.as_ref(), seed);
        parts.iter_mut().zip(limits).for_each(|(part, limit)| part.truncate(limit));
        let readers: Vec<Option<ColumnReader>> = self
            .columns
            .iter()
            .map(|column| ColumnReader::fitted(&column.content, &parts[0]))
            .collect();
        let scale = match &self.target {
            Target::Classes { .. } => None,
            Target::Numbers(numbers) => Some(Scale::of(parts[0].iter().map(|&row| numbers[row]))),
        };
        let rows = |part: &Vec<usize>| self.rows_of(part, &readers, scale);
        let rows = parts.each_ref().map(rows);
        let named = |(column, reader): (&Column, Option<ColumnReader>)| NamedColumn {
            name: column.name.clone(),
            reader,
        };
        let reader = WindowReader::Row(RowReader {
            columns: self.columns.iter().zip(readers).map(named).collect(),
            target: self.target_name.clone(),
            separator: self.separator.into(),
        });
        TableParts { parts: rows, reader, scale }
    }

    fn rows_of(
        &self,
        part: &[usize],
        readers: &[Option<ColumnReader>],
        scale: Option<Scale>,
    ) -> Rows {
        let width = self.width();
        let mut inputs = Vec::with_capacity(part.len() * width);
        for &row in part {
            for (column, reader) in self.columns.iter().zip(readers) {
                if let Some(reader) = reader {
                    reader.push(&column.content, row, &mut inputs);
                }
            }
        }
        let (labels, numbers) = match (&self.target, scale) {
            (Target::Numbers(numbers), Some(scale)) => (
                vec![0; part.len()],
                Some(part.iter().map(|&row| scale.target(numbers[row])).collect()),
            ),
            (Target::Classes { labels, .. }, _) => {
                (part.iter().map(|&row| labels[row]).collect(), None)
            }
            (Target::Numbers(_), None) => unreachable!("numbers have a scale"),
        };
        Rows { inputs, width, labels, numbers }
    }
}

#[cfg(test)]
mod tests;
