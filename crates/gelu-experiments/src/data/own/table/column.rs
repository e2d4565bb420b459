//! The content of a column: numbers, texts, or nothing that a network could use.

use super::sheet::{Sheet, is_missing, number};
use super::{Result, excerpts};
use std::collections::BTreeMap;

/// The largest number of different texts in a column; each becomes an input.
const MOST_TEXTS: usize = 100;
/// In a column of numbers, up to one cell in this many may be a mistake; with more, the column has texts.
const SLIPS: usize = 50;
/// With fewer rows than this, a column may count up by chance.
const FEW: usize = 10;

/// The reasons why a column of numbers only identifies rows.
pub(super) const NUMBERINGS: [&str; 2] =
    ["it counts the rows", "it numbers the rows, by its name and values"];

/// The content of a column, for every row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Numbers; `None` for an empty cell.
    Numbers { values: Vec<Option<f64>>, comma: bool },
    /// The different texts, and the index of each row's text; an empty cell has the empty text.
    Texts { texts: Vec<String>, of_row: Vec<u8> },
    /// The reason why the column is not an input.
    LeftOut(String),
}

impl Sheet<'_> {
    /// Reads the content of a column. `kept` keeps a column that numbers the rows, or has many texts.
    ///
    /// # Errors
    ///
    /// If the user has to decide: about a cell among numbers that is not a number, and about texts that represent
    /// numbers.
    pub(super) fn content(&self, column: usize, kept: bool) -> Result<Content> {
        let left_out = |why: &str| Ok(Content::LeftOut(why.to_owned()));
        let filled = || self.cells(column).filter(|cell| !is_missing(cell));
        let Some(first) = filled().next() else { return left_out("it is empty") };
        if filled().count() == self.rows.len() && filled().all(|cell| cell == first) {
            return left_out("it is the same in every row");
        }
        let comma = self.separator != b',' && filled().all(|cell| number(cell, true).is_some());
        let is_number = |cell: &str| number(cell, comma).is_some();
        let numbers = filled().filter(|cell| is_number(cell)).count();
        let others = filled().count() - numbers;
        if others == 0 {
            let value = |cell: &str| (!is_missing(cell)).then(|| number(cell, comma)).flatten();
            let values: Vec<Option<f64>> = self.cells(column).map(value).collect();
            return match numbering(&self.names[column], &values).filter(|_| !kept) {
                Some(why) => left_out(why),
                None => Ok(Content::Numbers {
                    values,
                    comma: comma && filled().any(|cell| cell.contains(',')),
                }),
            };
        }
        if numbers > 0 && others <= self.rows.len().div_ceil(SLIPS) {
            let slip = |row: &usize| {
                !is_missing(self.cell(*row, column)) && !is_number(self.cell(*row, column))
            };
            let row = (0..self.rows.len()).find(slip).unwrap_or(0);
            return self.refuse(row, column, "it is no finite number, and other rows have some");
        }
        if filled().all(is_date) {
            return left_out(
                "it is dates; make numbers of them (a year, a day of the week) where they matter",
            );
        }
        if let Some(what) = disguise(first)
            && filled().all(|text| disguise(text).is_some() || is_number(text))
        {
            let row = self.cells(column).position(|cell| cell == first).unwrap_or(0);
            return self.refuse(
                row,
                column,
                &format!("it looks like {what}, and would be read as one of many texts"),
            );
        }
        self.texts(column, kept)
    }

    fn texts(&self, column: usize, kept: bool) -> Result<Content> {
        let text = |cell| if is_missing(cell) { "" } else { cell };
        let mut rows_of: BTreeMap<&str, usize> = BTreeMap::new();
        self.cells(column).for_each(|cell| *rows_of.entry(text(cell)).or_default() += 1);
        let different = rows_of.len();
        let single = rows_of.iter().filter(|(text, rows)| !text.is_empty() && **rows == 1).count();
        let filled = self.cells(column).filter(|cell| !is_missing(cell)).count();
        if single == filled {
            return Ok(Content::LeftOut("every row has another text".to_owned()));
        }
        if different > if kept { usize::from(u8::MAX) + 1 } else { MOST_TEXTS } {
            let why = format!("it has {different} different texts, and each would be an input");
            return Ok(Content::LeftOut(why));
        }
        let place_of: BTreeMap<&str, u8> = rows_of.keys().copied().zip(0..=u8::MAX).collect();
        Ok(Content::Texts {
            of_row: self.cells(column).map(|cell| place_of[text(cell)]).collect(),
            texts: rows_of.keys().map(|&text| text.to_owned()).collect(),
        })
    }
}

