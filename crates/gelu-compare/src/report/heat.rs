//! Heat maps: a row per quantity, a column per setting, in each a field of colours. What is drawn, not how.

use crate::measure::Unit;

/// What heat maps show, not how they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Above everything.
    pub title: String,
    /// Below everything.
    pub caption: String,
    /// Above each column.
    pub columns: Vec<String>,
    /// From top to bottom.
    pub rows: Vec<HeatRow>,
}

/// A quantity in all columns, on one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatRow {
    /// Above it: `Dead units`.
    pub title: String,
    /// How the ends of its scale are said.
    pub unit: Unit,
    /// Whether colours go by the logarithm; values that are not positive then count as the lowest.
    pub logarithmic: bool,
    /// The values in each column, from top to bottom and in each line from left to right; without a value there is no colour.
    pub fields: Vec<Vec<Vec<Option<f64>>>>,
}
