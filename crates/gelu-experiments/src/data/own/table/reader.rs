//! How the cells of a row become inputs, fitted to the rows that are trained on.

use super::Result;
use super::column::Content;
use super::sheet::{is_missing, number};
use crate::Error;
use crate::data::Windows;
use crate::data::text::shown;
use gelu_compare::names::excerpts;
use gelu_compare::suggestion::did_you_mean;
use serde::{Deserialize, Serialize};

/// Reads a row that is not in the table, as those that the network was trained on were read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowReader {
    pub(super) columns: Vec<NamedColumn>,
    /// The column that is predicted, which a row may leave out.
    #[serde(default)]
    pub(super) target: String,
    /// What stands between cells.
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
    /// `None` for a column that is no input.
    pub(super) reader: Option<ColumnReader>,
}

/// How the cells of a column become inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ColumnReader {
    /// `(x/largest − mean)/deviation`; 0 where the deviation is 0.
    Number {
        largest: f64,
        mean: f64,
        deviation: f64,
        /// What an empty cell is read as, where cells may be empty.
        #[serde(default)]
        median: Option<f64>,
        /// Whether numbers have decimal commas.
        #[serde(default)]
        comma: bool,
    },
    /// An input for each text: 1 for that text, else 0. That of an empty cell has no characters.
    Texts(Vec<String>),
}

impl RowReader {
    /// Returns the row as one example of class 0. It is written as a line of the table: all cells, all but the one to be
    /// predicted, or those that are inputs.
    ///
    /// # Errors
    ///
    /// When the row has more or fewer cells, a cell that is no finite number where the column has numbers, or a text
    /// that no row of the table has.
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
    /// The reader of a column, by the rows that are trained on; `None` for one that is no input.
    pub(super) fn fitted(content: &Content, train: &[usize]) -> Option<Self> {
        let (values, comma) = match content {
            Content::LeftOut(_) => return None,
            Content::Texts { texts, .. } => return Some(Self::Texts(texts.clone())),
            Content::Numbers { values, comma } => (values, *comma),
        };
        let median =
            values.contains(&None).then(|| median(train.iter().filter_map(|&row| values[row])));
        let filled = |row: usize| values[row].or(median).unwrap_or_default();
        // Scaled first, so that no sum overflows.
        let all = values.iter().copied().flatten();
        let largest = all.fold(0.0, |largest: f64, number| largest.max(number.abs()));
        let scaled = |row: &usize| if largest > 0.0 { filled(*row) / largest } else { 0.0 };
        let count = train.len() as f64;
        let mean = train.iter().map(scaled).sum::<f64>() / count;
        let square = |row: &usize| (scaled(row) - mean).powi(2);
        let deviation = (train.iter().map(square).sum::<f64>() / count).sqrt();
        // What is left of equal numbers is rounding.
        let deviation = if deviation <= 1e-12 { 0.0 } else { deviation };
        Some(Self::Number { largest, mean, deviation, median, comma })
    }

    /// Adds the inputs of a cell; `None` for one that is no finite number, or none of the texts.
    fn read(&self, cell: &str, inputs: &mut Vec<f32>) -> Option<()> {
        match self {
            Self::Number { median, comma, .. } => {
                let value = if is_missing(cell) { *median } else { number(cell, *comma) };
                inputs.push(self.scaled(value?));
            }
            Self::Texts(texts) => {
                let text = if is_missing(cell) { "" } else { cell };
                // Tables of earlier versions have texts such as `none`.
                let place = |text: &str| texts.iter().position(|known| known == text);
                self.push_text(place(cell).or_else(|| place(text))?, inputs);
            }
        }
        Some(())
    }

    /// Adds the inputs of a row of the table that it was fitted to.
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

/// The middle one of some numbers; 0 of none.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    match numbers.len() {
        0 => 0.0,
        // Half of each, so that no sum overflows.
        even if even % 2 == 0 => numbers[even / 2 - 1] / 2.0 + numbers[even / 2] / 2.0,
        odd => numbers[odd / 2],
    }
}

impl ColumnReader {
    /// Why a cell cannot be read.
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
