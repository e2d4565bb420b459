//! A table in a CSV file: a row is an example, one column its class, the others its inputs.

use super::Asked;
use super::checks::{ORDER_SEED, check_classes, check_file, name_of};
use crate::data::idx::read_bytes;
use crate::data::text::{from_utf8, shown};
use crate::data::{DataSource, WindowSet, Windows};
use crate::error::Place;
use crate::names::excerpts;
use crate::{Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::path::Path;

/// What a split column says, in the order of the parts.
const PARTS: [&str; 3] = ["train", "valid", "test"];
/// Where there is no such column: out of ten rows eight, one and one.
const SHARES: [usize; 3] = [8, 1, 1];
/// Different texts that a column of texts may have: each becomes an input.
const MOST_TEXTS: usize = 100;
/// Numbers of all inputs together: 4 GiB.
const MOST_NUMBERS: usize = 1 << 30;

/// Reads a table: UTF-8, commas, a line of names first. Columns of numbers are moved and scaled so that those
/// to train on have mean 0 and variance 1; of a column of texts, each different text is an input, 1 or 0.
///
/// # Errors
///
/// When the file cannot be read, has no row, a row of another length, two columns of one name, no column that
/// is asked for, a cell that is empty or no finite number among numbers, fewer than two classes or more than
/// 256, or a part without a row.
pub fn read(asked: &Asked, path: &Path) -> Result<WindowSet> {
    check_file(path)?;
    parse(asked, path, &read_bytes(path)?)
}

/// Reads the content of a table; `path` is what errors call it.
///
/// # Errors
///
/// As [`read`].
pub fn parse(asked: &Asked, path: &Path, bytes: &[u8]) -> Result<WindowSet> {
    let table = Table::parse(path, from_utf8(path, bytes)?)?;
    let Some(target) = &asked.target else {
        return Err(Error::Usage(format!(
            "which column of {} is the class? `target = COLUMN` says it; there are: {}",
            path.display(),
            table.names()
        )));
    };
    let target = table.column(target)?;
    let split = asked.split.as_deref().map(|name| table.column(name)).transpose()?;
    let mut left_out = vec![target];
    left_out.extend(split);
    for name in &asked.ignore {
        left_out.push(table.column(name)?);
    }
    let labels = table.labels(target)?;
    let parts = match split {
        Some(column) => table.parts(column)?,
        None => shuffled(table.rows.len()),
    };
    if let Some(empty) = parts.iter().position(Vec::is_empty) {
        let problem =
            format!("there is no row to {}", ["train on", "choose by", "report on"][empty]);
        let advice = "each part needs one: add rows, or a column that says train, valid or test";
        return Err(Error::data(path, Place::File, problem, advice));
    }
    let inputs = table.inputs(&left_out, &parts[0])?;
    let classes = labels.iter().max().map_or(0, |&label| usize::from(label) + 1);
    let part = |rows: &[usize]| part(&inputs, rows, &labels);
    let [train, validation, test] = [part(&parts[0])?, part(&parts[1])?, part(&parts[2])?];
    let content = [&train, &validation, &test].map(|part| {
        let numbers = part.table().iter().flat_map(|number| number.to_le_bytes());
        (part.len() as u64)
            .to_le_bytes()
            .into_iter()
            .chain(numbers)
            .chain(part.labels().iter().copied())
            .collect::<Vec<u8>>()
    });
    let source = DataSource::new(&name_of(path), Some(path.to_path_buf()), false, content);
    Ok(WindowSet { train, validation, test, classes, source })
}

/// Some rows, each an example by itself.
fn part(inputs: &Inputs, rows: &[usize], labels: &[u8]) -> Result<Windows> {
    let numbers =
        rows.iter().flat_map(|&row| &inputs.numbers[row * inputs.width..][..inputs.width]);
    let mut windows = Windows::new(numbers.copied().collect(), inputs.width, 1)?;
    for (index, &row) in (0..).zip(rows) {
        windows.push_group(&[index], &[labels[row]]);
    }
    Ok(windows)
}

/// All rows in a mixed order that is always the same, in parts.
fn shuffled(count: usize) -> [Vec<usize>; 3] {
    let mut rows: Vec<usize> = (0..count).collect();
    rows.shuffle(&mut ChaCha8Rng::seed_from_u64(ORDER_SEED));
    let whole: usize = SHARES.iter().sum();
    let test = rows.split_off(count - count * SHARES[2] / whole);
    let valid = rows.split_off(rows.len() - count * SHARES[1] / whole);
    [rows, valid, test]
}

/// Inputs of all rows, `[rows, width]`.
struct Inputs {
    numbers: Vec<f32>,
    width: usize,
}

/// The cells of a file as they are written.
struct Table<'a> {
    path: &'a Path,
    header: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

impl<'a> Table<'a> {
    fn parse(path: &'a Path, text: &str) -> Result<Self> {
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
    fn names(&self) -> String {
        excerpts(self.header.iter().map(String::as_str))
    }

    fn column(&self, name: &str) -> Result<usize> {
        self.header.iter().position(|column| column == name).ok_or_else(|| {
            let problem = format!("no column is called {}", shown(name));
            Error::data(self.path, Place::Line(1), problem, format!("there are: {}", self.names()))
        })
    }

    /// A cell, by row and column.
    fn cell(&self, row: usize, column: usize) -> &str {
        self.rows[row].get(column).unwrap_or_default()
    }

    /// What is wrong with a cell.
    fn refuse<T>(&self, row: usize, column: usize, problem: &str) -> Result<T> {
        let line = self.rows[row].position().map_or(row + 2, |position| position.line() as usize);
        let (name, cell) = (shown(&self.header[column]), shown(self.cell(row, column)));
        Err(Error::data(
            self.path,
            Place::Line(line),
            format!("column {name} is {cell}: {problem}"),
            "mend it, leave the row out, or leave the column out (`ignore = [COLUMN]`)",
        ))
    }

    /// Classes by the order of their names: as numbers where all are whole numbers.
    fn labels(&self, column: usize) -> Result<Vec<u8>> {
        let mut names = BTreeSet::new();
        for row in 0..self.rows.len() {
            match self.cell(row, column) {
                "" => return self.refuse(row, column, "the class is missing"),
                name => names.insert(name),
            };
        }
        let mut names: Vec<&str> = names.into_iter().collect();
        if names.iter().all(|name| name.parse::<i64>().is_ok()) {
            names.sort_by_key(|name| name.parse::<i64>().unwrap_or_default());
        }
        check_classes(self.path, names.len())?;
        let label = |row| names.iter().position(|name| *name == self.cell(row, column));
        Ok((0..self.rows.len()).map(|row| label(row).unwrap_or_default() as u8).collect())
    }

    /// The rows of each part, as a column says.
    fn parts(&self, column: usize) -> Result<[Vec<usize>; 3]> {
        let mut parts = [const { Vec::new() }; 3];
        for row in 0..self.rows.len() {
            match PARTS.iter().position(|part| *part == self.cell(row, column)) {
                Some(part) => parts[part].push(row),
                None => return self.refuse(row, column, "it has to be train, valid or test"),
            }
        }
        Ok(parts)
    }

    /// All columns but those left out as numbers; numbers are scaled by the rows that are trained on.
    fn inputs(&self, left_out: &[usize], train: &[usize]) -> Result<Inputs> {
        let mut columns = Vec::new();
        for column in (0..self.header.len()).filter(|column| !left_out.contains(column)) {
            columns.extend(self.inputs_of(column, train)?);
            if columns.len().saturating_mul(self.rows.len()) > MOST_NUMBERS {
                let problem = format!("more than {MOST_NUMBERS} numbers");
                return Err(Error::data(
                    self.path,
                    Place::File,
                    problem,
                    "leave rows or columns out",
                ));
            }
        }
        if columns.is_empty() {
            let problem = "no column is left as an input";
            return Err(Error::data(self.path, Place::Line(1), problem, "leave fewer out"));
        }
        let row = |row: usize| columns.iter().map(move |column: &Vec<f32>| column[row]);
        let numbers = (0..self.rows.len()).flat_map(row).collect();
        Ok(Inputs { numbers, width: columns.len() })
    }

    /// The inputs that a column becomes, each with a number a row.
    fn inputs_of(&self, column: usize, train: &[usize]) -> Result<Vec<Vec<f32>>> {
        let count = self.rows.len();
        let is_number = |row| self.cell(row, column).parse::<f64>().is_ok_and(f64::is_finite);
        if let Some(row) = (0..count).find(|&row| self.cell(row, column).is_empty()) {
            return self.refuse(row, column, "nothing is guessed for what is missing");
        }
        if is_number(0) {
            if let Some(row) = (1..count).find(|&row| !is_number(row)) {
                return self.refuse(
                    row,
                    column,
                    "it is no finite number, and the rows above have some",
                );
            }
            let numbers: Vec<f64> =
                (0..count).map(|row| self.cell(row, column).parse().unwrap_or_default()).collect();
            return Ok(vec![standardised(&numbers, train)]);
        }
        if let Some(row) = (1..count).find(|&row| is_number(row)) {
            return self.refuse(row, column, "it is a number, and the rows above have texts");
        }
        let texts: BTreeSet<&str> = (0..count).map(|row| self.cell(row, column)).collect();
        if texts.len() > MOST_TEXTS {
            let problem =
                format!("one of {} different texts, and each would be an input", texts.len());
            return self.refuse(0, column, &problem);
        }
        let is = |text: &str| {
            (0..count).map(|row| f32::from(u8::from(self.cell(row, column) == text))).collect()
        };
        Ok(texts.into_iter().map(is).collect())
    }
}

/// `(x − mean)/deviation`, both those of some rows; 0 where these are all equal.
fn standardised(numbers: &[f64], rows: &[usize]) -> Vec<f32> {
    let count = rows.len() as f64;
    // Scaled first, so that no sum overflows.
    let largest = numbers.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
    let scaled = |number: f64| if largest > 0.0 { number / largest } else { 0.0 };
    let mean = rows.iter().map(|&row| scaled(numbers[row])).sum::<f64>() / count;
    let square = |&row: &usize| (scaled(numbers[row]) - mean).powi(2);
    let deviation = (rows.iter().map(square).sum::<f64>() / count).sqrt();
    // What is left of equal numbers is rounding.
    let constant = deviation <= 1e-12;
    numbers
        .iter()
        .map(|&number| if constant { 0.0 } else { ((scaled(number) - mean) / deviation) as f32 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(target: &str) -> Asked {
        Asked { target: Some(target.to_owned()), ..Asked::from("csv") }
    }

    fn of(asked: &Asked, text: &str) -> Result<WindowSet> {
        parse(asked, Path::new("t.csv"), text.as_bytes())
    }

    fn refused(asked: &Asked, text: &str) -> String {
        of(asked, text).unwrap_err().to_string()
    }

    #[test]
    fn columns_are_scaled_by_the_rows_that_are_trained_on() {
        let text = "id,part,size,colour,kind\n\
            1,train,1,red,10\n2,train,3,blue,9\n3,valid,5,red,9\n4,test,-1,blue,10\n";
        let asked =
            Asked { split: Some("part".into()), ignore: vec!["id".into()], ..asked("kind") };
        let set = of(&asked, text).unwrap();
        assert_eq!((set.classes, set.train.features()), (2, 3));
        // Size, then blue, then red; 9 comes before 10.
        assert_eq!(set.train.inputs(0..2), [-1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(set.train.labels(), [1, 0]);
        assert_eq!(
            (set.validation.inputs(0..1), set.validation.labels()),
            (vec![3.0, 0.0, 1.0], &[0][..])
        );
        assert_eq!((set.test.inputs(0..1), set.test.labels()), (vec![-3.0, 1.0, 0.0], &[1][..]));
        assert_eq!(set.source.name, "t.csv");
        let other = of(&asked, &text.replace("-1,blue", "-2,blue")).unwrap();
        assert_ne!(other.source.fingerprint, set.source.fingerprint);
    }

    #[test]
    fn without_a_column_for_it_eight_tenths_are_trained_on() {
        let rows: String = (0..50).map(|i| format!("{i},{}\n", ["b", "a"][i % 2])).collect();
        let set = of(&asked("c"), &format!("x,c\n{rows}")).unwrap();
        let parts = [&set.train, &set.validation, &set.test];
        assert_eq!(parts.map(Windows::len), [40, 5, 5]);
        assert!(!set.train.inputs(0..40).is_sorted(), "rows are mixed");
        let mean = set.train.inputs(0..40).iter().sum::<f32>() / 40.0;
        assert!(mean.abs() < 1e-6, "{mean}");
    }

    #[test]
    fn extreme_and_constant_columns_stay_finite() {
        let text = "x,y,z,c\n1e308,5,0,a\n-1e308,5,0,b\n1e308,5,0,a\n".to_owned()
            + &"0,5,0,b\n".repeat(20);
        let set = of(&asked("c"), &text).unwrap();
        assert!(set.train.table().iter().all(|number| number.is_finite()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_column() {
        let rows = "1,a\n2,b\n".repeat(10);
        let text = format!("x,c\n{rows}");
        let bad = |row: &str| refused(&asked("c"), &format!("{text}{row}\n"));
        assert!(
            bad("1").contains("line 22: 1 cells, where the first line names 2 columns"),
            "{}",
            bad("1")
        );
        assert!(
            bad("one,a").contains("line 22: column `x` is `one`: it is no finite number"),
            "{}",
            bad("one,a")
        );
        assert!(bad("NaN,a").contains("column `x` is `NaN`"), "{}", bad("NaN,a"));
        assert!(
            bad(",a").contains("line 22: column `x` is ``: nothing is guessed"),
            "{}",
            bad(",a")
        );
        assert!(bad("3,").contains("column `c` is ``: the class is missing"), "{}", bad("3,"));
        let unknown = refused(&asked("kind"), &text);
        assert!(
            unknown.contains("no column is called `kind`")
                && unknown.contains("there are: `x`, `c`"),
            "{unknown}"
        );
        assert!(refused(&Asked::from("csv"), &text).contains("`target = COLUMN`"));
        assert!(refused(&asked("c"), "x,c\n").contains("no row follows"));
        assert!(refused(&asked("c"), "x,x\n1,2\n").contains("two columns are called `x`"));
        assert!(refused(&asked("c"), "c\na\nb\n").contains("there is no row to choose by"));
        assert!(
            refused(&asked("c"), &format!("c\n{}", "a\nb\n".repeat(9)))
                .contains("no column is left")
        );
        assert!(
            refused(&asked("c"), &text.replace('b', "a")).contains("all examples are of one class")
        );
        let prices: String = (0..600).map(|i| format!("{i},{i}\n")).collect();
        assert!(refused(&asked("c"), &format!("x,c\n{prices}")).contains("there are 600 classes"));
        let names: String = (0..600).map(|i| format!("n{i},{}\n", i % 2)).collect();
        assert!(
            refused(&asked("c"), &format!("x,c\n{names}")).contains("one of 600 different texts")
        );
        let split = Asked { split: Some("x".into()), ..asked("c") };
        assert!(refused(&split, &text).contains("it has to be train, valid or test"));
        assert!(refused(&asked("c"), &format!("{text}a\u{1b}[2J,a\n")).contains("`a\\u{1b}[2J`"));
    }
}
