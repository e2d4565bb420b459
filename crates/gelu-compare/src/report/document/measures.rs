//! The measures of a setting's runs, over its seeds.

use crate::comparison::statistics::{Quartiles, median, quartiles};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Each measure over the seeds of a setting, by its column; null if there is no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuresDocument(pub Vec<(String, Option<SpreadDocument>)>);

impl MeasuresDocument {
    /// Returns the spread of a column.
    pub fn get(&self, column: &str) -> Option<SpreadDocument> {
        self.0.iter().find(|(name, _)| name == column)?.1
    }
}

impl Serialize for MeasuresDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, spread)| (name, spread)))
    }
}

impl JsonSchema for MeasuresDocument {
    fn schema_name() -> Cow<'static, str> {
        "MeasuresDocument".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let spread = generator.subschema_for::<Option<SpreadDocument>>();
        json_schema!({
            "description": "Each measure over the seeds of a setting, by its column; null where there is none.",
            "type": "object",
            "additionalProperties": spread
        })
    }
}

/// A measure over the complete runs of a setting. A diverged run counts as the worst, so a field is null if its value
/// is that of a diverged run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpreadDocument {
    /// The number of runs, finished and diverged.
    pub runs: usize,
    /// The median.
    pub median: Option<f64>,
    /// The lowest value.
    pub lowest: Option<f64>,
    /// The highest value.
    pub highest: Option<f64>,
    /// The lower quartile.
    pub lower_quartile: Option<f64>,
    /// The upper quartile.
    pub upper_quartile: Option<f64>,
}

pub(super) fn spread(values: &[f64]) -> Option<SpreadDocument> {
    let Quartiles { lower, upper } = quartiles(values)?;
    let measured = |value: f64| value.is_finite().then_some(value);
    Some(SpreadDocument {
        runs: values.len(),
        median: measured(median(values.iter().copied())?),
        lowest: measured(values.iter().copied().fold(f64::INFINITY, f64::min)),
        highest: measured(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        lower_quartile: measured(lower),
        upper_quartile: measured(upper),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_diverged_runs_is_null() {
        let lost = f64::INFINITY;
        let spread = spread(&[0.1, lost, lost]).unwrap();
        assert_eq!((spread.runs, spread.lowest), (3, Some(0.1)));
        assert_eq!([spread.median, spread.highest, spread.upper_quartile], [None; 3]);
    }
}
