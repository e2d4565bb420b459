//! How a column becomes inputs: as a number, or as an input for each of its texts.

use super::cells::Table;
use super::{Result, excerpts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Different texts that a column of texts may have: each becomes an input.
const MOST_TEXTS: usize = 100;

/// What the cells of a column are.
enum Reading<'t> {
    Numbers(Vec<f64>),
    /// The different ones.
    Texts(BTreeSet<&'t str>),
}

impl Table<'_> {
    fn reading(&self, column: usize) -> Result<Reading<'_>> {
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
            let number = |row| self.cell(row, column).parse().unwrap_or_default();
            return Ok(Reading::Numbers((0..count).map(number).collect()));
        }
        if let Some(row) = (1..count).find(|&row| is_number(row)) {
            return self.refuse(row, column, "it is a number, and the rows above have texts");
        }
        let texts: BTreeSet<&str> = (0..count).map(|row| self.cell(row, column)).collect();
        if let Some(what) = disguise(self.cell(0, column))
            && texts.iter().all(|text| disguise(text).is_some())
        {
            let problem = format!("it looks like {what}, and would be read as one of many texts");
            return self.refuse(0, column, &problem);
        }
        if texts.len() > MOST_TEXTS {
            let problem =
                format!("one of {} different texts, and each would be an input", texts.len());
            return self.refuse(0, column, &problem);
        }
        if texts.len() == count {
            return self.refuse(
                0,
                column,
                "every row has another text, which says nothing of others",
            );
        }
        Ok(Reading::Texts(texts))
    }

    /// How a column's cells become inputs, by the rows that are trained on.
    pub(super) fn column_reader(&self, column: usize, train: &[usize]) -> Result<ColumnReader> {
        Ok(match self.reading(column)? {
            Reading::Numbers(numbers) => ColumnReader::of_numbers(&numbers, train),
            Reading::Texts(texts) => {
                ColumnReader::Texts(texts.into_iter().map(str::to_owned).collect())
            }
        })
    }

    /// How a column is read as inputs, or why it cannot be.
    pub(super) fn in_words(&self, column: usize) -> String {
        match self.reading(column) {
            Ok(Reading::Numbers(numbers)) => {
                let smallest = numbers.iter().copied().fold(f64::INFINITY, f64::min);
                let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let counts = numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
                let note = match counts && numbers.len() > 1 {
                    true => "; it counts the rows, so ignore it unless that means something",
                    false => "",
                };
                format!("a number, {smallest} to {largest}{note}")
            }
            Ok(Reading::Texts(texts)) => {
                let named = excerpts(texts.iter().copied());
                format!("{} texts, an input each: {named}", texts.len())
            }
            Err(problem) => format!("cannot be read: {problem}"),
        }
    }
}

/// What a text stands for that is no number as it is written: a percentage, a date and the like.
fn disguise(text: &str) -> Option<&'static str> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    if text.strip_suffix('%').is_some_and(|share| is_number(share.trim_end())) {
        return Some("a percentage, whose sign has to go");
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    let amount = unsigned.trim_start_matches(['$', '€', '£', '¥']).trim_start();
    let amount = amount.trim_end_matches(['$', '€', '£', '¥']).trim_end();
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let groups: Vec<&str> = whole.split([',', '\'', ' ', '\u{a0}', '\u{202f}']).collect();
    if groups.iter().all(|group| digits(group)) && digits(fraction) {
        return Some(match &groups[..] {
            [_] => "an amount of money, whose sign has to go",
            [_, rest @ ..] if rest.iter().all(|group| group.len() == 3) => {
                "a number in groups of digits, which have to be joined"
            }
            _ => "a number with a comma, which has to be a point",
        });
    }
    let date = text.split(['T', ' ']).next().unwrap_or_default();
    let date: Vec<&str> = date.split(['-', '/', '.']).collect();
    if date.len() == 3 && date.iter().all(|part| digits(part)) {
        return Some("a date, which has to become numbers (a year, a day of the week)");
    }
    let time: Vec<&str> = text.split(':').collect();
    match (2..=3).contains(&time.len()) && time.iter().all(|part| is_number(part)) {
        true => Some("a time, which has to become a number (of minutes)"),
        false => None,
    }
}

/// How the cells of a column become inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ColumnReader {
    /// `(x/largest − mean)/deviation`; 0 where the deviation is 0.
    Number { largest: f64, mean: f64, deviation: f64 },
    /// An input for each text: 1 for that text, else 0.
    Texts(Vec<String>),
}

impl ColumnReader {
    /// Mean and deviation are those of some rows.
    fn of_numbers(numbers: &[f64], rows: &[usize]) -> Self {
        let count = rows.len() as f64;
        // Scaled first, so that no sum overflows.
        let largest = numbers.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
        let scaled = |number: f64| if largest > 0.0 { number / largest } else { 0.0 };
        let mean = rows.iter().map(|&row| scaled(numbers[row])).sum::<f64>() / count;
        let square = |&row: &usize| (scaled(numbers[row]) - mean).powi(2);
        let deviation = (rows.iter().map(square).sum::<f64>() / count).sqrt();
        // What is left of equal numbers is rounding.
        Self::Number { largest, mean, deviation: if deviation <= 1e-12 { 0.0 } else { deviation } }
    }

    /// How many inputs a cell becomes.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Number { .. } => 1,
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Adds the inputs of a cell; `None` for one that is no finite number, or none of the texts.
    pub(super) fn read(&self, cell: &str, inputs: &mut Vec<f32>) -> Option<()> {
        match self {
            Self::Number { largest, mean, deviation } => {
                let number = cell.parse::<f64>().ok().filter(|number| number.is_finite())?;
                let scaled = if *largest > 0.0 { number / largest } else { 0.0 };
                inputs.push(match *deviation == 0.0 {
                    true => 0.0,
                    false => ((scaled - mean) / deviation) as f32,
                });
            }
            Self::Texts(texts) => {
                let place = texts.iter().position(|text| text == cell)?;
                inputs.extend((0..texts.len()).map(|at| f32::from(u8::from(at == place))));
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_stand_for_numbers_are_known() {
        for (text, what) in [
            ("12%", "percentage"),
            ("-0.5 %", "percentage"),
            ("1,234", "groups of digits"),
            ("1,234,567.50", "groups of digits"),
            ("12 345", "groups of digits"),
            ("3,5", "comma"),
            ("$12", "money"),
            ("-€1,234", "groups of digits"),
            ("2024-05-01", "date"),
            ("1/5/2024", "date"),
            ("01.05.2024 12:30", "date"),
            ("2024-05-01T12:30:00Z", "date"),
            ("12:30", "time"),
        ] {
            assert!(disguise(text).is_some_and(|found| found.contains(what)), "{text}");
        }
        for text in ["", "red", "a,b", "A-1", "v1.2.x", "-", "%", "10-20", "x%", "O'Hara", "a:b"] {
            assert_eq!(disguise(text), None, "{text}");
        }
    }
}
