use csv::StringRecord;
use std::collections::BTreeSet;
use std::fmt;

/// A number of significant digits, for rounding numbers that scores do not depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits(u8);

impl Digits {
    /// Returns `None` unless `digits` is from 3 to 16.
    pub fn new(digits: u8) -> Option<Self> {
        (3..=16).contains(&digits).then_some(Self(digits))
    }

    /// Returns the number of digits.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Rounds the lines of a run's table of epochs. The first and the last epoch, and those at which a column is
    /// lowest or highest, stay as they are, because scores are read from these epochs.
    pub(super) fn of_epochs(self, lines: &mut [StringRecord]) {
        let columns = lines.first().map_or(0, StringRecord::len);
        let mut whole = BTreeSet::from([0, lines.len().saturating_sub(1)]);
        for column in 0..columns {
            let number = |line: &StringRecord| line.get(column)?.parse::<f64>().ok();
            let numbers =
                || lines.iter().enumerate().filter_map(|(n, line)| Some((number(line)?, n)));
            let by_size = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0);
            whole.extend(numbers().min_by(by_size).map(|(_, n)| n));
            whole.extend(numbers().max_by(by_size).map(|(_, n)| n));
        }
        for (n, line) in lines.iter_mut().enumerate() {
            if !whole.contains(&n) {
                *line = line.iter().map(|cell| self.of_cell(cell)).collect();
            }
        }
    }

    /// Returns the number rounded if that is shorter, and the cell unchanged otherwise.
    fn of_cell(self, cell: &str) -> String {
        let rounded = cell.parse::<f64>().ok().filter(|number| number.is_finite());
        let rounded =
            rounded.and_then(|n| format!("{n:.*e}", usize::from(self.0) - 1).parse().ok());
        match rounded.map(|number: f64| number.to_string()) {
            Some(short) if short.len() < cell.len() => short,
            _ => cell.to_owned(),
        }
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shorter_but_where_a_score_may_be_read() {
        let line = |cells: [&str; 3]| StringRecord::from(cells.to_vec());
        let before = [
            line(["1", "0.30000000000000004", ""]),
            line(["2", "0.123456789", "1e-300"]),
            line(["3", "0.2345678912", "0.33333333333"]),
            line(["4", "0.2500000001", "0.98765432109"]),
            line(["5", "0.1999999999", "0.5"]),
        ];
        let mut lines = before.clone();
        Digits::new(3).unwrap().of_epochs(&mut lines);
        // Line 1 has the highest value of column 2, line 2 the lowest of two columns, line 4 the highest of column 3.
        assert_eq!([&lines[..2], &lines[3..]].concat(), [&before[..2], &before[3..]].concat());
        assert_eq!(lines[2], line(["3", "0.235", "0.333"]));
        assert!(Digits::new(2).is_none() && Digits::new(17).is_none());
    }
}