/// Returns the reason if a column of numbers only identifies rows.
fn numbering(name: &str, values: &[Option<f64>]) -> Option<&'static str> {
    let all: Vec<f64> = values.iter().copied().flatten().collect();
    if all.len() < FEW || all.iter().any(|value| value.fract() != 0.0) {
        return None;
    }
    if all.len() == values.len() && all.windows(2).all(|pair| pair[1] - pair[0] == 1.0) {
        return Some(NUMBERINGS[0]);
    }
    let small = name.to_ascii_lowercase();
    let names = ["id", "index", "idx", "no", "nr", "row", "number", "rownames", "unnamed: 0"];
    let is_id = names.contains(&small.as_str())
        || small.ends_with("_id")
        || small.ends_with(" id")
        || name.ends_with("Id")
        || name.ends_with("ID");
    let mut different = all.clone();
    different.sort_by(f64::total_cmp);
    different.dedup();
    (is_id && 10 * different.len() >= 9 * all.len()).then_some(NUMBERINGS[1])
}

impl Content {
    /// Returns the number of inputs that the column becomes.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Numbers { .. } => 1,
            Self::Texts { texts, .. } => texts.len(),
            Self::LeftOut(_) => 0,
        }
    }

    /// Returns the number of empty cells.
    pub(super) fn empty(&self) -> usize {
        match self {
            Self::Numbers { values, .. } => values.iter().filter(|value| value.is_none()).count(),
            Self::Texts { texts, of_row } if texts[0].is_empty() => {
                of_row.iter().filter(|&&text| text == 0).count()
            }
            Self::Texts { .. } | Self::LeftOut(_) => 0,
        }
    }

    /// Describes how the column is read.
    pub(super) fn in_words(&self) -> String {
        let cells = |count: usize| match count {
            1 => "1 empty cell is".to_owned(),
            _ => format!("{count} empty cells are"),
        };
        match self {
            Self::Numbers { values, comma } => {
                let all = || values.iter().copied().flatten();
                let smallest = all().fold(f64::INFINITY, f64::min);
                let largest = all().fold(f64::NEG_INFINITY, f64::max);
                let comma = if *comma { " with decimal commas" } else { "" };
                let empty = match self.empty() {
                    0 => String::new(),
                    count => format!("; {} read as the median of the training rows", cells(count)),
                };
                format!("a number{comma}, {smallest} to {largest}{empty}")
            }
            Self::Texts { texts, .. } => {
                let named =
                    excerpts(texts.iter().map(String::as_str).filter(|text| !text.is_empty()));
                let empty = match self.empty() {
                    0 => String::new(),
                    count => format!("; {} read as one more text", cells(count)),
                };
                format!("{} texts, an input each: {named}{empty}", texts.len())
            }
            Self::LeftOut(why) => format!("left out: {why}"),
        }
    }
}

/// Returns whether a text is a date.
fn is_date(text: &str) -> bool {
    let date = text.split(['T', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = date.split(['-', '/', '.']).collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(digits)
}

/// Describes a text that represents a number in another notation: a percentage, a time and the like.
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
    let time: Vec<&str> = text.split(':').collect();
    match (2..=3).contains(&time.len()) && time.iter().all(|part| is_number(part)) {
        true => Some("a time, which has to become a number (of minutes)"),
        false => None,
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
            ("12:30", "time"),
        ] {
            assert!(disguise(text).is_some_and(|found| found.contains(what)), "{text}");
        }
        for text in ["2024-05-01", "1/5/2024", "01.05.2024 12:30", "2024-05-01T12:30:00Z"] {
            assert!(is_date(text) && !is_date(&format!("x{text}")), "{text}");
        }
        for text in ["", "red", "a,b", "A-1", "v1.2.x", "-", "%", "10-20", "x%", "O'Hara", "a:b"] {
            assert_eq!(disguise(text), None, "{text}");
        }
    }

    #[test]
    fn columns_that_number_the_rows_are_known() {
        let whole = |step: &dyn Fn(u32) -> f64| -> Vec<Option<f64>> {
            (0..20).map(|i| Some(step(i))).collect()
        };
        let counting = whole(&|i| f64::from(i) + 5.0);
        assert_eq!(numbering("x", &counting), Some(NUMBERINGS[0]));
        assert_eq!(numbering("x", &counting[..FEW - 1]), None, "few numbers count up by chance");
        let scattered = whole(&|i| f64::from(i * 7919 % 1009));
        for (name, is_id) in [
            ("Id", true),
            ("PassengerId", true),
            ("user_id", true),
            ("width", false),
            ("humid", false),
        ] {
            assert_eq!(numbering(name, &scattered).is_some(), is_id, "{name}");
        }
        assert_eq!(
            numbering("id", &whole(&|i| f64::from(i % 10))),
            None,
            "half of them stand twice"
        );
        assert_eq!(numbering("id", &whole(&|i| f64::from(i * i) + 0.5)), None);
    }
}
