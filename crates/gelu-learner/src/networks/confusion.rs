use std::fmt;
use std::ops::AddAssign;

/// A confusion table: how many examples of each class the network assigned to each class.
///
/// It prints as a table with one row per true class, and the class's error rate:
///
/// ```text
///       cat  dog  error
/// cat    48    2   4.0%
/// dog     5   45  10.0%
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    names: Vec<String>,
    counts: Vec<Vec<u64>>,
}

impl Confusion {
    /// The name of the file in a run's folder.
    pub const FILE: &str = "confusion.csv";

    /// Counts pairs of an example's class and its predicted class.
    ///
    /// # Panics
    ///
    /// If a class has no name.
    pub fn of(names: &[String], pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut counts = vec![vec![0; names.len()]; names.len()];
        pairs.into_iter().for_each(|(class, chosen)| counts[class][chosen] += 1);
        Self { names: names.to_vec(), counts }
    }

    /// Returns the names of the classes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns how many examples of `class` the network assigned to each class.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn counts(&self, class: usize) -> &[u64] {
        &self.counts[class]
    }

    /// Returns how many examples of `class` the network assigned to `chosen`.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn count(&self, class: usize, chosen: usize) -> u64 {
        self.counts[class][chosen]
    }

    /// Returns the share of a class's examples that the network assigned to another class; `None` if the class has no
    /// examples.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn error(&self, class: usize) -> Option<f64> {
        let all: u64 = self.counts[class].iter().sum();
        (all > 0).then(|| (all - self.counts[class][class]) as f64 / all as f64)
    }

    /// Returns the table as CSV: one line per true class.
    pub fn to_csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let head = std::iter::once("class").chain(self.names.iter().map(String::as_str));
        let written = "a vector takes what is written";
        writer.write_record(head).expect(written);
        for (class, counts) in self.names.iter().zip(&self.counts) {
            let counts = counts.iter().map(ToString::to_string);
            writer.write_record(std::iter::once(class.clone()).chain(counts)).expect(written);
        }
        writer.into_inner().expect(written)
    }

    /// Reads a table that [`to_csv`](Self::to_csv) has written.
    ///
    /// # Errors
    ///
    /// The problem, if the text is not such a table.
    pub fn from_csv(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let names: Vec<String> = header.iter().skip(1).map(str::to_owned).collect();
        let mut counts = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let row: Result<Vec<u64>, _> = record.iter().skip(1).map(str::parse).collect();
            let known = names.get(counts.len()).map(String::as_str) == record.get(0);
            match row {
                Ok(row) if known => counts.push(row),
                _ => return Err(format!("line {} is no row of counts", counts.len() + 2)),
            }
        }
        match counts.len() == names.len() && !names.is_empty() {
            true => Ok(Self { names, counts }),
            false => Err(format!("{} rows for {} classes", counts.len(), names.len())),
        }
    }
}

impl AddAssign<&Self> for Confusion {
    /// Adds the counts of another table of the same classes.
    fn add_assign(&mut self, other: &Self) {
        for (row, others) in self.counts.iter_mut().zip(&other.counts) {
            row.iter_mut().zip(others).for_each(|(count, other)| *count += other);
        }
    }
}

impl fmt::Display for Confusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: &str| text.chars().count();
        let first = self.names.iter().map(|name| width(name)).max().unwrap_or(0);
        let of_column = |chosen: usize| {
            let counts = (0..self.names.len()).map(|class| self.count(class, chosen).to_string());
            counts.map(|count| count.len()).max().unwrap_or(0).max(width(&self.names[chosen]))
        };
        let columns: Vec<usize> = (0..self.names.len()).map(of_column).collect();
        write!(f, "{:first$}", "")?;
        for (name, width) in self.names.iter().zip(&columns) {
            write!(f, "  {name:>width$}")?;
        }
        write!(f, "  {:>6}", "error")?;
        for (class, name) in self.names.iter().enumerate() {
            write!(f, "\n{name:first$}")?;
            for (count, width) in self.counts(class).iter().zip(&columns) {
                write!(f, "  {count:>width$}")?;
            }
            let error = self.error(class).map(|error| format!("{:.1}%", 100.0 * error));
            write!(f, "  {:>6}", error.as_deref().unwrap_or("–"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rows_are_the_classes_of_the_examples() {
        let pairs = [(0, 0), (0, 1), (0, 0), (1, 1), (0, 0)];
        let table = Confusion::of(&names(&["cat", "dog", "large bird"]), pairs);
        assert_eq!((table.count(0, 1), table.count(1, 0)), (1, 0));
        assert_eq!([0, 1, 2].map(|class| table.error(class)), [Some(0.25), Some(0.0), None]);
        let printed = "\
            \x20           cat  dog  large bird   error\n\
            cat           3    1           0   25.0%\n\
            dog           0    1           0    0.0%\n\
            large bird    0    0           0       –";
        assert_eq!(table.to_string(), printed);
    }

    #[test]
    fn counts_survive_being_written_and_read_whatever_the_names() {
        let confusion =
            Confusion::of(&names(&["a,b", "c"]), [(0, 0), (0, 1), (1, 1), (1, 1), (0, 1)]);
        let text = String::from_utf8(confusion.to_csv()).unwrap();
        assert_eq!(text, "class,\"a,b\",c\n\"a,b\",1,2\nc,0,2\n");
        assert_eq!(Confusion::from_csv(text.as_bytes()).unwrap(), confusion);
        let mut twice = confusion.clone();
        twice += &confusion;
        assert_eq!([twice.counts(0), twice.counts(1)], [[2, 4], [0, 4]]);
        let odd = Confusion::of(&names(&["a, \"b\"", "T-shirt/top", ""]), [(2, 1), (0, 0)]);
        assert_eq!(Confusion::from_csv(&odd.to_csv()).unwrap(), odd);
    }

    #[test]
    fn what_is_no_table_of_counts_is_refused() {
        for damaged in [
            "",
            "class,a\n",
            "class,a,b\na,1,2\n",
            "class,a\nb,1\n",
            "class,a\na,-1\n",
            "class,a\na,1,2\n",
        ] {
            assert!(Confusion::from_csv(damaged.as_bytes()).is_err(), "{damaged}");
        }
    }
}
