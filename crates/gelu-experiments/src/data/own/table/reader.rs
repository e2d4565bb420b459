//! Converts the cells of a row into inputs, with parameters fitted to the training rows.

use super::Result;
use super::column::Content;
use super::sheet::{is_missing, number};
use crate::Error;
use crate::data::Windows;
use crate::data::text::shown;
use gelu_compare::names::excerpts;
use gelu_compare::suggestion::did_you_mean;
use serde::{Deserialize, Serialize};

/// Reads a row that is not in the table in the same way as the training rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowReader {
    pub(super) columns: Vec<NamedColumn>,
    /// The column to predict, which a row may leave out.
    #[serde(default)]
    pub(super) target: String,
    /// The character between cells.
    #[serde(default = "comma")]
    pub(super) separator: char,
}

fn comma() -> char {
    ','
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NamedColumn {
    pub(super) name: String,
    /// `None` for a column that is not an input.
    pub(super) reader: Option<ColumnReader>,
}

/// The conversion of a column's cells into inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ColumnReader {
    /// `(x/largest − mean)/deviation`; 0 if the deviation is 0.
    Number {
        largest: f64,
        mean: f64,
        deviation: f64,
        /// The value of an empty cell; `None` if the column has no empty cells.
        #[serde(default)]
        median: Option<f64>,
        /// Whether numbers have decimal commas.
        #[serde(default)]
        comma: bool,
    },
    /// One input per text: 1 for the cell's text, otherwise 0. An empty cell has the empty text.
    Texts(Vec<String>),
}

impl RowReader {
    /// Returns the row as one example of class 0. The row is a line of the table with all cells, with all cells but
    /// the one to predict, or with only the input cells.
    ///
    /// # Errors
    ///
    /// If the row has another number of cells, a cell in a column of numbers is not a finite number, or a text does
    /// not occur in the table.
    pub fn read(&self, row: &str) -> Result<Windows> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .has_headers(false)
            .delimiter(u8::try_from(self.separator).unwrap_or(b','))
            .from_reader(row.as_bytes());
        let record = reader.records().next().and_then(std::result::Result::ok).unwrap_or_default();
        let columns = || self.columns.iter();
        let ways: [Vec<&NamedColumn>; 3] = [
            columns().collect(),
            columns().filter(|column| column.name != self.target).collect(),
            columns().filter(|column| column.reader.is_some()).collect(),
        ];
        let Some(wanted) = ways.iter().find(|way| way.len() == record.len()) else {
            return Err(Error::Usage(format!(
                "the row has {} cells; it needs {}: {}",
                record.len(),
                ways[2].len(),
                excerpts(ways[2].iter().map(|column| column.name.as_str()))
            )));
        };
        let mut inputs = Vec::new();
        for (column, cell) in wanted.iter().zip(&record) {
            let Some(reader) = &column.reader else { continue };
            if reader.read(cell, &mut inputs).is_none() {
                let problem = reader.refusal(cell);
                let (name, cell) = (shown(&column.name), shown(cell));
                return Err(Error::Usage(format!("column {name} of the row is {cell}: {problem}")));
            }
        }
        let width = inputs.len();
        let mut windows = Windows::new(inputs.into(), width, 1)?;
        windows.push_group(&[0], &[0]);
        Ok(windows)
    }
}

impl ColumnReader {
    /// Fits the reader of a column to the training rows; `None` for a column that is not an input.
    pub(super) fn fitted(content: &Content, train: &[usize]) -> Option<Self> {
        let (values, comma) = match content {
            Content::LeftOut(_) => return None,
            Content::Texts { texts, .. } => return Some(Self::Texts(texts.clone())),
            Content::Numbers { values, comma } => (values, *comma),
        };
        let median =
            values.contains(&None).then(|| median(train.iter().filter_map(|&row| values[row])));
        let filled = |row: usize| values[row].or(median).unwrap_or_default();
        // Dividing by the largest number keeps sums from overflowing.
        let all = values.iter().copied().flatten();
        let largest = all.fold(0.0, |largest: f64, number| largest.max(number.abs()));
        let scaled = |row: &usize| if largest > 0.0 { filled(*row) / largest } else { 0.0 };
        let count = train.len() as f64;
        let mean = train.iter().map(scaled).sum::<f64>() / count;
        let square = |row: &usize| (scaled(row) - mean).powi(2);
        let deviation = (train.iter().map(square).sum::<f64>() / count).sqrt();
        // For equal numbers, the deviation is only a rounding error.
        let deviation = if deviation <= 1e-12 { 0.0 } else { deviation };
        Some(Self::Number { largest, mean, deviation, median, comma })
    }

    /// Adds the inputs of a cell; `None` if it is not a finite number, or not one of the texts.
    fn read(&self, cell: &str, inputs: &mut Vec<f32>) -> Option<()> {
        match self {
            Self::Number { median, comma, .. } => {
                let value = if is_missing(cell) { *median } else { number(cell, *comma) };
                inputs.push(self.scaled(value?));
            }
            Self::Texts(texts) => {
                let text = if is_missing(cell) { "" } else { cell };
                // Tables of older versions have texts such as `none`.
                let place = |text: &str| texts.iter().position(|known| known == text);
                self.push_text(place(cell).or_else(|| place(text))?, inputs);
            }
        }
        Some(())
    }

    /// Adds the inputs of a row of the table to which the reader was fitted.
    pub(super) fn push(&self, content: &Content, row: usize, inputs: &mut Vec<f32>) {
        match (self, content) {
            (Self::Number { median, .. }, Content::Numbers { values, .. }) => {
                inputs.push(self.scaled(values[row].or(*median).unwrap_or_default()));
            }
            (_, Content::Texts { of_row, .. }) => self.push_text(of_row[row].into(), inputs),
            _ => {}
        }
    }

    fn scaled(&self, value: f64) -> f32 {
        match *self {
            Self::Number { largest, mean, deviation, .. } if deviation > 0.0 => {
                ((value / largest - mean) / deviation) as f32
            }
            _ => 0.0,
        }
    }

    fn push_text(&self, place: usize, inputs: &mut Vec<f32>) {
        let Self::Texts(texts) = self else { return };
        inputs.extend((0..texts.len()).map(|at| f32::from(u8::from(at == place))));
    }
}

/// Returns the median of some numbers; 0 if there are none.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    match numbers.len() {
        0 => 0.0,
        // Halving first keeps the sum from overflowing.
        even if even % 2 == 0 => numbers[even / 2 - 1] / 2.0 + numbers[even / 2] / 2.0,
        odd => numbers[odd / 2],
    }
}

impl ColumnReader {
    /// Returns the reason why a cell cannot be read.
    fn refusal(&self, cell: &str) -> String {
        match self {
            Self::Number { .. } => "it has to be a finite number".to_owned(),
            Self::Texts(texts) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let there = excerpts(texts.iter().copied());
                match did_you_mean(cell, &texts) {
                    Some(question) => {
                        format!(
                            "no row that was trained on has that text; {question} There are: {there}"
                        )
                    }
                    None => format!("no row that was trained on has that text; there are: {there}"),
                }
            }
        }
    }
}
