use super::columns::{Columns, Places};
use super::line::{Line, Lines, Run};
use crate::error::Place;
use crate::measure::Direction;
use crate::names::excerpt;
use crate::{Error, Result};
use csv::ReaderBuilder;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

/// A file of this size in bytes or more cannot be a table of scores.
const MOST_BYTES: u64 = 1 << 28;

/// A setting that is compared, at one combination of values of the other columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arm {
    /// The value in the column that is compared; for a wide table, the name of the column.
    pub value: String,
    /// The values in the columns at each of whose values there is a verdict.
    pub each: Vec<String>,
}

/// The scores of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The metric as a cost, of which lower is better; +∞ if the run diverged.
    pub cost: f64,
    /// The metric that must not get worse, as a cost; 0 if there is none.
    pub guard: f64,
    /// The run's line in the file.
    pub line: u64,
}

/// A table of scores by arm and seed.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The arms in the order of the file.
    pub arms: Vec<Arm>,
    /// The seeds in the order of the file; for runs without seeds, their lines.
    pub seeds: Vec<i64>,
    /// Number of lines that were left out because their runs have not finished.
    pub left_out: usize,
    scores: HashMap<Arm, HashMap<i64, Score>>,
}

impl Table {
    /// Reads a table from a CSV file whose first line names the columns. Tabs separate the columns if the name `path`
    /// ends in `.tsv`. `directions` are those of the metric, and of the metric that must not get worse.
    ///
    /// # Errors
    ///
    /// Returns an error with its line if a column does not exist, a field is missing, a seed or a score is not a
    /// number, or an arm has a seed twice.
    pub fn read(
        reader: impl Read,
        path: &Path,
        columns: &Columns,
        directions: [Direction; 2],
    ) -> Result<Self> {
        let tabs = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
        let separator = if tabs { b'\t' } else { b',' };
        let mut bytes = Vec::new();
        reader.take(MOST_BYTES).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
        if bytes.len() as u64 == MOST_BYTES {
            let problem = format!("has {MOST_BYTES} bytes or more, and is no table of scores");
            return Err(Error::data(path, Place::File, problem, "one line per run is enough"));
        }
        let mut lines = Lines::of(&bytes);
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .trim(csv::Trim::All)
            .from_reader(bytes.as_slice());
        let header = reader.headers().map_err(|error| unreadable(path, &error))?.clone();
        let place = Places::of(&header, columns, path)?;
        let mut table = Self::default();
        let mut wanted = 0;
        for record in reader.records() {
            let record = record.map_err(|error| unreadable(path, &error))?;
            let number = lines.at(record.position().map_or(0, |at| at.byte() as usize));
            let line = Line { path, number, record, header: &header };
            if !line.is_wanted(&place) {
                continue;
            }
            wanted += 1;
            let run = line.run(&place);
            if run == Run::Unfinished {
                table.left_out += 1;
                continue;
            }
            for (column, arm) in &place.scores {
                table.add(&line, &place, (*column, arm), run, directions)?;
            }
        }
        if wanted == 0 && !columns.only.is_empty() {
            let asked: Vec<String> =
                columns.only.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let problem = format!("has no line with {}", asked.join(" and "));
            return Err(Error::data(path, Place::File, problem, "look up the values in the file"));
        }
        Ok(table)
    }

    /// Returns an arm's score at a seed.
    pub fn score(&self, arm: &Arm, seed: i64) -> Option<Score> {
        self.scores.get(arm)?.get(&seed).copied()
    }

    /// Returns the seeds of an arm, in the order of the file.
    pub fn seeds_of(&self, arm: &Arm) -> Vec<i64> {
        let of_arm = |seed: &&i64| self.score(arm, **seed).is_some();
        self.seeds.iter().filter(of_arm).copied().collect()
    }

    fn add(
        &mut self,
        line: &Line<'_>,
        place: &Places,
        (column, arm): (usize, &str),
        run: Run,
        [direction, guard_direction]: [Direction; 2],
    ) -> Result<()> {
        let arm = Arm {
            value: place.compare.map_or(arm, |column| line.field(column)).to_owned(),
            each: place.each.iter().map(|column| line.field(*column).to_owned()).collect(),
        };
        let seed = match place.seed {
            Some(column) => {
                let seed = line.field(column);
                seed.parse().map_err(|_| {
                    line.error(format!("the seed is {}", excerpt(seed)), "seeds are whole numbers")
                })?
            }
            None => line.number as i64,
        };
        let cost = line.cost(column, run, direction)?;
        let guard = match place.guard {
            Some(column) => line.cost(column, run, guard_direction)?,
            None => 0.0,
        };
        if !self.scores.contains_key(&arm) {
            self.arms.push(arm.clone());
        }
        if !self.seeds.contains(&seed) {
            self.seeds.push(seed);
        }
        let score = Score { cost, guard, line: line.number };
        match self.scores.entry(arm.clone()).or_default().insert(seed, score) {
            None => Ok(()),
            Some(before) => Err(line.error(
                format!(
                    "seed {seed} of {} stands in line {} already",
                    excerpt(&arm.value),
                    before.line
                ),
                "one line per run: where other columns tell the two apart, name them with --each, or leave one of \
                 their values with --only",
            )),
        }
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
        Columns {
            compare: "activation".into(),
            metric: "error".into(),
            seed: "seed".into(),
            ..Columns::default()
        }
    }

