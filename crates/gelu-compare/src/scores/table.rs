use crate::error::Place;
use crate::measure::Direction;
use crate::names::{excerpt, excerpts};
use crate::{Error, Result};
use csv::{ReaderBuilder, StringRecord};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

/// Which columns of a table say what.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Whose values are compared.
    pub compare: String,
    /// A verdict is made at every combination of their values.
    pub each: Vec<String>,
    /// The measure.
    pub primary: String,
}

/// No table of scores is so large.
const MOST_BYTES: u64 = 1 << 28;
/// The column of seeds.
const SEED: &str = "seed";

/// A setting that is compared, at one combination of the other columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arm {
    /// Its value in the column that is compared.
    pub value: String,
    /// Its values in the columns that a verdict is made at each of.
    pub each: Vec<String>,
}

/// One line of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The measure, so that lower is better; +∞ of a run that diverged.
    pub cost: f64,
    /// Its line in the file.
    pub line: u64,
}

/// A table of scores: every arm's, by seed.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// The arms in the order of the file.
    pub arms: Vec<Arm>,
    scores: HashMap<Arm, HashMap<i64, Score>>,
}

impl Scores {
    /// The table in a CSV file whose first line names the columns; tabs separate them where the name
    /// ends in `.tsv`.
    ///
    /// # Errors
    ///
    /// With its line: a column that is not there, a field that is missing, a seed or a measure that is
    /// no number, a seed that an arm has twice.
    pub fn read(
        reader: impl Read,
        path: &Path,
        columns: &Columns,
        direction: Direction,
    ) -> Result<Self> {
        let tabs = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
        let separator = if tabs { b'\t' } else { b',' };
        let mut bytes = Vec::new();
        reader.take(MOST_BYTES).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
        if bytes.len() as u64 == MOST_BYTES {
            let problem = format!("has {MOST_BYTES} bytes or more, and is no table of scores");
            return Err(Error::data(path, Place::File, problem, "a line a run is enough"));
        }
        let mut lines = Lines::of(&bytes);
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .trim(csv::Trim::All)
            .from_reader(bytes.as_slice());
        let header = reader.headers().map_err(|error| unreadable(path, &error))?.clone();
        let place = Places::of(&header, columns, path)?;
        let mut table = Self::default();
        for record in reader.records() {
            let record = record.map_err(|error| unreadable(path, &error))?;
            let number = lines.at(record.position().map_or(0, |at| at.byte() as usize));
            let line = Line { path, number, record };
            table.add(&line, &place, &header, direction)?;
        }
        Ok(table)
    }

    /// An arm's score of a seed.
    pub fn score(&self, arm: &Arm, seed: i64) -> Option<Score> {
        self.scores.get(arm)?.get(&seed).copied()
    }

    /// The seeds of an arm, ascending.
    pub fn seeds(&self, arm: &Arm) -> Vec<i64> {
        let mut seeds: Vec<i64> =
            self.scores.get(arm).into_iter().flatten().map(|(seed, _)| *seed).collect();
        seeds.sort_unstable();
        seeds
    }

    fn add(
        &mut self,
        line: &Line<'_>,
        place: &Places,
        header: &StringRecord,
        direction: Direction,
    ) -> Result<()> {
        let arm = Arm {
            value: line.field(place.compare).to_owned(),
            each: place.each.iter().map(|column| line.field(*column).to_owned()).collect(),
        };
        let seed = line.field(place.seed);
        let seed: i64 = seed.parse().map_err(|_| {
            line.error(format!("the seed is {}", excerpt(seed)), "seeds are whole numbers")
        })?;
        let cost = cost(line, place.primary, &header[place.primary], direction)?;
        let score = Score { cost, line: line.number };
        if !self.scores.contains_key(&arm) {
            self.arms.push(arm.clone());
        }
        let before = self.scores.entry(arm.clone()).or_default().insert(seed, score);
        match before {
            None => Ok(()),
            Some(before) => Err(line.error(
                format!(
                    "seed {seed} of {} stands in line {} already",
                    excerpt(&arm.value),
                    before.line
                ),
                "one line a run: where other columns tell the two apart, name them with --each, or \
                 leave one of their values",
            )),
        }
    }
}

/// A measure as one of which lower is better.
fn cost(line: &Line<'_>, column: usize, name: &str, direction: Direction) -> Result<f64> {
    let text = line.field(column);
    let advice = "a run that diverged is written `nan`";
    let name = excerpt(name);
    let value: f64 = text.parse().map_err(|_| {
        line.error(format!("{name} is {}, which is no number", excerpt(text)), advice)
    })?;
    let cost = value * direction.sign();
    match cost {
        _ if cost.is_nan() => Ok(f64::INFINITY),
        f64::NEG_INFINITY => {
            Err(line.error(format!("{name} is {text}: nothing is infinitely good"), advice))
        }
        _ => Ok(cost),
    }
}

/// Where the columns stand.
struct Places {
    compare: usize,
    each: Vec<usize>,
    seed: usize,
    primary: usize,
}

