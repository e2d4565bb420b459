//! The value to predict for a row: its class, or a number.

use super::sheet::{Sheet, is_missing, number};
use super::{Error, Place, Result, check_classes, shown};
use std::collections::BTreeMap;

/// The largest number of different values for a column of numbers to be classes; with more, it is a quantity.
const MOST_NUMBERED: usize = 20;

/// The value to predict for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A class, by its index in `names`.
    Classes {
        /// The classes in the order of their numbers: sorted as numbers if all are, otherwise as texts.
        names: Vec<String>,
        /// The class of each row.
        labels: Vec<u8>,
    },
    /// A number for each row.
    Numbers(Vec<f64>),
}

impl Target {
    /// Returns the number of classes; 1 if a number is predicted.
    pub fn classes(&self) -> usize {
        match self {
            Self::Classes { names, .. } => names.len(),
            Self::Numbers(_) => 1,
        }
    }

    /// Returns the number of rows of each class; empty if a number is predicted.
    pub(super) fn rows_of_classes(&self) -> Vec<usize> {
        let Self::Classes { names, labels } = self else { return Vec::new() };
        let mut counts = vec![0; names.len()];
        labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
        counts
    }

    /// Describes the target.
    pub(super) fn in_words(&self) -> String {
        let counts = self.rows_of_classes();
        match (self, counts.iter().min(), counts.iter().max()) {
            (Self::Numbers(numbers), ..) => {
                let smallest = numbers.iter().copied().fold(f64::INFINITY, f64::min);
                let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                format!("the number to predict, {smallest} to {largest}")
            }
            (_, Some(least), Some(most)) if least == most => {
                format!("the class, {} classes of {most} rows", counts.len())
            }
            (_, least, most) => format!(
                "the class, {} classes of {} to {} rows",
                counts.len(),
                least.unwrap_or(&0),
                most.unwrap_or(&0)
            ),
        }
    }
}

impl Sheet<'_> {
    /// Removes the rows whose target cell is empty, and returns their number.
    ///
    /// # Errors
    ///
    /// If no row is left.
    pub(super) fn remove_untargeted(&mut self, column: usize) -> Result<usize> {
        let before = self.rows.len();
        self.rows.retain(|row| !is_missing(row.get(column).unwrap_or_default()));
        match self.rows.is_empty() {
            true => {
                let problem = format!("column {} is empty", shown(&self.names[column]));
                let advice = "name another column with --target";
                Err(Error::data(self.path, Place::File, problem, advice))
            }
            false => Ok(before - self.rows.len()),
        }
    }

    /// Reads the target. `numbers` says whether to predict a number; if it is `None`, the cells decide: classes are
    /// texts, or at most 20 different whole numbers.
    pub(super) fn target(&self, column: usize, numbers: Option<bool>) -> Result<Target> {
        let comma = self.separator != b',';
        let comma = comma && self.cells(column).any(|cell| cell.contains(','));
        let read: Option<Vec<f64>> = self.cells(column).map(|cell| number(cell, comma)).collect();
        if let (Some(true), None) = (numbers, &read) {
            let row = self.cells(column).position(|cell| number(cell, comma).is_none());
            return self.refuse(
                row.unwrap_or(0),
                column,
                "a number is to be predicted, and it is none",
            );
        }
        let is_quantity = |read: &[f64]| {
            let mut different = read.to_vec();
            different.sort_by(f64::total_cmp);
            different.dedup();
            different.len() > MOST_NUMBERED || different.iter().any(|value| value.fract() != 0.0)
        };
        if let (Some(false), Some(read)) = (numbers, &read)
            && let Some(row) = read.iter().position(|value| value.fract() != 0.0)
        {
            let problem = "that is a quantity, and classes are asked for; predict the number (--as number, in a recipe a \
                           network of kind regression), or make classes of it, for example low and high";
            return self.refuse(row, column, problem);
        }
        match read {
            Some(read) if numbers.unwrap_or_else(|| is_quantity(&read)) => {
                self.quantity(column, read)
            }
            read => self.classes(column, read),
        }
    }

    fn quantity(&self, column: usize, numbers: Vec<f64>) -> Result<Target> {
        // The squares of both must be finite in single precision.
        let largest = numbers.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
        let problem = if numbers.iter().all(|number| *number == numbers[0]) {
            "it is the same in every row, and there is nothing to learn"
        } else if largest > 1e15 {
            "numbers above 1e15 cannot be learned; divide the column"
        } else {
            return Ok(Target::Numbers(numbers));
        };
        let row = numbers.iter().position(|number| number.abs() == largest).unwrap_or(0);
        self.refuse(row, column, problem)
    }

    fn classes(&self, column: usize, numbers: Option<Vec<f64>>) -> Result<Target> {
        let mut rows_of: BTreeMap<&str, usize> = BTreeMap::new();
        self.cells(column).for_each(|cell| *rows_of.entry(cell).or_default() += 1);
        let mut names: Vec<&str> = rows_of.keys().copied().collect();
        let single = rows_of.values().filter(|&&rows| rows == 1).count();
        if 2 * single > names.len() {
            let row = self.cells(column).position(|cell| rows_of[cell] == 1).unwrap_or(0);
            let problem = format!(
                "that is the class of one row, as {single} of {} classes are, and a class needs rows to train on \
                 and to report on; put classes together, or name another column",
                names.len()
            );
            return self.refuse(row, column, &problem);
        }
        check_classes(self.path, names.len())?;
        if let Some(numbers) = numbers {
            let value_of: BTreeMap<&str, f64> = self.cells(column).zip(numbers).collect();
            names.sort_by(|a, b| value_of[a].total_cmp(&value_of[b]));
        }
        let label_of: BTreeMap<&str, u8> = names.iter().copied().zip(0..=u8::MAX).collect();
        let labels = self.cells(column).map(|cell| label_of[cell]).collect();
        let names = names.into_iter().map(str::to_owned).collect();
        Ok(Target::Classes { names, labels })
    }
}
