//! Heat maps: a row per quantity, a column per setting, and in each cell a field of colours.

use crate::measure::Unit;

/// Heat maps: the content, not the drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The title, above everything.
    pub title: String,
    /// The caption, below everything.
    pub caption: String,
    /// The headings of the columns.
    pub columns: Vec<String>,
    /// The rows, from top to bottom.
    pub rows: Vec<HeatRow>,
}

/// A quantity in all columns, on one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatRow {
    /// The title above the row: `Dead units`.
    pub title: String,
    /// The unit for the ends of the scale.
    pub unit: Unit,
    /// Whether colours follow the logarithm. Values that are not positive then count as the lowest.
    pub logarithmic: bool,
    /// The values in each column: lines from top to bottom, each from left to right. `None` has no colour.
    pub fields: Vec<Vec<Vec<Option<f64>>>>,
}
