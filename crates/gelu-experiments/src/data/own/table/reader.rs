//! How the cells of a row become inputs, fitted to the rows that are trained on.

use super::Result;
use super::column::ColumnReader;
use crate::Error;
use crate::data::Windows;
use crate::data::text::shown;
use crate::names::excerpts;
use gelu_compare::suggestion::did_you_mean;
use serde::{Deserialize, Serialize};

/// Reads a row that is not in the table, as those that the network was trained on were read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowReader {
    pub(super) columns: Vec<NamedColumn>,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NamedColumn {
    pub(super) name: String,
    /// `None` for a column that is no input.
    pub(super) reader: Option<ColumnReader>,
}

impl RowReader {
    /// Returns the row as one example of class 0. It is written as its cells between commas, for all columns of the
    /// table or for those that are inputs.
    ///
    /// # Errors
    ///
    /// When the row has more or fewer cells, a cell that is no finite number where the column has numbers, or a text
    /// that no row of the table has.
    pub fn read(&self, row: &str) -> Result<Windows> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .has_headers(false)
            .from_reader(row.as_bytes());
        let record = reader.records().next().and_then(std::result::Result::ok).unwrap_or_default();
        let wanted: Vec<&NamedColumn> = match record.len() == self.columns.len() {
            true => self.columns.iter().collect(),
            false => self.columns.iter().filter(|column| column.reader.is_some()).collect(),
        };
        if record.len() != wanted.len() {
            return Err(Error::Usage(format!(
                "the row has {} cells; it needs {}: {}",
                record.len(),
                wanted.len(),
                excerpts(wanted.iter().map(|column| column.name.as_str()))
            )));
        }
        let mut inputs = Vec::new();
        for (column, cell) in wanted.iter().zip(&record) {
            let Some(reader) = &column.reader else { continue };
            if reader.read(cell, &mut inputs).is_none() {
                let problem = reader.refusal(cell);
                let (name, cell) = (shown(&column.name), shown(cell));
                return Err(Error::Usage(format!("column {name} of the row is {cell}: {problem}")));
            }
        }
        let width = inputs.len();
        let mut windows = Windows::new(inputs.into(), width, 1)?;
        windows.push_group(&[0], &[0]);
        Ok(windows)
    }
}

impl ColumnReader {
    /// Why a cell cannot be read.
    fn refusal(&self, cell: &str) -> String {
        match self {
            Self::Number { .. } => "it has to be a finite number".to_owned(),
            Self::Texts(texts) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let there = excerpts(texts.iter().copied());
                match did_you_mean(cell, &texts) {
                    Some(question) => {
                        format!(
                            "no row that was trained on has that text; {question} There are: {there}"
                        )
                    }
                    None => format!("no row that was trained on has that text; there are: {there}"),
                }
            }
        }
    }
}
