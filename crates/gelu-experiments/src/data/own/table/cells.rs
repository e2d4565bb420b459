//! The cells of a file as they are written, and its classes and parts.

use super::reader::{NamedColumn, RowReader};
use super::{Error, Inputs, PARTS, Place, Result, check_classes, excerpts, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Numbers of all inputs together: 4 GiB.
const MOST_NUMBERS: usize = 1 << 30;

/// The cells of a file as they are written.
pub(super) struct Table<'a> {
    pub(super) path: &'a Path,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<csv::StringRecord>,
}

impl<'a> Table<'a> {
    pub(super) fn parse(path: &'a Path, text: &str) -> Result<Self> {
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let damaged = |error: csv::Error| {
            let line = error.position().map_or(1, |position| position.line() as usize);
            let problem = match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} cells, where the first line names {expected_len} columns")
                }
                _ => error.to_string(),
            };
            Error::data(path, Place::Line(line), problem, "mend the line")
        };
        let first = text.lines().next().unwrap_or_default();
        for (separator, name) in [(';', "semicolons"), ('\t', "tabs"), ('|', "bars")] {
            if first.contains(separator) && !first.contains(',') {
                let problem = format!("the columns are separated by {name}");
                let advice = "save the table with commas, and with points in its numbers";
                return Err(Error::data(path, Place::Line(1), problem, advice));
            }
        }
        let header: Vec<String> =
            reader.headers().map_err(damaged)?.iter().map(str::to_owned).collect();
        let refuse = |problem: String| {
            let advice = "the first line has to name the columns";
            Error::data(path, Place::Line(1), problem, advice)
        };
        let mut seen = BTreeSet::new();
        if let Some(twice) = header.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(refuse(format!("two columns are called {}", shown(twice))));
        }
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(damaged)?;
        match rows.is_empty() {
            true => Err(refuse("no row follows".to_owned())),
            false => Ok(Self { path, header, rows }),
        }
    }

    /// The columns there are, a few of many.
    pub(super) fn names(&self) -> String {
        excerpts(self.header.iter().map(String::as_str))
    }

    pub(super) fn column(&self, name: &str) -> Result<usize> {
        self.header.iter().position(|column| column == name).ok_or_else(|| {
            let problem = format!("no column is called {}", shown(name));
            Error::data(self.path, Place::Line(1), problem, format!("there are: {}", self.names()))
        })
    }

    /// A cell, by row and column.
    pub(super) fn cell(&self, row: usize, column: usize) -> &str {
        self.rows[row].get(column).unwrap_or_default()
    }

    /// What is wrong with a cell.
    pub(super) fn refuse<T>(&self, row: usize, column: usize, problem: &str) -> Result<T> {
        let line = self.rows[row].position().map_or(row + 2, |position| position.line() as usize);
        let (name, cell) = (shown(&self.header[column]), shown(self.cell(row, column)));
        Err(Error::data(
            self.path,
            Place::Line(line),
            format!("column {name} is {cell}: {problem}"),
            "mend it, leave the row out, or leave the column out (`ignore = [COLUMN]`)",
        ))
    }

    /// Classes by the order of their names: as numbers where all are numbers.
    pub(super) fn labels(&self, column: usize) -> Result<Vec<u8>> {
        let mut rows_of: BTreeMap<&str, usize> = BTreeMap::new();
        for row in 0..self.rows.len() {
            match self.cell(row, column) {
                "" => return self.refuse(row, column, "the class is missing"),
                name => *rows_of.entry(name).or_default() += 1,
            }
        }
        let mut names: Vec<&str> = rows_of.keys().copied().collect();
        let number = |name: &str| name.parse::<f64>().ok().filter(|number| number.is_finite());
        if names.iter().all(|name| number(name).is_some()) {
            if let Some(row) = (0..self.rows.len())
                .find(|&row| number(self.cell(row, column)).is_some_and(|x| x.fract() != 0.0))
            {
                return self.refuse(
                    row,
                    column,
                    "that is a quantity, and classes alone can be learned from tables; make classes of it, \
                     for example low and high, or name another column",
                );
            }
            names.sort_by(|a, b| {
                number(a).unwrap_or_default().total_cmp(&number(b).unwrap_or_default())
            });
        }
        check_classes(self.path, names.len())?;
        let single = rows_of.values().filter(|&&rows| rows == 1).count();
        if let Some(row) = (0..self.rows.len()).find(|&row| rows_of[self.cell(row, column)] == 1) {
            let problem = format!(
                "that is the class of one row, as {single} of {} classes are, and a class needs rows to train on \
                 and to report on; put classes together, and if the column is a quantity, make a few classes of it",
                names.len()
            );
            return self.refuse(row, column, &problem);
        }
        let label_of: BTreeMap<&str, u8> = names.into_iter().zip(0..=u8::MAX).collect();
        Ok((0..self.rows.len()).map(|row| label_of[self.cell(row, column)]).collect())
    }

    /// The rows of each part, as a column says.
    pub(super) fn parts(&self, column: usize) -> Result<[Vec<usize>; 3]> {
        let mut parts = [const { Vec::new() }; 3];
        for row in 0..self.rows.len() {
            match PARTS.iter().position(|part| *part == self.cell(row, column)) {
                Some(part) => parts[part].push(row),
                None => return self.refuse(row, column, "it has to be train, valid or test"),
            }
        }
        Ok(parts)
    }

    /// How each column is read, by the rows that are trained on; those left out are no inputs.
    pub(super) fn reader(&self, left_out: &[usize], train: &[usize]) -> Result<RowReader> {
        let named = |(column, name): (usize, &String)| -> Result<NamedColumn> {
            let is_input = !left_out.contains(&column);
            let reader = is_input.then(|| self.column_reader(column, train)).transpose()?;
            Ok(NamedColumn { name: name.clone(), reader })
        };
        let columns = self.header.iter().enumerate().map(named).collect::<Result<Vec<_>>>()?;
        Ok(RowReader { columns })
    }

    /// All columns that are inputs, as numbers.
    pub(super) fn inputs(&self, reader: &RowReader) -> Result<Inputs> {
        let columns = || reader.columns.iter().map(|column| column.reader.as_ref()).enumerate();
        let width: usize = columns().filter_map(|(_, reader)| Some(reader?.width())).sum();
        if width.saturating_mul(self.rows.len()) > MOST_NUMBERS {
            let problem = format!("more than {MOST_NUMBERS} numbers");
            let advice = "leave rows or columns out";
            return Err(Error::data(self.path, Place::File, problem, advice));
        }
        if width == 0 {
            let problem = "no column is left as an input";
            return Err(Error::data(self.path, Place::Line(1), problem, "leave fewer out"));
        }
        let mut numbers = Vec::with_capacity(width * self.rows.len());
        for row in 0..self.rows.len() {
            for (column, reader) in columns() {
                let Some(reader) = reader else { continue };
                let cell = self.cell(row, column);
                reader.read(cell, &mut numbers).expect("readers are fitted to all rows");
            }
        }
        Ok(Inputs { numbers, width })
    }
}