impl Places {
    fn of(header: &StringRecord, columns: &Columns, path: &Path) -> Result<Self> {
        if header.is_empty() {
            let advice = "a table begins with a line that names its columns";
            return Err(Error::data(path, Place::Line(1), "the file is empty", advice));
        }
        let place = |name: &str| {
            let mut found = header.iter().enumerate().filter(|(_, column)| *column == name);
            match (found.next(), found.next()) {
                (Some((index, _)), None) => Ok(index),
                (Some(_), Some(_)) => Err(Error::data(
                    path,
                    Place::Line(1),
                    format!("two columns are named {}", excerpt(name)),
                    "rename one of them",
                )),
                (None, _) => {
                    let (name, there) = (excerpt(name), excerpts(header.iter()));
                    let advice = match header.len() == 1 && header[0].contains([';', '\t']) {
                        true => "columns are separated by commas, or by tabs in a file named .tsv",
                        false => "the first line names the columns",
                    };
                    Err(Error::data(
                        path,
                        Place::Line(1),
                        format!("there is no column {name}; there are: {there}"),
                        advice,
                    ))
                }
            }
        };
        Ok(Self {
            compare: place(&columns.compare)?,
            each: columns.each.iter().map(|name| place(name)).collect::<Result<_>>()?,
            seed: place(SEED)?,
            primary: place(&columns.primary)?,
        })
    }
}

/// Counts lines up to where records begin: the reader's own count is that of blank lines before it.
struct Lines<'a> {
    bytes: &'a [u8],
    counted: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, counted: 0, line: 1 }
    }

    /// The line of the first record at or behind a byte; bytes never fall.
    fn at(&mut self, byte: usize) -> u64 {
        let rest = self.bytes.get(byte..).unwrap_or_default();
        let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let start = byte + blank;
        let passed = self.bytes.get(self.counted..start).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.counted = start.max(self.counted);
        self.line
    }
}

struct Line<'a> {
    path: &'a Path,
    number: u64,
    record: StringRecord,
}

impl Line<'_> {
    fn field(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or_default()
    }

    fn error(&self, problem: String, advice: &str) -> Error {
        Error::data(self.path, Place::Line(self.number as usize), problem, advice)
    }
}

fn unreadable(path: &Path, error: &csv::Error) -> Error {
    let line = error.position().map_or(0, csv::Position::line) as usize;
    let place = if line == 0 { Place::File } else { Place::Line(line) };
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => Error::data(
            path,
            place,
            format!("has {len} fields, and the first line names {expected_len} columns"),
            "every line has a field for every column",
        ),
        csv::ErrorKind::Utf8 { .. } => {
            Error::data(path, place, "is not UTF-8 text", "save it as UTF-8")
        }
        _ => Error::data(path, place, error.to_string(), "it has to be a CSV file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        Columns { compare: "activation".into(), each: Vec::new(), primary: "error".into() }
    }

    fn read(text: &str, direction: Direction) -> Result<Scores> {
        Scores::read(text.as_bytes(), Path::new("scores.csv"), &columns(), direction)
    }

    fn refused(text: &str) -> String {
        read(text, Direction::Lower).unwrap_err().to_string()
    }

    #[test]
    fn columns_stand_in_any_order_beside_others() {
        let text = "error, seed, note, activation\n0.1, 7, x, gelu\n\n\r\n0.2, 7, y, relu\n";
        let table = read(text, Direction::Lower).unwrap();
        let names: Vec<&str> = table.arms.iter().map(|arm| arm.value.as_str()).collect();
        assert_eq!(names, ["gelu", "relu"]);
        assert_eq!(table.seeds(&table.arms[0]), [7]);
        assert_eq!(table.score(&table.arms[1], 7), Some(Score { cost: 0.2, line: 5 }));
    }

    #[test]
    fn higher_is_turned_round_and_no_number_is_a_diverged_run() {
        let text = "activation,seed,error\ngelu,1,0.9\ngelu,2,nan\ngelu,3,-inf\n";
        let table = read(text, Direction::Higher).unwrap();
        let costs: Vec<f64> =
            (1..=3).map(|seed| table.score(&table.arms[0], seed).unwrap().cost).collect();
        assert_eq!(costs, [-0.9, f64::INFINITY, f64::INFINITY]);
        assert!(refused("activation,seed,error\ngelu,1,-inf\n").contains("infinitely good"));
    }

    #[test]
    fn every_fault_is_said_with_its_line() {
        let header = "activation,seed,error\n";
        for (text, expected) in [
            ("".to_owned(), "line 1: the file is empty"),
            ("activation;seed;error\n".to_owned(), "columns are separated by commas"),
            ("activation,error\n".to_owned(), "no column `seed`; there are: `activation`, `error`"),
            ("seed,seed,error,activation\n".to_owned(), "two columns are named `seed`"),
            (format!("{header}gelu,1,0.1\ngelu,2,good\n"), "line 3: `error` is `good`"),
            (format!("{header}gelu,1,\n"), "line 2: `error` is ``"),
            (format!("{header}gelu,one,0.1\n"), "line 2: the seed is `one`"),
            (format!("{header}gelu,1,0.1\nrelu,1,0.1\ngelu,1,0.2\n"), "stands in line 2 already"),
            (
                format!("\"a\nb\",{header}1,gelu,1,0.1\n").replace("error", "loss"),
                "`a\\nb`, `activation`",
            ),
            (format!("{header}gelu,1\n"), "line 2: has 2 fields, and the first line names 3"),
        ] {
            assert!(refused(&text).contains(expected), "{text:?}: {}", refused(&text));
        }
        let bytes = [header.as_bytes(), b"ge\xfflu,1,0.1\n"].concat();
        let error = Scores::read(&bytes[..], Path::new("s.csv"), &columns(), Direction::Lower);
        assert!(error.unwrap_err().to_string().contains("UTF-8"));
    }
}