    fn read_as(text: &str, columns: &Columns, direction: Direction) -> Result<Table> {
        Table::read(text.as_bytes(), Path::new("scores.csv"), columns, [direction; 2])
    }

    fn read(text: &str) -> Result<Table> {
        read_as(text, &columns(), Direction::Lower)
    }

    fn refused(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    fn names(table: &Table) -> Vec<&str> {
        table.arms.iter().map(|arm| arm.value.as_str()).collect()
    }

    #[test]
    fn columns_are_in_any_order_and_names_in_any_case() {
        let text = "Error, Seed, note, activation\n0.1, 7, x, gelu\n\n\r\n0.2, 7, y, relu\n";
        let table = read(text).unwrap();
        assert_eq!((names(&table), &table.seeds[..]), (vec!["gelu", "relu"], &[7][..]));
        let second = table.score(&table.arms[1], 7).unwrap();
        assert_eq!((second.cost, second.line), (0.2, 5));
        assert!(refused("ERROR,Error,seed,activation\n").contains("two columns are named `error`"));
    }

    #[test]
    fn seeds_stand_in_the_order_of_the_file() {
        let table = read("activation,seed,error\na,9,1\nb,9,1\na,3,1\nb,3,1\n").unwrap();
        assert_eq!(table.seeds_of(&table.arms[1]), [9, 3]);
    }

    #[test]
    fn what_is_no_number_is_a_diverged_run() {
        let text = "activation,seed,error\na,1,0.9\na,2,nan\na,3,-inf\na,4,1e999\na,5,1.#QNAN\n";
        for (direction, first) in [(Direction::Higher, -0.9), (Direction::Lower, 0.9)] {
            let table = read_as(text, &columns(), direction).unwrap();
            let costs = (1..=5).map(|seed| table.score(&table.arms[0], seed).unwrap().cost);
            let lost = f64::INFINITY;
            assert_eq!(costs.collect::<Vec<_>>(), [first, lost, lost, lost, lost]);
        }
    }

    #[test]
    fn an_empty_cell_is_what_its_status_says() {
        let text = "activation,seed,error,State\na,1,0.9,finished\na,2,,finished\na,3,,crashed\na,4,0.3,running\n";
        let table = read(text).unwrap();
        assert_eq!((&table.seeds[..], table.left_out), (&[1, 2][..], 2));
        assert_eq!(table.score(&table.arms[0], 2).unwrap().cost, f64::INFINITY);
        let unsaid = "activation,seed,error\na,1,null\n";
        assert!(refused(unsaid).contains("line 2: `error` is `null`"), "{}", refused(unsaid));
    }

    #[test]
    fn lines_are_chosen_by_the_values_of_columns() {
        let text = "activation,seed,error,set,ok\na,1,1,x,y\na,1,2,z,y\na,2,2,x,n\n";
        let only = [("set", "x"), ("ok", "y")].map(|(name, value)| (name.into(), value.into()));
        let table = read_as(text, &Columns { only: only.into(), ..columns() }, Direction::Lower);
        assert_eq!(table.unwrap().seeds, [1]);
        // Several values of one column are alternatives, and a value need not occur.
        let of = |pairs: &[(&str, &str)]| {
            let only = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            read_as(text, &Columns { only: only.collect(), ..columns() }, Direction::Lower)
        };
        assert_eq!(of(&[("set", "z"), ("set", "x"), ("ok", "n")]).unwrap().seeds, [2]);
        let none = of(&[("set", "w")]).unwrap_err().to_string();
        assert!(none.contains("has no line with set=w"), "{none}");
    }

    #[test]
    fn a_wide_table_has_a_column_an_arm() {
        let wide = vec!["gelu".to_owned(), "relu".to_owned()];
        let columns =
            Columns { wide, metric: "error".into(), seed: "seed".into(), ..Columns::default() };
        let table = read_as("gelu,relu\n0.1,0.2\n0.3,0.4\n", &columns, Direction::Lower).unwrap();
        assert_eq!((names(&table), &table.seeds[..]), (vec!["gelu", "relu"], &[2, 3][..]));
        let seeded = read_as("seed,relu,gelu\n5,0.1,0.2\n", &columns, Direction::Lower).unwrap();
        assert_eq!(seeded.score(&seeded.arms[1], 5).map(|score| score.cost), Some(0.1));
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
        let error = Table::read(&bytes[..], Path::new("s.csv"), &columns(), [Direction::Lower; 2]);
        assert!(error.unwrap_err().to_string().contains("UTF-8"));
    }
}
