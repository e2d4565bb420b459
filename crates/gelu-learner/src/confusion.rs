use crate::{Error, Result};
use gelu_compare::error::Place;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

/// Which classes a network takes examples for: how many examples of each class it took for which.
///
/// It prints as a table, one row per class of the examples, with the share of them that is wrong:
///
/// ```text
///       cat  dog  error
/// cat    48    2   4.0%
/// dog     5   45  10.0%
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    names: Vec<String>,
    /// Row by row.
    counts: Vec<u64>,
}

impl Confusion {
    /// The name of the file in a run's folder.
    pub(crate) const FILE: &str = "confusion.csv";

    /// Counts pairs of an example's class and the class that was chosen.
    ///
    /// # Errors
    ///
    /// When a class has no name.
    pub(crate) fn of(
        names: &[String],
        pairs: impl IntoIterator<Item = (i64, i64)>,
    ) -> Result<Self> {
        let mut counts = vec![0; names.len() * names.len()];
        let place = |class: i64| {
            let place = usize::try_from(class).ok().filter(|&class| class < names.len());
            place.ok_or_else(|| {
                Error::Usage(format!(
                    "class {class} has no name, because .class_names(…) has {} names; give one for each class",
                    names.len()
                ))
            })
        };
        for (class, chosen) in pairs {
            counts[place(class)? * names.len() + place(chosen)?] += 1;
        }
        Ok(Self { names: names.to_vec(), counts })
    }

    /// Returns the names of the classes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns how many examples of `class` were taken for `chosen`.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn count(&self, class: usize, chosen: usize) -> u64 {
        self.row(class)[chosen]
    }

    /// Returns the share of a class's examples that were taken for another; `None` where it has no examples.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn error(&self, class: usize) -> Option<f64> {
        let row = self.row(class);
        let all: u64 = row.iter().sum();
        (all > 0).then(|| (all - row[class]) as f64 / all as f64)
    }

    fn row(&self, class: usize) -> &[u64] {
        let classes = self.names.len();
        &self.counts[class * classes..(class + 1) * classes]
    }

    /// What the error of each class is called in columns, behind the name of a split: `error_cat`.
    pub(crate) fn columns(names: &[String]) -> Vec<String> {
        let mut columns: Vec<String> = Vec::with_capacity(names.len());
        for (class, name) in names.iter().enumerate() {
            let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            let name = words.map(str::to_lowercase).collect::<Vec<_>>().join("_");
            let column = format!("error_{name}");
            // Two names may differ in their signs alone.
            let is_free = !name.is_empty() && !columns.contains(&column);
            columns.push(if is_free { column } else { format!("error_class_{class}") });
        }
        columns
    }

    /// A table with the header `class,cat,dog`.
    pub(crate) fn to_csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut write = |first: &str, rest: &mut dyn Iterator<Item = String>| {
            let cells = std::iter::once(first.to_owned()).chain(rest);
            writer.write_record(cells).expect("memory takes every row of as many cells");
        };
        write("class", &mut self.names.iter().cloned());
        for (class, name) in self.names.iter().enumerate() {
            write(name, &mut self.row(class).iter().map(u64::to_string));
        }
        writer.into_inner().expect("memory takes it")
    }

    /// Reads what [`to_csv`](Self::to_csv) has written.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is no such table.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let refuse = |problem: String| {
            Error::data(path, Place::File, problem, "train the run again with .class_names(…)")
        };
        let mut rows = csv::Reader::from_path(path).map_err(|error| refuse(error.to_string()))?;
        let header = rows.headers().map_err(|error| refuse(error.to_string()))?;
        let names: Vec<String> = header.iter().skip(1).map(str::to_owned).collect();
        let mut counts = Vec::new();
        for row in rows.records() {
            for cell in row.map_err(|error| refuse(error.to_string()))?.iter().skip(1) {
                counts.push(cell.parse().map_err(|_| refuse(format!("{cell} is no count")))?);
            }
        }
        match counts.len() == names.len() * names.len() {
            true => Ok(Self { names, counts }),
            false => Err(refuse("it is not one row per class".to_owned())),
        }
    }
}

impl Display for Confusion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
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
            for (count, width) in self.row(class).iter().zip(&columns) {
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
        let table = Confusion::of(&names(&["cat", "dog", "large bird"]), pairs).unwrap();
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
    fn a_table_is_read_back_whatever_the_names() {
        let names = names(&["a, \"b\"", "T-shirt/top", ""]);
        let table = Confusion::of(&names, [(2, 1), (0, 0)]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Confusion::FILE);
        std::fs::write(&path, table.to_csv()).unwrap();
        assert_eq!(Confusion::read(&path).unwrap(), table);
        std::fs::write(&path, "class,cat,dog\ncat,1,2\n").unwrap();
        let said = Confusion::read(&path).unwrap_err().to_string();
        assert!(said.contains("not one row per class"), "{said}");
    }

    #[test]
    fn a_class_without_a_name_is_refused() {
        let said = Confusion::of(&names(&["cat", "dog"]), [(1, 2)]).unwrap_err().to_string();
        assert!(said.contains("class 2 has no name") && said.contains("2 names"), "{said}");
    }

    #[test]
    fn columns_differ_although_names_are_alike() {
        let columns = Confusion::columns(&names(&["T-shirt/top", "t shirt top", "+", "Straße"]));
        let expected = ["error_t_shirt_top", "error_class_1", "error_class_2", "error_straße"];
        assert_eq!(columns, expected);
    }
}
