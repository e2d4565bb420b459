//! The raw cells of a file, its separator, and its header line.

use super::{Error, Place, Result, excerpts, shown};
use gelu_compare::suggestion::did_you_mean;
use std::collections::BTreeSet;
use std::path::Path;

/// Texts of a cell whose value is missing, in small letters.
const MISSING: [&str; 8] = ["", "na", "n/a", "#n/a", "nan", "null", "none", "?"];
/// Number of lines from which the separator is determined.
const SURVEYED: usize = 100;

/// Returns whether the value of a cell is missing.
pub(super) fn is_missing(cell: &str) -> bool {
    cell.is_empty() || (cell.len() <= 4 && MISSING.contains(&cell.to_ascii_lowercase().as_str()))
}

/// Reads a finite number; with `comma`, one with a decimal comma.
pub(super) fn number(cell: &str, comma: bool) -> Option<f64> {
    let read = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    match comma {
        false => read(cell),
        true if cell.contains('.') || cell.matches(',').count() > 1 => None,
        true => read(&cell.replace(',', ".")),
    }
}

/// The raw cells of a file.
pub(super) struct Sheet<'a> {
    pub(super) path: &'a Path,
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<csv::StringRecord>,
    pub(super) separator: u8,
    /// Whether the first line names the columns.
    pub(super) has_header: bool,
}

impl<'a> Sheet<'a> {
    /// Parses a file. `header` says whether the first line names the columns; if it is `None`, the cells decide.
    pub(super) fn parse(path: &'a Path, text: &str, header: Option<bool>) -> Result<Self> {
        let separator = separator(text);
        let mut reader = reader(text, separator, false);
        let damaged = |error: csv::Error| {
            let line = error.position().map_or(1, |position| position.line() as usize);
            let problem = match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} cells, where the first line has {expected_len}")
                }
                _ => error.to_string(),
            };
            Error::data(path, Place::Line(line), problem, "mend the line")
        };
        let mut rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(damaged)?;
        let refuse = |problem: String| {
            let advice =
                "the first line has to name the columns, and a row for each example follows";
            Err(Error::data(path, Place::Line(1), problem, advice))
        };
        if rows.is_empty() {
            return refuse("there is no row".to_owned());
        }
        let comma = separator != b',';
        let has_header = header.unwrap_or_else(|| has_header(&rows, comma));
        let names: Vec<String> = match has_header {
            true => rows.remove(0).iter().enumerate().map(named).collect(),
            false => rows[0].iter().enumerate().map(|(column, _)| named((column, ""))).collect(),
        };
        let mut seen = BTreeSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return refuse(format!("two columns are called {}", shown(twice)));
        }
        match rows.is_empty() {
            true => refuse("no row follows".to_owned()),
            false => Ok(Self { path, names, rows, separator, has_header }),
        }
    }

    /// Lists the columns; only a few if there are many.
    pub(super) fn listed(&self) -> String {
        excerpts(self.names.iter().map(String::as_str))
    }

    /// Returns a column by its name, or by its number from 1 if no column has this name.
    pub(super) fn column(&self, name: &str) -> Result<usize> {
        let exact = self.names.iter().position(|column| column == name);
        let numbered = || name.parse().ok().filter(|n: &usize| (1..=self.names.len()).contains(n));
        exact.or_else(|| numbered().map(|number| number - 1)).ok_or_else(|| {
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            let question = did_you_mean(name, &names).map(|question| format!("; {question}"));
            let problem =
                format!("no column is called {}{}", shown(name), question.unwrap_or_default());
            let place = if self.has_header { Place::Line(1) } else { Place::File };
            Error::data(self.path, place, problem, format!("there are: {}", self.listed()))
        })
    }

    /// Returns a cell.
    pub(super) fn cell(&self, row: usize, column: usize) -> &str {
        self.rows[row].get(column).unwrap_or_default()
    }

    /// Returns all cells of a column.
    pub(super) fn cells(&self, column: usize) -> impl Iterator<Item = &str> + Clone {
        self.rows.iter().map(move |row| row.get(column).unwrap_or_default())
    }

    /// Returns an error about a cell.
    pub(super) fn refuse<T>(&self, row: usize, column: usize, problem: &str) -> Result<T> {
        let line = self.rows[row].position().map_or(row + 2, |position| position.line() as usize);
        let (name, cell) = (shown(&self.names[column]), shown(self.cell(row, column)));
        Err(Error::data(
            self.path,
            Place::Line(line),
            format!("column {name} is {cell}: {problem}"),
            "mend it, leave the row out, or leave the column out (`--ignore COLUMN`, in a recipe `ignore = [COLUMN]`)",
        ))
    }

    /// Describes how the file was read.
    pub(super) fn in_words(&self) -> String {
        let separator = match self.separator {
            b';' => "semicolons",
            b'\t' => "tabs",
            b'|' => "bars",
            _ => "commas",
        };
        let header = match self.has_header {
            true => "the first line names the columns".to_owned(),
            false => format!(
                "the first line has numbers and names no columns, which are called `column1` to `column{}` (if it does \
                 name them: --header yes)",
                self.names.len()
            ),
        };
        format!("{} rows, separated by {separator}; {header}", self.rows.len())
    }
}

