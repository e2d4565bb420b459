//! Joins the tables of several runs: each line gets the run's folder as its first column.

use super::Digits;
use crate::error::Place;
use crate::files::problem;
use crate::{Error, Result};
use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use std::collections::BTreeMap;
use std::path::Path;

/// The first column of a joined table.
const RUN: &str = "run";

/// One table joined from the tables of several runs. It has every column that any of them has, in the order of
/// appearance. Cells stay as they are written.
#[derive(Default)]
pub(super) struct Joined {
    columns: Vec<String>,
    lines: Vec<(String, BTreeMap<usize, String>)>,
}

impl Joined {
    /// Adds the lines of the table of `run`. With `digits`, rounds the numbers that scores do not depend on.
    ///
    /// # Errors
    ///
    /// Returns an error if `bytes`, the content of the file `path`, is not CSV.
    pub(super) fn add(
        &mut self,
        run: &str,
        path: &Path,
        bytes: &[u8],
        digits: Option<Digits>,
    ) -> Result<()> {
        let mut reader = ReaderBuilder::new().from_reader(bytes);
        let refuse = |line, error| Error::data(path, Place::Line(line), problem(&error), "");
        let header = reader.headers().map_err(|error| refuse(1, error))?.clone();
        let places: Vec<usize> = header.iter().map(|name| self.column(name)).collect();
        let mut records = Vec::new();
        for (index, record) in reader.records().enumerate() {
            records.push(record.map_err(|error| refuse(index + 2, error))?);
        }
        if let Some(digits) = digits {
            digits.of_epochs(&mut records);
        }
        for record in records {
            let cells = places.iter().copied().zip(record.iter().map(str::to_owned));
            self.lines.push((run.to_owned(), cells.filter(|(_, text)| !text.is_empty()).collect()));
        }
        Ok(())
    }

    fn column(&mut self, name: &str) -> usize {
        self.columns.iter().position(|known| known == name).unwrap_or_else(|| {
            self.columns.push(name.to_owned());
            self.columns.len() - 1
        })
    }

    /// Returns the table as CSV, or `None` if it has no line.
    pub(super) fn to_csv(&self) -> Option<Vec<u8>> {
        let mut writer = WriterBuilder::new().from_writer(Vec::new());
        let header = std::iter::once(RUN).chain(self.columns.iter().map(String::as_str));
        writer.write_record(header).expect("writing to memory cannot fail");
        for (run, cells) in &self.lines {
            let cell = |column| cells.get(&column).map_or("", String::as_str);
            let line = std::iter::once(run.as_str()).chain((0..self.columns.len()).map(cell));
            writer.write_record(line).expect("writing to memory cannot fail");
        }
        let bytes = writer.into_inner().expect("writing to memory cannot fail");
        (!self.lines.is_empty()).then_some(bytes)
    }
}

/// Splits a joined table into the tables of the runs, by run. Each has the columns in which it has a cell, and those
/// in which no run has one.
///
/// # Errors
///
/// Returns an error if `bytes`, the content of the entry `path`, is not a joined table.
pub(super) fn apart(path: &Path, bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>> {
    let refuse = |line, problem: String| Error::data(path, Place::Line(line), problem, "");
    let mut reader = ReaderBuilder::new().from_reader(bytes);
    let header = reader.headers().map_err(|error| refuse(1, problem(&error)))?.clone();
    if header.get(0) != Some(RUN) {
        return Err(refuse(1, format!("the first column is not `{RUN}`")));
    }
    let mut runs: BTreeMap<String, Vec<StringRecord>> = BTreeMap::new();
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(|error| refuse(index + 2, problem(&error)))?;
        runs.entry(record[0].to_owned()).or_default().push(record);
    }
    let has_cell =
        |lines: &[StringRecord], column| lines.iter().any(|line| !line[column].is_empty());
    let is_empty: Vec<bool> = (0..header.len())
        .map(|column| !runs.values().any(|lines: &Vec<StringRecord>| has_cell(lines, column)))
        .collect();
    let table = |(run, lines): (String, Vec<StringRecord>)| {
        let columns =
            (1..header.len()).filter(|&column| is_empty[column] || has_cell(&lines, column));
        (run, of_columns(&header, &lines, &columns.collect::<Vec<_>>()))
    };
    Ok(runs.into_iter().map(table).collect())
}

fn of_columns(header: &StringRecord, lines: &[StringRecord], columns: &[usize]) -> Vec<u8> {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    for record in std::iter::once(header).chain(lines) {
        let cells = columns.iter().map(|&column| &record[column]);
        writer.write_record(cells).expect("writing to memory cannot fail");
    }
    writer.into_inner().expect("writing to memory cannot fail")
}
