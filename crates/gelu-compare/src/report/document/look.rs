use crate::comparison::Rules;
use crate::measure::Look;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A look at a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LookDocument {
    /// After so many seeds.
    pub seeds: u64,
    /// α′: what every decision at it is made at. 0.05/(m·K) of m comparisons and K planned looks;
    /// half of that at the first look that was added, a quarter at the second, ….
    pub level: f64,
    /// Whether it was planned before the first run.
    pub planned: bool,
    /// When a look that was not planned was asked for (RFC 3339); null of a planned one.
    pub added_at: Option<String>,
}

impl LookDocument {
    /// The looks of a table, without the days they were added.
    pub fn all(rules: &Rules) -> Vec<Self> {
        let look = |look: Look| Self {
            seeds: look.seeds,
            level: rules.level(look),
            planned: look.planned,
            added_at: None,
        };
        rules.looks.iter().map(look).collect()
    }
}