fn named((column, name): (usize, &str)) -> String {
    match name.is_empty() {
        true => format!("column{}", column + 1),
        false => name.to_owned(),
    }
}

fn reader(text: &str, separator: u8, flexible: bool) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .has_headers(false)
        .flexible(flexible)
        .delimiter(separator)
        .from_reader(text.as_bytes())
}

/// Returns the character that separates every line into the same number of cells, and into the most cells.
fn separator(text: &str) -> u8 {
    let cells = |separator: &u8| {
        let mut records = reader(text, *separator, true).into_records().map_while(Result::ok);
        let cells = records.next().map_or(0, |first| first.len());
        let alike = records.take(SURVEYED).all(|record| record.len() == cells);
        // If the lines differ for every separator, the first line's number of cells decides.
        (cells > 1 && alike, cells)
    };
    // Of equal candidates `max_by_key` takes the last one. The comma comes first, because it also occurs in numbers
    // and texts.
    let best = b",|\t;".iter().copied().max_by_key(cells);
    best.filter(|separator| cells(separator).1 > 1).unwrap_or(b',')
}

/// Returns whether the first line names the columns: if it has no numbers, or if a column of numbers begins with a
/// text.
fn has_header(rows: &[csv::StringRecord], comma: bool) -> bool {
    let is_number =
        |cell: &str| number(cell, false).is_some() || (comma && number(cell, true).is_some());
    let (Some(first), more) = (rows.first(), &rows[1..]) else { return true };
    if !first.iter().any(is_number) {
        return true;
    }
    let of_numbers = |column: usize| {
        let cells = || more.iter().take(SURVEYED).filter_map(move |row| row.get(column));
        cells().any(is_number) && cells().all(|cell| is_missing(cell) || is_number(cell))
    };
    let is_name = |cell: &str| !is_missing(cell) && !is_number(cell);
    first.iter().enumerate().any(|(column, cell)| is_name(cell) && of_numbers(column))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(text: &str) -> Sheet<'static> {
        Sheet::parse(Path::new("t.csv"), text, None).unwrap()
    }

    #[test]
    fn what_separates_cells_is_what_cuts_all_lines_alike() {
        for (text, separator, columns) in [
            ("a,b,c\n1,2,x;y\n", b',', 3),
            ("a;b\n1,5;2,5\n3;4,25\n", b';', 2),
            ("1,5;2,5;x\n1,0;2,0;y\n", b';', 3),
            ("a\tb\n\"1\t2\"\t3\n", b'\t', 2),
            ("a|b|c\n1|2|3\n", b'|', 3),
            ("a\n1\n2\n", b',', 1),
            ("a,b\n\"x;y\",1\n\"z;w\",2\n", b',', 2),
        ] {
            let sheet = sheet(text);
            assert_eq!(sheet.separator, separator, "{text}");
            let sheet = if sheet.separator == b',' && columns == 1 { continue } else { sheet };
            assert_eq!(sheet.names.len(), columns, "{text}");
        }
    }

    #[test]
    fn a_line_of_numbers_names_no_columns() {
        for (text, has_header) in [
            ("5.1,3.5,setosa\n4.9,3.0,setosa\n", false),
            ("length,width,species\n5.1,3.5,setosa\n", true),
            ("name,kind\nA,b\nC,d\n", true),
            // A year can name a column if another column has a name that is a text.
            ("town,area,2001\nA,3,4\nB,5,6\n", true),
            ("1,5;a\n2,5;b\n", false),
            (",x,c\n0,1,a\n1,3,b\n", true),
            ("0,1\n,3\n", false),
        ] {
            let sheet = sheet(text);
            assert_eq!(sheet.has_header, has_header, "{text}");
            assert_eq!(sheet.rows.len(), text.lines().count() - usize::from(has_header));
        }
        let sheet = sheet("5.1,setosa\n4.9,setosa\n");
        assert_eq!(sheet.names, ["column1", "column2"]);
        assert_eq!([sheet.column("2").unwrap(), sheet.column("column1").unwrap()], [1, 0]);
        assert!(sheet.column("3").is_err() && sheet.column("0").is_err());
    }

    #[test]
    fn numbers_with_commas_are_read_where_commas_separate_nothing() {
        assert_eq!(number("1,5", true), Some(1.5));
        assert_eq!(number("-3", true), Some(-3.0));
        assert_eq!(
            (number("1.234,5", true), number("1,5", false), number("inf", false)),
            (None, None, None)
        );
        assert!(
            is_missing("NA")
                && is_missing("?")
                && is_missing("NaN")
                && !is_missing("n")
                && !is_missing("0")
        );
    }
}
