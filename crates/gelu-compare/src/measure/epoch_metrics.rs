use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The values that one finished epoch measured, by column; `None` for a column without a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpochMetrics {
    /// The number of the epoch, from 1.
    pub epoch: usize,
    /// The columns with their values, in the order in which they were reported.
    pub values: Vec<(Cow<'static, str>, Option<f64>)>,
}

impl EpochMetrics {
    /// The column with the number of the epoch that a run with early stopping restores if it ends here.
    pub const RESTORED: &str = "restored_epoch";

    /// Returns the epoch that the run would restore, if any.
    pub fn restored(&self) -> Option<usize> {
        self.get(Self::RESTORED).filter(|epoch| *epoch >= 1.0).map(|epoch| epoch as usize)
    }

    /// Creates an epoch without measured values.
    pub fn new(epoch: usize) -> Self {
        Self { epoch, values: Vec::new() }
    }

    /// Returns the epoch with a value added or replaced.
    #[must_use]
    pub fn with(mut self, column: &'static str, value: impl Into<Option<f64>>) -> Self {
        self.put(Cow::Borrowed(column), value.into());
        self
    }

    /// Sets a value, and replaces an existing one.
    pub fn set(&mut self, column: &str, value: impl Into<Option<f64>>) {
        self.put(Cow::Owned(column.to_owned()), value.into());
    }

    fn put(&mut self, column: Cow<'static, str>, value: Option<f64>) {
        match self.values.iter_mut().find(|(name, _)| *name == column) {
            Some((_, there)) => *there = value,
            None => self.values.push((column, value)),
        }
    }

    /// Returns the value of a column; `None` if it was not measured.
    pub fn get(&self, column: &str) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == column)?.1
    }

    /// Returns the columns that have a value, with their values.
    pub fn measured(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().filter_map(|(name, value)| Some((name.as_ref(), (*value)?)))
    }
}

impl Serialize for EpochMetrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.values.len()))?;
        map.serialize_entry("epoch", &self.epoch)?;
        for (name, value) in &self.values {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for EpochMetrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Columns;
        impl<'de> Visitor<'de> for Columns {
            type Value = EpochMetrics;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an epoch and what it measured")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<EpochMetrics, M::Error> {
                let mut epoch = None;
                let mut values = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "epoch" => epoch = Some(map.next_value()?),
                        _ => values.push((Cow::Owned(name), map.next_value()?)),
                    }
                }
                let epoch = epoch.ok_or_else(|| serde::de::Error::missing_field("epoch"))?;
                Ok(EpochMetrics { epoch, values })
            }
        }
        deserializer.deserialize_map(Columns)
    }
}

impl JsonSchema for EpochMetrics {
    fn schema_name() -> Cow<'static, str> {
        "EpochMetrics".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What one finished epoch measured, by column; null where there is no value.",
            "type": "object",
            "properties": {
                "epoch": { "description": "From 1.", "type": "integer", "minimum": 1 }
            },
            "required": ["epoch"],
            "additionalProperties": { "type": ["number", "null"] }
        })
    }
}
