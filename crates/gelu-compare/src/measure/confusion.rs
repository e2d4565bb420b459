//! Which class a classifier names for the examples of each class.

use std::ops::AddAssign;

/// How many test examples of each class were said to be of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// A row for each class of examples, with a number for each class that they were said to be of.
    pub counts: Vec<Vec<u64>>,
}

impl Confusion {
    /// Counts pairs of an example's class and the class that was named.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn count(classes: Vec<String>, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut counts = vec![vec![0; classes.len()]; classes.len()];
        pairs.into_iter().for_each(|(class, named)| counts[class][named] += 1);
        Self { classes, counts }
    }

    /// As the text of a table: a line for each class of examples.
    pub fn to_csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let head = std::iter::once("class").chain(self.classes.iter().map(String::as_str));
        let written = "a vector takes what is written";
        writer.write_record(head).expect(written);
        for (class, counts) in self.classes.iter().zip(&self.counts) {
            let counts = counts.iter().map(ToString::to_string);
            writer.write_record(std::iter::once(class.clone()).chain(counts)).expect(written);
        }
        writer.into_inner().expect(written)
    }

    /// What [`to_csv`](Self::to_csv) has written.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn from_csv(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let classes: Vec<String> = header.iter().skip(1).map(str::to_owned).collect();
        let mut counts = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let row: Result<Vec<u64>, _> = record.iter().skip(1).map(str::parse).collect();
            let known = classes.get(counts.len()).map(String::as_str) == record.get(0);
            match row {
                Ok(row) if known => counts.push(row),
                _ => return Err(format!("line {} is no row of counts", counts.len() + 2)),
            }
        }
        match counts.len() == classes.len() && !classes.is_empty() {
            true => Ok(Self { classes, counts }),
            false => Err(format!("{} rows for {} classes", counts.len(), classes.len())),
        }
    }
}

impl AddAssign<&Self> for Confusion {
    /// Adds another's counts of the same classes.
    fn add_assign(&mut self, other: &Self) {
        for (row, others) in self.counts.iter_mut().zip(&other.counts) {
            row.iter_mut().zip(others).for_each(|(count, other)| *count += other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_being_written_and_read() {
        let classes = vec!["a,b".to_owned(), "c".to_owned()];
        let confusion = Confusion::count(classes, [(0, 0), (0, 1), (1, 1), (1, 1), (0, 1)]);
        assert_eq!(confusion.counts, [[1, 2], [0, 2]]);
        let text = String::from_utf8(confusion.to_csv()).unwrap();
        assert_eq!(text, "class,\"a,b\",c\n\"a,b\",1,2\nc,0,2\n");
        assert_eq!(Confusion::from_csv(text.as_bytes()).unwrap(), confusion);
        let mut twice = confusion.clone();
        twice += &confusion;
        assert_eq!(twice.counts, [[2, 4], [0, 4]]);
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
